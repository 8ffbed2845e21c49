// What every part of the page shares: where we are, what the server said last, and how to ask it for something.
import { h } from "./text.js";

export const $ = (id) => document.getElementById(id);
export const here = { user: sessionStorage.getItem("user") ?? "", channel: "", thread: "", home: false };
/** The server's answer, drawn by everyone; `names` are people and channels by id. */
export const seen = { state: null, names: { users: {}, channels: {} } };

export async function act(name, args, quiet = false) {
  const response = await fetch(`/control/${name}`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(args),
  });
  const answer = await response.json();
  if (!answer.ok && !quiet) toast(`${answer.error}${answer.detail ? `: ${answer.detail}` : ""}`);
  const notice = answer.result?.notice;
  if (notice && !quiet) toast(notice);
  return answer;
}

export function toast(text) {
  const node = h("div", { class: "toast" }, text);
  $("toasts").append(node);
  setTimeout(() => node.remove(), 6000);
}

/** The address bar keeps channel and thread. */
export function go(channel, thread = "") {
  location.hash = thread ? `${channel}/${thread}` : channel;
}

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
