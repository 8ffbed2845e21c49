// Block Kit and attachments as DOM nodes. `ctx` says what a click does:
//   names {users, channels}; act(element, block, choice); draft: Map of "block_id action_id" → value; errors by block id.
import { icon } from "./icons.js";
import { emoji, h, link, mrkdwn, safeUrl, textObject } from "./text.js";

const BLOCKS = {
  __proto__: null,
  section: (b, ctx) =>
    h("div", { class: "b-section" },
      h("div", { class: "b-body" },
        b.text && h("div", {}, textObject(b.text, ctx.names)),
        b.fields && h("div", { class: "b-fields" }, b.fields.map((f) => h("div", {}, textObject(f, ctx.names))))),
      b.accessory && h("div", { class: "b-accessory" }, element(b.accessory, b, ctx))),
  context: (b, ctx) =>
    h("div", { class: "b-context" }, b.elements.map((e) => (e.type === "image" ? picture(e) : h("span", {}, textObject(e, ctx.names))))),
  actions: (b, ctx) => h("div", { class: "b-actions" }, b.elements.map((e) => element(e, b, ctx))),
  context_actions: (b, ctx) => h("div", { class: "b-actions" }, b.elements.map((e) => element(e, b, ctx))),
  header: (b, ctx) => h("h3", { class: "b-header" }, textObject(b.text, ctx.names)),
  divider: () => h("hr"),
  image: (b) => picture(b),
  input: (b, ctx) => {
    const error = ctx.errors?.[b.block_id];
    return h("div", { class: error ? "b-input bad" : "b-input" },
      h(GROUPS.has(b.element.type) ? "span" : "label", { class: "name", id: `${fieldId(b, b.element, ctx)}-name`, for: GROUPS.has(b.element.type) ? undefined : fieldId(b, b.element, ctx) }, textObject(b.label, ctx.names), b.optional ? h("span", { class: "opt" }, " (optional)") : ""),
      element(b.element, b, ctx),
      b.hint && h("div", { class: "hint", id: `${fieldId(b, b.element, ctx)}-hint` }, textObject(b.hint, ctx.names)),
      error && h("div", { class: "error", role: "alert", id: `${fieldId(b, b.element, ctx)}-error` }, error));
  },
  rich_text: (b, ctx) => h("div", { class: "b-rich" }, b.elements.map((e) => rich(e, ctx))),
  markdown: (b, ctx) => h("div", {}, mrkdwn(b.text.replaceAll("**", "*"), ctx.names)),
  alert: (b, ctx) => h("div", { class: `b-alert ${b.level ?? "default"}` }, textObject(b.text, ctx.names)),
  table: (b, ctx) => h("table", {}, b.rows.map((r) => h("tr", {}, r.map((c) => h("td", {}, cell(c, ctx)))))),
};

export function blocks(list, ctx) {
  return (list ?? []).map((b) => {
    const draw = BLOCKS[b.type];
    return h("div", { class: "block" }, draw ? draw(b, ctx) : h("em", {}, `[${b.type} block]`));
  });
}

const cell = (c, ctx) => (c.type === "rich_text" ? c.elements.map((e) => rich(e, ctx)) : String(c.text ?? ""));
// Nothing is fetched from elsewhere: a picture shows as its description.
const picture = (e) => h("span", { class: "picture", title: e.image_url ?? "" }, `🖼 ${e.alt_text ?? ""}`);

function rich(node, ctx) {
  const inner = () => node.elements.map((e) => richInline(e, ctx));
  if (node.type === "rich_text_preformatted") return h("pre", {}, inner());
  if (node.type === "rich_text_quote") return h("blockquote", {}, inner());
  if (node.type === "rich_text_list")
    return h(node.style === "ordered" ? "ol" : "ul", {}, node.elements.map((e) => h("li", {}, rich(e, ctx))));
  return h("div", {}, inner());
}

function richInline(e, ctx) {
  const styled = (node) => {
    const style = e.style ?? {};
    if (style.code) node = h("code", {}, node);
    if (style.bold) node = h("b", {}, node);
    if (style.italic) node = h("i", {}, node);
    if (style.strike) node = h("s", {}, node);
    return node;
  };
  if (e.type === "text") return styled(h("span", { class: "pre" }, e.text));
  if (e.type === "link") return styled(safeUrl(e.url) ? link(e.url, e.text ?? e.url) : h("span", {}, e.text ?? e.url));
  if (e.type === "user") return h("span", { class: "mention" }, `@${ctx.names.users[e.user_id] ?? e.user_id}`);
  if (e.type === "channel") return h("span", { class: "mention" }, `#${ctx.names.channels[e.channel_id] ?? e.channel_id}`);
  if (e.type === "broadcast") return h("span", { class: "mention" }, `@${e.range}`);
  if (e.type === "emoji") return emoji(e.name);
  return "";
}

export const fieldKey = (block, e) => `${block.block_id} ${e.action_id}`;
const fieldId = (block, e, ctx) => `f-${ctx.place}-${block.block_id}-${e.action_id}`.replace(/\s/g, "_");
const GROUPS = new Set(["checkboxes", "radio_buttons", "multi_static_select", "multi_users_select", "multi_conversations_select"]);

/** The id of an input and what names and explains it to a screen reader. */
function described(e, block, ctx, group = false) {
  const id = fieldId(block, e, ctx);
  const input = block.type === "input";
  const error = ctx.errors?.[block.block_id];
  return {
    id, "aria-labelledby": group && input ? `${id}-name` : undefined, "aria-label": input ? undefined : e.placeholder?.text ?? "Choose",
    "aria-describedby": [error && `${id}-error`, input && block.hint && `${id}-hint`].filter(Boolean).join(" ") || undefined,
    "aria-invalid": error ? "true" : undefined, "aria-required": input && !block.optional && !group ? "true" : undefined,
  };
}
const label = (o) => o.text.text.replace(/:([a-z0-9_+-]+):/g, (w, n) => emoji(n));

function element(e, block, ctx) {
  const draw = ELEMENTS[e.type] ?? (() => h("em", {}, `[${e.type}]`));
  return draw(e, block, ctx);
}

function button(e, block, ctx) {
  const text = textObject(e.text, ctx.names);
  const act = () => ctx.act(e, block, null);
  if (e.url && safeUrl(e.url)) {
    return h("a", { class: "btn", href: e.url, target: "_blank", rel: "noopener noreferrer", onclick: act }, text);
  }
  return h("button", { type: "button", class: `btn ${e.style ?? ""}`, onclick: act }, text);
}

function overflow(e, block, ctx) {
  const menu = h("details", { class: "menu" },
    h("summary", { class: "btn", "aria-label": "More actions" }, icon("more")),
    h("div", { class: "items" }, e.options.map((o) =>
      h("button", { type: "button", onclick: () => { menu.open = false; ctx.act(e, block, o.value); } }, label(o)))));
  return menu;
}

/** What an input holds: what was typed here, else what the view's state says, else its initial value. */
function held(e, block, ctx, initial) {
  const key = fieldKey(block, e);
  if (ctx.draft.has(key)) return ctx.draft.get(key);
  ctx.draft.set(key, initial);
  return initial;
}

function hold(e, block, ctx, value, done = true) {
  ctx.draft.set(fieldKey(block, e), value);
  if (done && (block.type !== "input" || block.dispatch_action)) ctx.act(e, block, value);
}

function field(type) {
  return (e, block, ctx) => {
    const tag = e.multiline ? "textarea" : "input";
    const node = h(tag, {
      ...described(e, block, ctx), type: e.multiline ? undefined : type, rows: e.multiline ? "4" : undefined,
      placeholder: e.placeholder?.text, maxlength: e.max_length,
      value: held(e, block, ctx, e.initial_value ?? e.initial_date ?? e.initial_time ?? ""),
    });
    node.addEventListener("input", () => hold(e, block, ctx, node.value, false));
    if (block.dispatch_action || block.type !== "input") node.addEventListener("change", () => hold(e, block, ctx, node.value));
    return node;
  };
}

const optionsOf = (e) => e.options ?? [];
const initialValue = (e) => e.initial_option?.value ?? e.initial_user ?? e.initial_conversation ?? e.initial_channel ?? "";

function select(list) {
  return (e, block, ctx) => {
    const now = held(e, block, ctx, initialValue(e));
    const option = (o) => h("option", { value: o.value, selected: o.value === now }, label(o));
    const groups = (e.option_groups ?? []).map((g) => h("optgroup", { label: g.label.text }, g.options.map(option)));
    const node = h("select", described(e, block, ctx),
      h("option", { value: "" }, e.placeholder?.text ?? "Select…"), groups, list(e, ctx).map(option));
    node.value = now;
    node.addEventListener("change", () => hold(e, block, ctx, node.value, node.value !== ""));
    return node;
  };
}

function several(list) {
  return (e, block, ctx) => {
    const now = held(e, block, ctx, (e.initial_options ?? []).map((o) => o.value).concat(e.initial_conversations ?? e.initial_users ?? []));
    const groups = (e.option_groups ?? []).flatMap((g) => g.options);
    const boxes = [...list(e, ctx), ...groups].map((o) =>
      h("label", { class: "choice" }, h("input", { type: "checkbox", value: o.value, checked: now.includes(o.value) }), label(o), note(o)));
    const node = h("div", { ...described(e, block, ctx, true), role: "group" }, boxes);
    node.addEventListener("change", () =>
      hold(e, block, ctx, [...node.querySelectorAll("input:checked")].map((box) => box.value)));
    return node;
  };
}

function radios(e, block, ctx) {
  const now = held(e, block, ctx, initialValue(e));
  const name = fieldId(block, e, ctx);
  const node = h("div", { ...described(e, block, ctx, true), role: "radiogroup" }, e.options.map((o) =>
    h("label", { class: "choice" }, h("input", { type: "radio", name, value: o.value, checked: o.value === now }), label(o), note(o))));
  node.addEventListener("change", (event) => hold(e, block, ctx, event.target.value));
  return node;
}

const note = (o) => o.description && h("small", {}, ` ${o.description.text}`);
const option = (value, text) => ({ value, text: { text } });
const people = (_e, ctx) => Object.entries(ctx.names.users).map(([id, name]) => option(id, name));
const places = (_e, ctx) => Object.entries(ctx.names.channels).map(([id, name]) => option(id, `#${name}`));

const ELEMENTS = {
  __proto__: null,
  button, overflow,
  icon_button: button,
  feedback_buttons: (e, block, ctx) =>
    [e.positive_button, e.negative_button].map((b) =>
      h("button", { type: "button", class: "btn", onclick: () => ctx.act(e, block, b.value) }, b.text.text)),
  image: (e) => picture(e),
  plain_text_input: field("text"), number_input: field("text"), url_text_input: field("url"), email_text_input: field("email"),
  datepicker: field("date"), timepicker: field("time"),
  static_select: select(optionsOf), users_select: select(people), conversations_select: select(places), channels_select: select(places),
  multi_static_select: several(optionsOf), checkboxes: several(optionsOf), multi_users_select: several(people),
  multi_conversations_select: several(places),
  radio_buttons: radios,
};

export function attachments(list, ctx) {
  return (list ?? []).map((a) => {
    const node = h("div", { class: "attachment" },
      a.pretext && h("div", { class: "pretext" }, mrkdwn(a.pretext, ctx.names)),
      a.author_name && h("div", { class: "author" }, a.author_name),
      a.title && h("div", { class: "title" }, a.title_link && safeUrl(a.title_link) ? link(a.title_link, mrkdwn(a.title, ctx.names)) : mrkdwn(a.title, ctx.names)),
      a.text && h("div", {}, mrkdwn(a.text, ctx.names)),
      blocks(a.blocks, ctx),
      a.fields && h("div", { class: "b-fields" }, a.fields.map((f) =>
        h("div", { class: f.short ? "" : "wide" }, h("b", {}, f.title ?? ""), h("br"), mrkdwn(f.value, ctx.names)))),
      a.actions && h("div", { class: "b-actions" }, a.actions.map((x) =>
        x.url && safeUrl(x.url) ? link(x.url, h("span", { class: "btn" }, mrkdwn(x.text ?? "", ctx.names))) : h("span", { class: "btn off" }, x.text ?? ""))),
      a.image_url && picture({ alt_text: a.title ?? "image", image_url: a.image_url }),
      a.footer && h("div", { class: "foot" }, mrkdwn(a.footer, ctx.names)));
    if (/^[0-9a-f]{3,8}$/i.test(a.color ?? "")) node.style.borderLeftColor = `#${a.color}`;
    return node;
  });
}
