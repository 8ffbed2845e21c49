// The page: what one person sees of the local Slack. All state is the server's; this draws it and sends what people do.
import { hangIcons } from "./icons.js";
import { divider, message, reconcile, withDividers } from "./message.js";
import { ask, drawHome, drawModal } from "./modal.js";
import { $, act, go, here, seen, toast } from "./page.js";
import { drawSamples, drawSide, firstNew, forgetMarks, markRead } from "./side.js";
import { readyStory } from "./story.js";
import { h } from "./text.js";
import { drawTraffic } from "./traffic.js";

// ---- where we are: the address bar keeps channel and thread

function readAddress() {
  const archive = /^\/archives\/([A-Z0-9]+)\/p(\d+)(\d{6})$/.exec(location.pathname);
  if (archive && !location.hash) {
    here.channel = archive[1];
    here.thread = new URLSearchParams(location.search).get("thread_ts") ?? `${archive[2]}.${archive[3]}`;
    return;
  }
  const [channel = "", thread = ""] = location.hash.slice(1).split("/");
  here.home = channel === "home";
  if (!here.home) here.channel = channel;
  here.thread = here.home ? "" : thread;
}

window.addEventListener("hashchange", () => { readAddress(); refresh(); });

// ---- fetching

const asked = () => new URLSearchParams({ user: here.user, channel: here.channel, thread: here.thread });
let busy = false;
let again = false;
async function refresh() {
  if (busy) { again = true; return; }
  busy = true;
  try {
    const query = String(asked());
    const state = await (await fetch(`/control/view?${query}`)).json();
    if (query !== String(asked())) { again = true; return; }  // somebody went elsewhere meanwhile
    seen.state = state;
    here.user = state.me;
    seen.names = { users: { __proto__: null, ...state.names }, channels: { __proto__: null, ...state.channel_names } };
    draw();
  } finally {
    busy = false;
    if (again) { again = false; refresh(); }
  }
}

function listen() {
  const source = new EventSource("/control/stream");
  source.onmessage = ({ data }) => { if (Number(data) !== seen.state.version) refresh(); };
  source.onerror = () => { $("link").className = "dot off"; $("linktext").textContent = $("link").title = "The server does not answer"; };
}

// ---- drawing

let drawn = { channel: "", thread: "" };

function draw() {
  const { state } = seen;
  const channel = state.channels.find((c) => c.id === state.channel);
  if (!here.home) here.channel = state.channel ?? "";
  markRead();
  drawSide();
  drawSamples();
  drawSwitches();
  drawHead(channel);
  $("messages").hidden = $("samples").hidden = $("composer").hidden = here.home;
  $("home").hidden = !here.home;
  if (here.home) drawHome();
  const apart = state.ephemerals.filter((m) => !m.thread_ts);
  const place = `${here.user} ${here.channel}`;
  const shown = withDividers(byTime([...state.messages, ...apart]), firstNew());
  reconcile($("messages"), shown, (m) => (m.kind ? divider(m) : message(m, { thread: false })), place !== drawn.channel);
  $("messages").hidden = here.home || shown.length === 0;
  $("empty").hidden = here.home || shown.length > 0;
  drawThread(place);
  drawModal();
  drawTraffic();
}

const byTime = (list) => list.sort((a, b) => (a.ts < b.ts ? -1 : 1));

function drawThread(place) {
  const { state } = seen;
  const open = Boolean(here.thread && state.thread.length > 0);
  const name = open ? here.thread : "";
  $("thread").hidden = !open;
  document.body.classList.toggle("threaded", open);
  const inThread = open ? state.ephemerals.filter((m) => m.thread_ts === here.thread) : [];
  const fresh = name !== drawn.thread;
  reconcile($("replies"), open ? byTime([...state.thread, ...inThread]) : [], (m) => message(m, { thread: true }), fresh && open);
  if (fresh && open && drawn.channel) $("threadtitle").focus({ preventScroll: true });
  if (fresh && !open && drawn.thread) backTo(drawn.thread);
  drawn = { channel: place, thread: name };
}

function backTo(ts) {
  $("messages").querySelector(`[data-ts="${CSS.escape(ts)}"] .replies`)?.focus({ preventScroll: true });
}

function drawSwitches() {
  const { hosted, memory, hours_later: hours } = seen.state.switches;
  for (const id of ["memory", "reset", "storystart", "later"]) $(id).hidden = !hosted;
  $("memory").setAttribute("aria-checked", String(memory));
  $("memorystate").textContent = memory ? "on" : "off";
  $("later").title = hours ? `It is ${Math.round(hours / 24)} days later than outside` : "Moves the clock of this workspace and of the bot";
}

function drawHead(channel) {
  if (here.home) {
    $("title").replaceChildren(h("h2", {}, `${seen.state.bot.name} Home`));
    $("headtools").replaceChildren();
    return;
  }
  if (!channel) return;
  const flags = [channel.private && "private", channel.shared && "shared with another organisation"].filter(Boolean).join(", ");
  const title = channel.im ? `${seen.state.bot.name} (direct)` : `#${channel.name}`;
  $("title").replaceChildren(h("h2", {}, title), h("span", { class: "topic" }, [flags, channel.topic].filter(Boolean).join(" · ")));
  const invite = () => act("invite", { channel: channel.id, inviter: here.user });
  const members = h("span", { class: "topic", title: channel.members.map((id) => seen.names.users[id] ?? id).join(", ") }, channel.im ? "" : `${channel.members.length} members`);
  $("headtools").replaceChildren(channel.bot ? members : h("button", { type: "button", class: "btn", onclick: invite }, `Invite ${seen.state.bot.name}`));
  $("draft").placeholder = `Message ${title}, or ${seen.state.commands[0]?.command ?? "/command"}`;
  $("empty").replaceChildren(h("p", {}, h("b", {}, `This is the beginning of ${title}.`)),
    h("p", {}, channel.bot ? "Post an alert below and open its thread, or play the payment outage." : `${seen.state.bot.name} is not in here: it hears nothing until it is invited.`));
}

// ---- writing

async function send(input, thread) {
  const text = input.value.trim();
  if (!text) return;
  const command = /^(\/[a-z][\w-]*)\s*([\s\S]*)$/i.exec(text);
  const args = { channel: here.channel, user: here.user, ...(thread ? { thread_ts: thread } : {}) };
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const mentioned = escaped.replace(/@(\w[\w-]*)/g, (whole, name) => mentionOf(name) ?? whole);
  const answer = command
    ? await act("slash", { ...args, command: command[1], text: command[2] })
    : await act("post", { ...args, text: mentioned });
  if (answer.ok && !(command && !answer.result.sent)) input.value = "";
}

function mentionOf(name) {
  const wanted = name.toLowerCase();
  if (wanted === seen.state.bot.name.toLowerCase()) return `<@${seen.state.bot.user}>`;
  const person = seen.state.people.find((p) => p.name.toLowerCase() === wanted);
  return person ? `<@${person.id}>` : null;
}

$("composer").addEventListener("submit", (event) => { event.preventDefault(); send($("draft"), ""); });
$("threadcomposer").addEventListener("submit", (event) => { event.preventDefault(); send($("threaddraft"), here.thread); });
$("samples").addEventListener("submit", (event) => {
  event.preventDefault();
  if ($("sample").value) act("post_sample", { channel: here.channel, name: $("sample").value });
});
$("faults").addEventListener("click", async ({ target }) => {
  const { act: name, args } = target.dataset;
  if (name && (await act(name, JSON.parse(args))).ok) toast(target.textContent);
});
$("threadclose").addEventListener("click", () => go(here.channel));
$("actas").addEventListener("change", () => {
  here.user = $("actas").value;
  sessionStorage.setItem("user", here.user);
  refresh();
});

// ---- switches

export async function reset() {
  $("reset").disabled = true;
  forgetMarks();
  const answer = await act("reset", {});
  go(seen.state.channels[0].id);
  $("reset").disabled = false;
  return answer.ok;
}

$("reset").addEventListener("click", () => ask({
  title: "Start again?", text: "Messages and everything the bot learnt here are thrown away.", yes: "Reset", style: "danger",
  run: async () => { if (await reset()) toast("Everything is as at the start"); },
}));
$("memory").addEventListener("click", async () => {
  const on = !seen.state.switches.memory;
  if ((await act("switch_memory", { on })).ok) toast(on ? "Memory is on: the next brief uses it" : "Memory is off: see what the next brief lacks");
});
$("later").addEventListener("click", async () => { if ((await act("later", { hours: 72 })).ok) toast("Three days later"); });

const dark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
$("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = dark() ? "light" : "dark";
  localStorage.setItem("theme", document.documentElement.dataset.theme);
});
if (localStorage.getItem("theme")) document.documentElement.dataset.theme = localStorage.getItem("theme");

// ---- keyboard: Escape closes what is open, Alt with an arrow goes to the next channel

const drawer = (open) => {
  document.body.classList.toggle("drawer", open);
  $("menubutton").setAttribute("aria-expanded", String(open));
};
$("menubutton").addEventListener("click", () => drawer(!document.body.classList.contains("drawer")));
$("main").addEventListener("click", () => drawer(false));

document.addEventListener("click", (event) => {
  for (const open of document.querySelectorAll("details.menu[open]")) if (!open.contains(event.target)) open.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !document.querySelector("dialog[open]")) escape();
  // Left open by a story that was stopped: such a dialog does not hear Escape by itself.
  if (event.key === "Escape" && !document.body.classList.contains("telling")) document.querySelector("#modal[open]:not(:modal) footer .btn")?.click();
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (event.altKey && step) { event.preventDefault(); neighbour(step); }
});

function escape() {
  const menu = document.querySelector("details.menu[open]");
  if (menu) { menu.open = false; menu.querySelector("summary").focus(); return; }
  if (document.body.classList.contains("drawer")) { drawer(false); $("menubutton").focus(); return; }
  if (here.thread) go(here.channel);
}

function neighbour(step) {
  const ids = seen.state.channels.filter((c) => !c.im).map((c) => c.id);
  const next = ids[ids.indexOf(here.channel) + step];
  if (next) go(next);
}

document.addEventListener("visibilitychange", () => { if (!document.hidden && seen.state) draw(); });

hangIcons(document);
readAddress();
await refresh();
readyStory(reset);
listen();
