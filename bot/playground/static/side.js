// The channels beside the messages, with what is unread in them. What was read is kept by this tab, per person.
import { icon } from "./icons.js";
import { $, act, go, here, seen } from "./page.js";
import { h } from "./text.js";

const key = () => `read ${here.user}`;
const readMarks = () => JSON.parse(sessionStorage.getItem(key()) ?? "null");
const keep = (marks) => sessionStorage.setItem(key(), JSON.stringify(marks));
const FIRST = "payment-gateway-504";
let line = { channel: "", from: "" };

/** Notes the open channel as read; a person seen for the first time has read everything. */
export function markRead() {
  const marks = readMarks() ?? Object.fromEntries(seen.state.channels.map((c) => [c.id, c.recent.at(-1) ?? "0"]));
  const channel = seen.state.channels.find((c) => c.id === here.channel);
  if (channel && !here.home) {
    if (line.channel !== `${here.user} ${channel.id}`) {
      line = { channel: `${here.user} ${channel.id}`, from: unreadOf(channel, marks)[0] ?? "" };
    }
    if (!document.hidden) marks[channel.id] = channel.recent.at(-1) ?? marks[channel.id] ?? "0";
  } else line = { channel: "", from: "" };
  keep(marks);
}

/** The first message that was new when the channel was opened. */
export const firstNew = () => line.from;
export const forgetMarks = () => {
  line = { channel: "", from: "" };
  for (const name of Object.keys(sessionStorage)) if (name.startsWith("read ")) sessionStorage.removeItem(name);
};

const unreadOf = (channel, marks) => channel.recent.filter((ts) => ts > (marks[channel.id] ?? "0"));

export function drawSide() {
  const { state } = seen;
  $("team").textContent = state.team;
  const marks = readMarks() ?? {};
  const total = state.channels.reduce((sum, c) => sum + unreadOf(c, marks).length, 0);
  document.title = `${total ? `(${total}) ` : ""}${state.bot.name} playground`;
  $("link").className = state.bot.connected ? "dot on" : "dot off";
  $("linktext").textContent = $("link").title = state.bot.connected ? "The bot is connected" : "No bot is connected";
  options($("actas"), state.people.map((p) => [p.id, p.real_name]), state.me);
  $("channels").replaceChildren(...state.channels.filter((c) => !c.im).map((c) => row(c, marks)));
  const direct = state.channels.filter((c) => c.im).map((c) => row(c, marks));
  const home = entry("home", `${state.bot.name} Home`, { on: here.home, run: openHome });
  const write = entry("mail", `Message ${state.bot.name}`, { run: async () => go((await act("dm", { user: state.me })).result) });
  $("apps").replaceChildren(home, ...(direct.length ? direct : [write]));
  $("menubutton").classList.toggle("news", total > 0);
}

function row(channel, marks) {
  const sign = channel.im ? "mail" : channel.private ? "lock" : channel.shared ? "shared" : "hash";
  const name = channel.im ? `${seen.state.bot.name} (direct)` : channel.name;
  const on = !here.home && channel.id === seen.state.channel;
  const unread = on ? [] : unreadOf(channel, marks);
  const called = unread.filter((ts) => channel.mentions.includes(ts)).length;
  const kind = channel.private ? ", private" : channel.shared ? ", shared with another organisation" : "";
  const told = kind + (unread.length ? `, ${unread.length} unread` : "");
  return entry(sign, name, { on, unread: unread.length, called, told, run: () => go(channel.id) });
}

function entry(sign, name, { on = false, unread = 0, called = 0, told = "", run }) {
  const button = h("button", {
    type: "button", class: [on && "on", unread && "unread"].filter(Boolean).join(" "), "aria-current": on ? "page" : undefined,
    onclick: () => { document.body.classList.remove("drawer"); run(); },
  }, h("span", { class: "sign" }, icon(sign)), h("span", { class: "label" }, name),
    told && h("span", { class: "sr" }, told),
    called ? h("span", { class: "count", "aria-hidden": "true" }, String(called)) : unread ? h("span", { class: "pip", "aria-hidden": "true" }) : null);
  return h("li", {}, button);
}

function openHome() {
  go("home");
  act("open_home", { user: seen.state.me });
}

export function options(select, rows, chosen) {
  const print = JSON.stringify(rows);
  if (select.dataset.key !== print) {
    select.dataset.key = print;
    select.replaceChildren(...rows.map(([value, text]) => h("option", { value }, text)));
  }
  if (chosen !== undefined) select.value = chosen;
}

/** The picker of sample alerts, by tool. */
export function drawSamples() {
  const select = $("sample");
  const print = JSON.stringify(seen.state.samples);
  if (select.dataset.key === print) return;
  select.dataset.key = print;
  const rows = seen.state.samples.map((s) => [s.name, `${s.tool}: ${s.title}`]).sort(([, a], [, b]) => a.localeCompare(b));
  select.replaceChildren(...rows.map(([value, text]) => h("option", { value }, text)));
  if (rows.some(([name]) => name === FIRST)) select.value = FIRST;
}
