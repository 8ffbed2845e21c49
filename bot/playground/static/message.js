// Messages of a channel and of a thread, with their menus and reactions.
import { attachments, blocks } from "./blocks.js";
import { files } from "./files.js";
import { icon } from "./icons.js";
import { confirmed } from "./modal.js";
import { act, go, here, seen } from "./page.js";
import { emoji, h, mrkdwn } from "./text.js";

// Nodes whose message did not change stay as they are, so that open menus and selections survive.
export function reconcile(list, items, render, fresh = false) {
  const atEnd = fresh || list.scrollHeight - list.scrollTop - list.clientHeight < 60;
  const last = list.lastElementChild?.dataset.ts;
  const old = new Map([...list.children].map((node) => [node.dataset.ts, node]));
  const nodes = items.map((item) => {
    const print = JSON.stringify(item) + here.user;
    const kept = old.get(item.ts);
    if (kept?.dataset.print === print) return kept;
    const node = render(item);
    node.dataset.ts = item.ts;
    node.dataset.print = print;
    return node;
  });
  const same = nodes.length === list.children.length && nodes.every((n, i) => n === list.children[i]);
  if (!same) keepFocus(list, () => list.replaceChildren(...nodes));
  if (fresh || (atEnd && list.lastElementChild?.dataset.ts !== last)) showLast(list);
}

/** A message drawn anew takes the focus back where it was inside it. */
function keepFocus(list, change) {
  const within = document.activeElement?.closest?.("#messages > li, #replies > li");
  const held = within && list.contains(within) ? document.activeElement : null;
  const buttons = held ? [...within.querySelectorAll("button, a, summary")] : [];
  change();
  if (!held || held.isConnected) return;
  const now = [...list.children].find((node) => node.dataset.ts === within.dataset.ts);
  [...(now?.querySelectorAll("button, a, summary") ?? [])][buttons.indexOf(held)]?.focus();
}

/** A long last message is shown from its beginning, a short one at the end. */
function showLast(list) {
  const last = [...list.querySelectorAll(":scope > .message")].at(-1);
  const tall = last && last.offsetHeight > list.clientHeight * 0.6;
  list.scrollTop = tall ? last.offsetTop - list.offsetTop - 8 : list.scrollHeight;
}

const at = (ts) => new Date(Number(ts) * 1000);
const time = (ts) => at(ts).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
export const day = (ts) => at(ts).toLocaleDateString([], { weekday: "long", day: "numeric", month: "long" });
const who = (m) => m.username ?? (m.bot_profile?.name || seen.names.users[m.user] || m.user || "?");
const hash = (text) => [...text].reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) >>> 0, 7);

export const face = (name, picture) =>
  h("span", { class: `face c${hash(name) % 6}`, "aria-hidden": "true" }, picture ? emoji(picture.replaceAll(":", "")) : name.slice(0, 1).toUpperCase());

/** What stands between messages: the day, and where what is new begins. */
export function divider(item) {
  return h("li", { class: `divider ${item.kind}` }, h("span", {}, item.text));
}

export function withDividers(list, newFrom) {
  const out = [];
  let last = "";
  for (const m of list) {
    const now = day(m.ts);
    if (now !== last) out.push({ ts: `day ${m.ts}`, kind: "day", text: now });
    if (m.ts === newFrom) out.push({ ts: `new ${m.ts}`, kind: "new", text: "New" });
    out.push(m);
    last = now;
  }
  return out;
}

export function message(m, { thread }) {
  const ctx = messageContext(m);
  const body = m.blocks?.length ? blocks(m.blocks, ctx) : m.text ? [h("div", {}, mrkdwn(m.text, seen.names))] : [];
  return h("li", { class: m.is_ephemeral ? "message only" : "message" },
    face(who(m), m.icons?.emoji),
    h("div", { class: "content" },
      m.is_ephemeral && h("div", { class: "badge-only" }, icon("eye"), "Only visible to you",
        h("button", { type: "button", class: "plain", onclick: () => act("dismiss", { ts: m.ts }) }, "Dismiss")),
      h("div", { class: "by" }, h("b", {}, who(m)), m.bot_id && h("span", { class: "badge" }, "APP"),
        h("time", { datetime: at(m.ts).toISOString(), title: at(m.ts).toLocaleString() }, time(m.ts)), m.edited && h("span", { class: "edited" }, "(edited)")),
      body, attachments(m.attachments, ctx), files(m.files),
      m.reactions && h("div", { class: "reactions" }, m.reactions.map((r) => reaction(m, r))),
      !thread && m.reply_count ? replies(m) : null),
    m.is_ephemeral ? "" : menu(m, thread));
}

function replies(m) {
  const people = (m.reply_users ?? []).slice(0, 3).map((id) => face(seen.names.users[id] ?? id));
  return h("button", { type: "button", class: "replies", onclick: () => go(here.channel, m.ts) },
    h("span", { class: "faces" }, people), `${m.reply_count} ${m.reply_count === 1 ? "reply" : "replies"}`,
    m.latest_reply && h("span", { class: "last" }, `last at ${time(m.latest_reply)}`));
}

function reaction(m, r) {
  const mine = r.users.includes(here.user);
  const args = { channel: here.channel, ts: m.ts, name: r.name, user: here.user };
  const by = r.users.map((id) => seen.names.users[id] ?? id).join(", ");
  return h("button", {
    type: "button", class: mine ? "mine" : "", "aria-pressed": String(mine), title: `${by}: ${r.name}`,
    onclick: () => act(mine ? "unreact" : "react", args),
  }, `${emoji(r.name)} ${r.count}`);
}

function menu(m, thread) {
  const args = { channel: here.channel, ts: m.ts };
  const own = m.user === here.user;
  const shortcuts = seen.state.shortcuts.filter((s) => s.type === "message");
  const item = (text, run) => h("button", { type: "button", onclick: () => { node.open = false; run(); } }, text);
  const node = h("details", { class: "menu tools" }, h("summary", { "aria-label": `Menu of the message by ${who(m)}, ${time(m.ts)}` }, icon("more")),
    h("div", { class: "items" },
      !thread && item("Reply in thread", () => go(here.channel, m.thread_ts ?? m.ts)),
      h("div", { class: "quick" }, ["+1", "eyes", "white_check_mark", "memo"].map((name) =>
        h("button", { type: "button", "aria-label": `React with ${name}`, onclick: () => { node.open = false; act("react", { ...args, name, user: here.user }); } }, emoji(name)))),
      shortcuts.map((s) => item(s.name, () => act("shortcut", { ...args, callback_id: s.callback_id, user: here.user }))),
      own && item("Edit…", () => { const text = prompt("Edit message", m.text); if (text !== null) act("edit", { ...args, text }); }),
      own && item("Delete", () => act("delete", args))));
  return node;
}

function messageContext(m) {
  return {
    names: seen.names, draft: new Map(), place: `m${m.ts}`,
    act: (e, block, choice) => confirmed(e, () =>
      act("click", { channel: here.channel, ts: m.ts, action_id: e.action_id, block_id: block.block_id, choice, user: here.user })),
  };
}
