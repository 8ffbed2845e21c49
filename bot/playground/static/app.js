// The page: what one person sees of the local Slack. All state is the server's; this draws it and sends what people do.
import { attachments, blocks } from "./blocks.js";
import { files } from "./files.js";
import { emoji, h, mrkdwn, textObject } from "./text.js";

const $ = (id) => document.getElementById(id);
const here = { user: sessionStorage.getItem("user") ?? "", channel: "", thread: "", home: false };
let state = null;
let names = { users: {}, channels: {} };
const drafts = new Map();

async function act(name, args, quiet = false) {
  const response = await fetch(`/control/${name}`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(args),
  });
  const answer = await response.json();
  if (!answer.ok && !quiet) toast(`${answer.error}${answer.detail ? `: ${answer.detail}` : ""}`);
  const notice = answer.result?.notice;
  if (notice && !quiet) toast(notice);
  return answer;
}

function toast(text) {
  const node = h("div", { class: "toast" }, text);
  $("toasts").append(node);
  setTimeout(() => node.remove(), 6000);
}

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

function go(channel, thread = "") {
  location.hash = thread ? `${channel}/${thread}` : channel;
}

window.addEventListener("hashchange", () => { readAddress(); refresh(); });

// ---- fetching

let busy = false;
let again = false;
async function refresh() {
  if (busy) { again = true; return; }
  busy = true;
  try {
    const query = new URLSearchParams({ user: here.user, channel: here.channel, thread: here.thread });
    state = await (await fetch(`/control/view?${query}`)).json();
    here.user = state.me;
    names = { users: state.names, channels: state.channel_names };
    draw();
  } finally {
    busy = false;
    if (again) { again = false; refresh(); }
  }
}

function listen() {
  const source = new EventSource("/control/stream");
  source.onmessage = () => refresh();
  source.onerror = () => { $("link").className = "dot off"; $("link").title = "The server does not answer"; };
}

// ---- drawing

function draw() {
  drawSide();
  const channel = state.channels.find((c) => c.id === state.channel);
  if (!here.home) here.channel = state.channel ?? "";
  drawHead(channel);
  $("messages").hidden = $("samples").hidden = $("composer").hidden = here.home;
  $("home").hidden = !here.home;
  if (here.home) drawHome();
  const apart = state.ephemerals.filter((m) => !m.thread_ts);
  reconcile($("messages"), byTime([...state.messages, ...apart]), (m) => message(m, { thread: false }));
  const open = here.thread && state.thread.length > 0;
  $("thread").hidden = !open;
  document.body.classList.toggle("threaded", Boolean(open));
  const inThread = open ? state.ephemerals.filter((m) => m.thread_ts === here.thread) : [];
  reconcile($("replies"), open ? byTime([...state.thread, ...inThread]) : [], (m) => message(m, { thread: true }));
  drawModal();
  drawTraffic();
  options($("sample"), state.samples.map((s) => [s, s]));
}

const byTime = (list) => list.sort((a, b) => (a.ts < b.ts ? -1 : 1));

function drawSide() {
  $("team").textContent = state.team;
  document.title = `${state.bot.name} playground`;
  $("link").className = state.bot.connected ? "dot on" : "dot off";
  $("link").title = $("link").ariaLabel = state.bot.connected ? "The bot is connected" : "No bot is connected";
  options($("actas"), state.people.map((p) => [p.id, p.real_name]), state.me);
  const sign = (c) => (c.private ? "🔒" : c.shared ? "⇄" : "#");
  const row = (c) =>
    h("li", {}, h("button", { type: "button", class: !here.home && c.id === state.channel ? "on" : "", onclick: () => go(c.id) },
      h("span", { class: "sign" }, c.im ? "✉" : sign(c)), c.im ? `${state.bot.name} (direct)` : c.name));
  $("channels").replaceChildren(...state.channels.filter((c) => !c.im).map(row));
  const direct = state.channels.filter((c) => c.im).map(row);
  const home = h("li", {}, h("button", { type: "button", class: here.home ? "on" : "", onclick: openHome }, h("span", { class: "sign" }, "⌂"), `${state.bot.name} Home`));
  const message = h("li", {}, h("button", { type: "button", onclick: async () => go((await act("dm", { user: state.me })).result) },
    h("span", { class: "sign" }, "✉"), `Message ${state.bot.name}`));
  $("apps").replaceChildren(home, ...(direct.length ? direct : [message]));
}

function openHome() {
  go("home");
  act("open_home", { user: state.me });
}

function options(select, rows, chosen) {
  const key = JSON.stringify(rows);
  if (select.dataset.key !== key) {
    select.dataset.key = key;
    select.replaceChildren(...rows.map(([value, text]) => h("option", { value }, text)));
  }
  if (chosen !== undefined) select.value = chosen;
}

function drawHead(channel) {
  if (here.home) {
    $("title").replaceChildren(h("strong", {}, `${state.bot.name} Home`));
    $("headtools").replaceChildren();
    return;
  }
  if (!channel) return;
  const flags = [channel.private && "private", channel.shared && "shared with another organisation"].filter(Boolean).join(", ");
  const title = channel.im ? `${state.bot.name} (direct)` : `#${channel.name}`;
  $("title").replaceChildren(h("strong", {}, title), h("span", { class: "topic" }, [flags, channel.topic].filter(Boolean).join(" · ")));
  const invite = () => act("invite", { channel: channel.id, inviter: state.me });
  $("headtools").replaceChildren(...(channel.bot ? [] : [h("button", { type: "button", class: "btn", onclick: invite }, `Invite ${state.bot.name}`)]));
  $("draft").placeholder = `Message ${title}, or ${state.commands[0]?.command ?? "/command"}`;
}

// Nodes whose message did not change stay as they are, so that open menus and selections survive.
function reconcile(list, items, render) {
  const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 60;
  const old = new Map([...list.children].map((node) => [node.dataset.ts, node]));
  const nodes = items.map((item) => {
    const print = JSON.stringify(item) + state.me;
    const kept = old.get(item.ts);
    if (kept?.dataset.print === print) return kept;
    const node = render(item);
    node.dataset.ts = item.ts;
    node.dataset.print = print;
    return node;
  });
  if (nodes.length !== list.children.length || nodes.some((n, i) => n !== list.children[i])) list.replaceChildren(...nodes);
  if (atEnd) list.scrollTop = list.scrollHeight;
}

const time = (ts) => new Date(Number(ts) * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
const who = (m) => m.username ?? (m.bot_profile?.name || names.users[m.user] || m.user || "?");

function message(m, { thread }) {
  const ctx = messageContext(m);
  const body = m.blocks?.length ? blocks(m.blocks, ctx) : m.text ? [h("div", {}, mrkdwn(m.text, names))] : [];
  const replies = !thread && m.reply_count
    ? h("button", { type: "button", class: "replies", onclick: () => go(here.channel, m.ts) }, `${m.reply_count} ${m.reply_count === 1 ? "reply" : "replies"}`)
    : null;
  return h("li", { class: m.is_ephemeral ? "message only" : "message" },
    h("span", { class: `face c${hash(who(m)) % 6}`, "aria-hidden": "true" }, m.icons?.emoji ? emoji(m.icons.emoji.replaceAll(":", "")) : who(m).slice(0, 1).toUpperCase()),
    h("div", { class: "content" },
      m.is_ephemeral && h("div", { class: "badge-only" }, "👁 Only visible to you",
        h("button", { type: "button", class: "plain", onclick: () => act("dismiss", { ts: m.ts }) }, "Dismiss")),
      h("div", { class: "by" }, h("b", {}, who(m)), m.bot_id && h("span", { class: "badge" }, "APP"), h("time", {}, time(m.ts)), m.edited && h("span", { class: "edited" }, "(edited)")),
      body, attachments(m.attachments, ctx), files(m.files),
      m.reactions && h("div", { class: "reactions" }, m.reactions.map((r) => reaction(m, r))),
      replies),
    m.is_ephemeral ? "" : menu(m, thread));
}

const hash = (text) => [...text].reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) >>> 0, 7);

function reaction(m, r) {
  const mine = r.users.includes(state.me);
  const args = { channel: here.channel, ts: m.ts, name: r.name, user: state.me };
  return h("button", { type: "button", class: mine ? "mine" : "", onclick: () => act(mine ? "unreact" : "react", args) }, `${emoji(r.name)} ${r.count}`);
}

function menu(m, thread) {
  const args = { channel: here.channel, ts: m.ts };
  const own = m.user === state.me;
  const shortcuts = state.shortcuts.filter((s) => s.type === "message");
  const item = (text, run) => h("button", { type: "button", onclick: () => { node.open = false; run(); } }, text);
  const node = h("details", { class: "menu tools" }, h("summary", { "aria-label": "Message menu" }, "⋯"),
    h("div", { class: "items" },
      !thread && item("Reply in thread", () => go(here.channel, m.thread_ts ?? m.ts)),
      ["+1", "eyes", "white_check_mark", "memo"].map((name) => item(`React ${emoji(name)}`, () => act("react", { ...args, name, user: state.me }))),
      shortcuts.map((s) => item(`⚡ ${s.name}`, () => act("shortcut", { ...args, callback_id: s.callback_id, user: state.me }))),
      own && item("Edit…", () => { const text = prompt("Edit message", m.text); if (text !== null) act("edit", { ...args, text }); }),
      own && item("Delete", () => act("delete", args))));
  return node;
}

function messageContext(m) {
  return {
    names, draft: new Map(),
    act: (e, block, choice) => confirmed(e, () =>
      act("click", { channel: here.channel, ts: m.ts, action_id: e.action_id, block_id: block.block_id, choice, user: state.me })),
  };
}

function confirmed(e, run) {
  if (!e.confirm) return run();
  const box = $("confirm");
  const close = (yes) => { box.close(); if (yes) run(); };
  box.replaceChildren(h("h3", {}, textObject(e.confirm.title, names)), h("p", {}, textObject(e.confirm.text, names)),
    h("div", { class: "buttons" },
      h("button", { type: "button", class: "btn", onclick: () => close(false) }, textObject(e.confirm.deny, names)),
      h("button", { type: "button", class: `btn ${e.confirm.style ?? "primary"}`, onclick: () => close(true) }, textObject(e.confirm.confirm, names))));
  return box.showModal();
}

function viewContext(view, home) {
  if (!drafts.has(view.id)) drafts.set(view.id, new Map());
  return {
    names, draft: drafts.get(view.id), errors: home ? {} : state.errors,
    act: (e, block, choice) => confirmed(e, async () => {
      if (!home) await act("fill", { values: typed(view), user: state.me }, true);
      await act("click_view", { action_id: e.action_id, choice, user: state.me, home });
    }),
  };
}

function drawHome() {
  const view = state.home;
  if ($("home").dataset.hash === (view?.hash ?? "none")) return;
  $("home").dataset.hash = view?.hash ?? "none";
  $("home").replaceChildren(...(view ? blocks(view.blocks, viewContext(view, true)) : [h("p", { class: "empty" }, "Nothing here yet.")]));
}

// A modal is drawn again only when the view or its errors change: what is being typed stays.
function drawModal() {
  const box = $("modal");
  const view = state.modals.at(-1);
  if (!view) {
    if (box.open) box.close();
    box.dataset.print = "";
    return;
  }
  const print = view.hash + JSON.stringify(state.errors) + state.notice;
  if (box.dataset.print === print && box.open) return;
  box.dataset.print = print;
  const back = state.modals.length > 1;
  box.replaceChildren(h("form", { method: "dialog", onsubmit: (event) => { event.preventDefault(); submit(view); } },
    h("header", {}, h("h3", { id: "modaltitle" }, textObject(view.title, names)),
      h("button", { type: "button", class: "plain", "aria-label": "Close", onclick: () => close(true) }, "✕")),
    h("div", { class: "body" }, state.notice && h("div", { class: "error", role: "alert" }, state.notice), blocks(view.blocks, viewContext(view, false))),
    h("footer", { class: "buttons" },
      h("button", { type: "button", class: "btn", onclick: () => close(false) }, view.close ? textObject(view.close, names) : back ? "Back" : "Cancel"),
      view.submit && h("button", { type: "submit", class: "btn primary" }, textObject(view.submit, names)))));
  if (!box.open) box.showModal();
}

/** What stands in the inputs of a modal: it goes along with each press. */
function typed(view) {
  const values = {};
  for (const block of view.blocks.filter((b) => b.type === "input")) {
    const value = drafts.get(view.id)?.get(`${block.block_id} ${block.element.action_id}`);
    values[`${block.block_id}.${block.element.action_id}`] = value ?? "";
  }
  return values;
}

async function submit(view) {
  const button = $("modal").querySelector("[type=submit]");
  if (button) button.disabled = true;
  await act("submit_view", { values: typed(view), user: state.me }, true);
  if (button) button.disabled = false;
}

const close = (clear) => act("close_view", { user: state.me, clear });
$("modal").addEventListener("cancel", (event) => { event.preventDefault(); close(false); });

// ---- what went over the line, and faults

const KIND = { api: "→ API", deliver: "← event", ack: "→ ack", no_ack: "✕ no ack", webhook: "→ webhook", response_url: "→ response_url" };

async function drawTraffic() {
  if ($("traffic").hidden) return;
  const { entries } = await (await fetch("/control/traffic?last=60")).json();
  const open = new Set([...$("entries").querySelectorAll("details[open]")].map((d) => d.dataset.key));
  $("entries").replaceChildren(...entries.reverse().map((e) => {
    const { at, kind, name, ...facts } = e;
    const bad = kind === "no_ack" || facts.response?.ok === false;
    const key = `${at} ${kind} ${name}`;
    const extra = facts.response?.error ?? (facts.attempt ? `retry ${facts.attempt}: ${facts.reason}` : facts.reason ?? "");
    const row = h("details", { "data-key": key }, h("summary", { class: bad ? "bad" : "" },
      h("time", {}, new Date(at * 1000).toLocaleTimeString()), ` ${KIND[kind] ?? kind} `, h("b", {}, name), extra ? ` ${extra}` : ""));
    const fill = () => { if (row.open && row.children.length === 1) row.append(h("pre", {}, JSON.stringify(facts, null, 2))); };
    row.addEventListener("toggle", fill);
    row.open = open.has(key);
    fill();
    return h("li", {}, row);
  }));
}

$("traffictoggle").addEventListener("click", () => {
  $("traffic").hidden = !$("traffic").hidden;
  $("traffictoggle").setAttribute("aria-expanded", String(!$("traffic").hidden));
  drawTraffic();
});
$("faults").addEventListener("click", async ({ target }) => {
  const { act: name, args } = target.dataset;
  if (name && (await act(name, JSON.parse(args))).ok) toast(target.textContent);
});

// ---- writing

async function send(input, thread) {
  const text = input.value.trim();
  if (!text) return;
  const command = /^(\/[a-z][\w-]*)\s*([\s\S]*)$/i.exec(text);
  const args = { channel: here.channel, user: state.me, ...(thread ? { thread_ts: thread } : {}) };
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const mentioned = escaped.replace(/@(\w[\w-]*)/g, (whole, name) => mentionOf(name) ?? whole);
  const answer = command
    ? await act("slash", { ...args, command: command[1], text: command[2] })
    : await act("post", { ...args, text: mentioned });
  if (answer.ok && !(command && !answer.result.sent)) input.value = "";
}

function mentionOf(name) {
  const wanted = name.toLowerCase();
  if (wanted === state.bot.name.toLowerCase()) return `<@${state.bot.user}>`;
  const person = state.people.find((p) => p.name.toLowerCase() === wanted);
  return person ? `<@${person.id}>` : null;
}

$("composer").addEventListener("submit", (event) => { event.preventDefault(); send($("draft"), ""); });
$("threadcomposer").addEventListener("submit", (event) => { event.preventDefault(); send($("threaddraft"), here.thread); });
$("samples").addEventListener("submit", (event) => {
  event.preventDefault();
  if ($("sample").value) act("post_sample", { channel: here.channel, name: $("sample").value });
});
$("threadclose").addEventListener("click", () => go(here.channel));
$("actas").addEventListener("change", () => {
  here.user = $("actas").value;
  sessionStorage.setItem("user", here.user);
  refresh();
});
document.addEventListener("click", (event) => {
  for (const open of document.querySelectorAll("details.menu[open]")) if (!open.contains(event.target)) open.open = false;
});

readAddress();
await refresh();
listen();
