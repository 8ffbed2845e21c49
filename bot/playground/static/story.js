// The payment outage, told in two minutes by pressing what a person would press. It can be paused, stepped and stopped;
// whoever asks for less motion gets it step by step. `?pace=5` plays it five times as fast.
import { icon } from "./icons.js";
import { ask } from "./modal.js";
import { $, act, calm, go, here, seen, toast } from "./page.js";

const PATIENCE_MS = 20_000;
const pace = Number(new URLSearchParams(location.search).get("pace")) || 1;
let run = null;

class Stopped extends Error {}

/** One telling. Paused, it acts no further; `free`: this step may be carried out all the same, since "Next" asked for it. */
function telling() {
  return { paused: calm(), free: calm(), stopped: false, skip: false };
}

const after = (ms) => new Promise((done) => setTimeout(done, ms));

async function turn() {
  while (run.paused && !run.free && !run.stopped) await after(40);
  if (run.stopped) throw new Stopped();
}

/** Waits as long as the text needs to be read; "Next" ends it, a pause holds it. */
async function rest(seconds) {
  let left = (seconds * 1000) / pace;
  while ((left > 0 || run.paused) && !run.skip && !run.stopped) {
    await after(40);
    if (!run.paused) left -= 40;
  }
  run.skip = false;
  await turn();
}

async function until(find, what) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    await turn();
    const found = find();
    if (found) return found;
    if (Date.now() > end) throw new Error(`${what} did not come`);
    await after(40);
  }
}

async function point(find, what, ms = 900) {
  const node = await until(find, what);
  document.querySelector(".pointed")?.classList.remove("pointed");
  node.classList.add("pointed");
  node.scrollIntoView({ block: "nearest", behavior: calm() ? "auto" : "smooth" });
  await after(ms / pace);
  await turn();
  return until(find, what);
}

async function press(find, what) {
  (await point(find, what)).click();
  document.querySelector(".pointed")?.classList.remove("pointed");
}

async function choose(find, text) {
  const node = await point(find, text, 500);
  const option = [...node.options].find((o) => o.value === text || o.textContent.includes(text));
  if (!option) throw new Error(`There is no choice “${text}”`);
  node.value = option.value;
  node.dispatchEvent(new Event("change", { bubbles: true }));
}

async function type(find, text) {
  const node = await point(find, "an input", 300);
  for (let length = calm() ? text.length : 1; length <= text.length; length += 1) {
    node.value = text.slice(0, length);
    await after(35 / pace);
    await turn();
  }
  node.dispatchEvent(new Event("input", { bubbles: true }));
}

// ---- what the story touches

const button = (root, text) => () => [...document.querySelectorAll(`${root} button`)].filter((b) => b.textContent.trim() === text && !b.disabled).at(-1);
const reply = (text) => () => [...document.querySelectorAll("#replies .message")].filter((m) => m.textContent.includes(text)).at(-1);
const part = (text) => () => [...document.querySelectorAll("#replies .message:last-child .block, #replies .block")].filter((b) => b.textContent.includes(text)).at(-1);
const field = (label, kind) => () => [...document.querySelectorAll("#modal .b-input")].find((b) => b.querySelector(".name")?.textContent.startsWith(label))?.querySelector(kind);
const sample = async (name) => {
  if ($("channel").offsetParent === null) go(here.channel);  // on a phone the thread lies over the channel
  await until(() => $("channel").offsetParent !== null, "The channel");
  await choose(() => $("sample"), name);
  await press(button("#samples", "Post alert"), "the button");
};

async function actAs(name) {
  const person = seen.state.people.find((p) => p.real_name.startsWith(name));
  if (person) await choose(() => $("actas"), person.id);
  await until(() => here.user === person?.id, name);
}

async function openThread() {
  const before = here.thread;
  await press(() => [...document.querySelectorAll("#messages .replies")].at(-1), "The brief");
  await until(() => here.thread && here.thread !== before && reply("RESOLUTION STEPS")(), "The brief");
}

const ALERT = "payment-gateway-504";
const FIX = "Open the razorpay circuit breaker";
const WRONG = "Restart payments-api";

const STEPS = [
  ["Monday", "Jonas is on call, #alerts is quiet.", 4, async () => {
    go(seen.state.channels.find((c) => c.name === "alerts").id);
    await actAs("Jonas");
  }],
  ["+1 min", "One payment in three fails. Alertmanager posts into the channel, as it always did.", 4, () => sample(ALERT)],
  ["+1 min", "The bot has answered in the thread. The first line is all that a phone shows at night: is it us, and what worked.", 9, async () => {
    await openThread();
    await point(() => $("replies").querySelector(".message:last-child .block"), "The verdict", 200);
  }],
  ["+2 min", "The steps that worked before, with how often and when last. No model wrote this: every number is counted from records.", 8,
    () => point(part("RESOLUTION STEPS"), "The steps", 200)],
  ["+2 min", "What wasted time, and what did not work. A restart never helped.", 6, () => point(part("DID NOT WORK"), "What did not work", 200)],
  ["+4 min", "A wrong turn: Jonas restarts payments-api all the same. It does not help, and he says so.", 4, () => press(button("#replies", "Record…"), "Record…")],
  ["+19 min", "He is in a hurry and leaves out the first question. The modal keeps what he typed.", 6, async () => {
    await choose(field("What fixed it?", "select"), "Something else");
    await type(field("What was done", "textarea"), WRONG);
    await press(button("#modal", "Record"), "Record");
    await until(() => document.querySelector("#modal .error"), "The error");
  }],
  ["+19 min", "“No”, it did not fix it. That is memory too: the next one on call will read it.", 6, async () => {
    await choose(field("Did it fix it?", "select"), "no");
    await press(button("#modal", "Record"), "Record");
    await until(() => !$("modal").open, "The record");
    await point(() => [...document.querySelectorAll("#replies .message")].at(-1), "The note", 200);
  }],
  ["+28 min", "Then what the brief said first: captures go to the other gateway. They recover. He chooses it from the fixes that are known.", 7, async () => {
    const notes = document.querySelectorAll("#replies .message").length;
    await press(button("#replies", "Record…"), "Record…");
    await choose(field("Did it fix it?", "select"), "recovered");
    await choose(field("What fixed it?", "select"), FIX);
    await choose(field("Where was the fault", "select"), "vendor");
    await press(button("#modal", "Record"), "Record");
    await until(() => !$("modal").open && document.querySelectorAll("#replies .message").length > notes, "The record");
    await point(() => [...document.querySelectorAll("#replies .message")].at(-1), "The note", 200);
  }],
  ["+40 min", "Alertmanager says that it is over. That alone would have taught the bot nothing: an alert that cleared is not a fix that worked.", 7,
    () => sample(`${ALERT}-resolved`)],
  ["Thursday", "Three in the morning, the same alert. Now Maya is on call, and she was not there on Monday.", 6, async () => {
    await act("later", { hours: 72 });
    await actAs("Maya");
    const old = document.querySelectorAll("#messages .replies").length;
    await sample(ALERT);
    await until(() => document.querySelectorAll("#messages .replies").length > old, "The brief");
  }],
  ["Thursday", "The brief counts Monday: the same fix once more, and who did it.", 9, async () => {
    await openThread();
    await point(part("RESOLUTION STEPS"), "The steps", 200);
  }],
  ["Thursday", "And nobody restarts payments-api this time.", 6, () => point(part("DID NOT WORK"), "What did not work", 200)],
  ["", "That is all there is to it. Your turn: post another alert, switch memory off, look at the traffic.", 6, async () => {}],
];

async function tell(reset) {
  run = telling();
  show(true);
  try {
    if (seen.state.messages.length || seen.state.switches.hours_later || !seen.state.switches.memory) {
      say("", "Everything is put back to the beginning…", 0);
      if (!(await reset())) throw new Error("The reset failed");
      await until(() => seen.state.bot.connected && seen.state.messages.length === 0, "The bot");
    }
    for (const [number, [clock, text, seconds, deed]] of STEPS.entries()) {
      say(clock, text, (number + 1) / STEPS.length);
      if (number && !run.paused) await rest(1.5);
      await deed();
      await rest(seconds);
    }
  } catch (problem) {
    if (!(problem instanceof Stopped)) toast(`The story stops here: ${problem.message}`);
  } finally {
    document.querySelector(".pointed")?.classList.remove("pointed");
    show(false);
    run = null;
  }
}

function say(clock, text, done) {
  $("storyclock").textContent = clock;
  $("storytext").textContent = text;
  $("storydone").value = done;
}

function show(on) {
  $("story").hidden = !on;
  $("storystart").disabled = on;
  document.body.classList.toggle("telling", on);
  if (on) { drawPause(); $("storypause").focus({ preventScroll: true }); } else $("storystart").focus({ preventScroll: true });
}

function drawPause() {
  const paused = Boolean(run?.paused);
  $("storypause").replaceChildren(icon(paused ? "play" : "pause"), paused ? "Continue" : "Pause");
}

function pause(paused) {
  if (!run) return;
  Object.assign(run, { paused, free: false });
  drawPause();
}

export function readyStory(reset) {
  $("storystart").addEventListener("click", () => {
    if (run) return;
    if (!seen.state.messages.length) { tell(reset); return; }
    ask({ title: "Play the payment outage?", text: "It starts from the beginning: messages and what the bot learnt here are thrown away.", yes: "Play", run: () => tell(reset) });
  });
  $("storypause").addEventListener("click", () => pause(!run?.paused));
  $("storynext").addEventListener("click", () => { if (run) Object.assign(run, { skip: true, free: true }); });
  $("storystop").addEventListener("click", () => { if (run) run.stopped = true; });
  document.addEventListener("keydown", (event) => { if (run && event.key === "Escape") pause(true); });
  // Whoever takes the mouse has the page to themselves until they continue.
  document.addEventListener("pointerdown", (event) => {
    if (run && event.isTrusted && !$("story").contains(event.target)) pause(true);
  });
}
