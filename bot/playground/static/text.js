// Slack's text forms as DOM nodes. Text from messages becomes text nodes only, never markup.

// Without a prototype: “:constructor:” is no emoji.
const EMOJI = {
  __proto__: null,
  red_circle: "🔴", large_green_circle: "🟢", large_yellow_circle: "🟡", white_check_mark: "✅", heavy_check_mark: "✔️",
  x: "❌", warning: "⚠️", rotating_light: "🚨", fire: "🔥", eyes: "👀", thumbsup: "👍", "+1": "👍", thumbsdown: "👎",
  "-1": "👎", green_book: "📗", mag: "🔍", no_bell: "🔕", bell: "🔔", chart_with_upwards_trend: "📈", bulb: "💡",
  spiral_note_pad: "🗒️", memo: "📝", hourglass: "⌛", question: "❓", exclamation: "❗", rocket: "🚀", brain: "🧠",
  wrench: "🔧", arrows_counterclockwise: "🔄", link: "🔗", no_entry: "⛔", information_source: "ℹ️", tada: "🎉", pray: "🙏",
  wave: "👋", raised_hands: "🙌", heart: "❤️", clock1: "🕐", books: "📚", mute: "🔇", speech_balloon: "💬",
  heavy_minus_sign: "➖", white_circle: "⚪", large_orange_circle: "🟠", large_blue_circle: "🔵", black_circle: "⚫", boom: "💥", bug: "🐛",
  zap: "⚡", construction: "🚧", gear: "⚙️", lock: "🔒", key: "🔑", pager: "📟", email: "📧", calendar: "📅", computer: "💻",
  snail: "🐌", turtle: "🐢", hourglass_flowing_sand: "⏳", stopwatch: "⏱️", no_entry_sign: "🚫", arrow_up: "⬆️", arrow_down: "⬇️",
  bar_chart: "📊", handshake: "🤝", thinking_face: "🤔", clap: "👏", sob: "😭", smile: "😄", sweat_smile: "😅", joy: "😂", "100": "💯",
};
export const emoji = (name) => EMOJI[name] ?? `:${name}:`;

/** An element with properties (`on…` are listeners, others attributes or `class`) and children (nodes or text). */
export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "class") node.className = value;
    else if (key === "href") { if (safeUrl(value)) node.href = value; }
    else if (["value", "checked", "disabled", "selected", "hidden"].includes(key)) node[key] = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return node;
}

export const safeUrl = (url) => /^(https?:|mailto:)/i.test(url);
export const unescape = (text) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

const TOKENS = new RegExp(
  [
    "```\\n?([\\s\\S]+?)```",
    "`([^`\\n]+)`",
    "<([^<>\\n]+)>",
    ":([a-z0-9_+'-]+):",
    "(?<![\\w*])\\*([^*\\n]+)\\*(?![\\w*])",
    "(?<![\\w_])_([^_\\n]+)_(?![\\w_])",
    "(?<![\\w~])~([^~\\n]+)~(?![\\w~])",
  ].join("|"),
  "g",
);

/** mrkdwn as nodes: bold, italic, strike, code, links, mentions, emoji, quotes, line breaks. */
export function mrkdwn(text, names) {
  const out = document.createDocumentFragment();
  const parts = String(text ?? "").split(/(```[\s\S]+?```)/);
  for (const part of parts) {
    if (part.startsWith("```") && part.length > 6) out.append(inline(part, names));
    else out.append(lines(part, names));
  }
  return out;
}

function lines(text, names) {
  const out = document.createDocumentFragment();
  let quote = null;
  text.split("\n").forEach((line, index) => {
    const quoted = /^(&gt;|>)\s?/.exec(line);
    if (quoted) {
      if (!quote) out.append((quote = h("blockquote")));
      else quote.append(h("br"));
      quote.append(inline(line.slice(quoted[0].length), names));
      return;
    }
    if (index > 0 && !quote) out.append(h("br"));
    quote = null;
    out.append(inline(line, names));
  });
  return out;
}

function inline(text, names) {
  const out = document.createDocumentFragment();
  let at = 0;
  for (const match of text.matchAll(TOKENS)) {
    out.append(unescape(text.slice(at, match.index)), token(match, names));
    at = match.index + match[0].length;
  }
  out.append(unescape(text.slice(at)));
  return out;
}

function token([whole, pre, code, angle, face, bold, italic, strike], names) {
  if (pre) return h("pre", {}, unescape(pre));
  if (code) return h("code", {}, unescape(code));
  if (angle) return reference(angle, names);
  if (face) return EMOJI[face] ?? whole;
  if (bold) return h("b", {}, inline(bold, names));
  if (italic) return h("i", {}, inline(italic, names));
  return h("s", {}, inline(strike, names));
}

function reference(content, names) {
  const [target, label] = split(content);
  if (target.startsWith("@")) return h("span", { class: "mention" }, `@${names.users[target.slice(1)] ?? label ?? target.slice(1)}`);
  if (target.startsWith("#")) return h("span", { class: "mention" }, `#${names.channels[target.slice(1)] ?? label ?? target.slice(1)}`);
  if (target.startsWith("!date")) return unescape(label ?? target);
  if (target.startsWith("!")) return h("span", { class: "mention" }, `@${label ?? target.slice(1).replace(/^subteam\^/, "")}`);
  const url = unescape(target);
  return safeUrl(url) ? link(url, unescape(label ?? target)) : unescape(`<${content}>`);
}

const split = (content) => {
  const bar = content.indexOf("|");
  return bar < 0 ? [content, undefined] : [content.slice(0, bar), content.slice(bar + 1)];
};

export const link = (url, ...label) => h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, ...label);

/** A text object: plain_text or mrkdwn. */
export function textObject(object, names) {
  if (!object) return "";
  if (object.type === "mrkdwn") return mrkdwn(object.text, names);
  const out = document.createDocumentFragment();
  object.text.split("\n").forEach((line, i) => {
    if (i) out.append(h("br"));
    out.append(line.replace(/:([a-z0-9_+'-]+):/g, (whole, name) => EMOJI[name] ?? whole));
  });
  return out;
}
