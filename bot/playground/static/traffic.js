// What went over the line between Slack and the app: requests, answers, payloads. Tokens are covered by the server.
import { icon } from "./icons.js";
import { $ } from "./page.js";
import { h } from "./text.js";

const KIND = {
  api: ["call", "app → Slack"], deliver: ["event", "Slack → app"], ack: ["ack", "app acked"], no_ack: ["ack", "no ack"],
  webhook: ["call", "tool → Slack"], response_url: ["call", "app → response_url"],
};
const SHOWN = 120;
let kept = "";

export async function drawTraffic() {
  if ($("traffic").hidden) return;
  const { entries, counts } = await (await fetch(`/control/traffic?last=${SHOWN}`)).json();
  const print = JSON.stringify([entries.at(-1), counts, $("trafficwhat").value, $("trafficfind").value]);
  if (print === kept) return;
  kept = print;
  const total = (kind) => Object.entries(counts).reduce((sum, [name, n]) => sum + (name.startsWith(`${kind}:`) ? n : 0), 0);
  $("trafficsum").textContent = `${total("api")} calls, ${total("deliver")} deliveries, ${total("ack")} acks, ${total("no_ack")} missing acks`;
  const open = new Set([...$("entries").querySelectorAll("details[open]")].map((d) => d.dataset.key));
  $("entries").replaceChildren(...entries.reverse().filter(wanted).map((e) => h("li", {}, row(e, open))));
}

function wanted(e) {
  const kind = $("trafficwhat").value;
  const find = $("trafficfind").value.toLowerCase();
  return (!kind || KIND[e.kind]?.[0] === kind) && (!find || JSON.stringify(e).toLowerCase().includes(find));
}

function row(e, open) {
  const { at, kind, name, ...facts } = e;
  const bad = kind === "no_ack" || facts.response?.ok === false || (kind === "webhook" && name !== "ok");
  const key = `${at} ${kind} ${name}`;
  const extra = facts.response?.error ?? (facts.attempt ? `retry ${facts.attempt}: ${facts.reason}` : facts.reason ?? "");
  const status = facts.status ? `${facts.status} ` : "";
  const node = h("details", { "data-key": key }, h("summary", { class: bad ? "bad" : "" },
    h("time", {}, new Date(at * 1000).toLocaleTimeString()), h("span", { class: "way" }, KIND[kind]?.[1] ?? kind), h("b", {}, name), ` ${status}${extra}`));
  const fill = () => { if (node.open && node.children.length === 1) node.append(h("pre", { tabindex: "0" }, JSON.stringify(facts, null, 2))); };
  node.addEventListener("toggle", fill);
  node.open = open.has(key);
  fill();
  return node;
}

function toggle(show) {
  $("traffic").hidden = !show;
  $("traffictoggle").setAttribute("aria-expanded", String(show));
  kept = "";
  drawTraffic();
}

$("traffictoggle").addEventListener("click", () => toggle($("traffic").hidden));
$("trafficclose").append(icon("close"));
$("trafficclose").addEventListener("click", () => { toggle(false); $("traffictoggle").focus(); });
$("trafficwhat").addEventListener("change", drawTraffic);
$("trafficfind").addEventListener("input", drawTraffic);
