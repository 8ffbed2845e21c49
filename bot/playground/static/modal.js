// Modals, the Home tab, and the question before a press that asks for one.
import { blocks } from "./blocks.js";
import { icon } from "./icons.js";
import { $, act, here, seen } from "./page.js";
import { h, textObject } from "./text.js";

const drafts = new Map();
const words = (object) => textObject(object, seen.names);

export function confirmed(e, run) {
  if (!e.confirm) return run();
  return ask({
    title: words(e.confirm.title), text: words(e.confirm.text), no: words(e.confirm.deny), yes: words(e.confirm.confirm),
    style: e.confirm.style, run,
  });
}

/** A question with two answers; `run` is done on yes. */
export function ask({ title, text, no = "Cancel", yes, style = "primary", run }) {
  const box = $("confirm");
  const close = (sure) => { box.close(); if (sure) run(); };
  box.replaceChildren(h("h2", { id: "confirmtitle" }, title), h("p", {}, text),
    h("div", { class: "buttons" },
      h("button", { type: "button", class: "btn", onclick: () => close(false) }, no),
      h("button", { type: "button", class: `btn ${style}`, onclick: () => close(true) }, yes)));
  return box.showModal();
}

function viewContext(view, home) {
  if (!drafts.has(view.id)) drafts.set(view.id, new Map());
  return {
    names: seen.names, draft: drafts.get(view.id), errors: home ? {} : seen.state.errors, place: view.id,
    act: (e, block, choice) => confirmed(e, async () => {
      if (!home) await act("fill", { values: typed(view), user: here.user }, true);
      await act("click_view", { action_id: e.action_id, choice, user: here.user, home });
    }),
  };
}

export function drawHome() {
  const view = seen.state.home;
  if ($("home").dataset.hash === (view?.hash ?? "none")) return;
  $("home").dataset.hash = view?.hash ?? "none";
  $("home").replaceChildren(...(view ? blocks(view.blocks, viewContext(view, true)) : [h("p", { class: "empty" }, "Nothing here yet.")]));
}

// A modal is drawn again only when the view or its errors change: what is being typed stays.
export function drawModal() {
  const box = $("modal");
  const view = seen.state.modals.at(-1);
  if (!view) {
    if (box.open) box.close();
    box.replaceChildren();
    box.dataset.print = "";
    return;
  }
  const print = view.hash + JSON.stringify(seen.state.errors) + seen.state.notice;
  if (box.dataset.print === print && box.open) return;
  const again = box.dataset.view === view.id && box.open;
  const top = again ? box.querySelector(".body").scrollTop : 0;
  box.dataset.print = print;
  box.dataset.view = view.id;
  fill(box, view);
  // While the story is told its buttons must stay in reach: then the modal leaves the rest of the page alive.
  if (!box.open) document.body.classList.contains("telling") ? box.show() : box.showModal();
  box.querySelector(".body").scrollTop = top;
  box.querySelector("[aria-invalid=true]")?.focus();
}

function fill(box, view) {
  const back = seen.state.modals.length > 1;
  box.replaceChildren(h("form", { method: "dialog", onsubmit: (event) => { event.preventDefault(); submit(view); } },
    h("header", {}, h("h2", { id: "modaltitle" }, words(view.title)),
      h("button", { type: "button", class: "plain", "aria-label": "Close", onclick: () => close(true) }, icon("close"))),
    h("div", { class: "body", tabindex: "0", role: "group", "aria-labelledby": "modaltitle" },
      seen.state.notice && h("div", { class: "error", role: "alert" }, seen.state.notice), blocks(view.blocks, viewContext(view, false))),
    h("footer", { class: "buttons" },
      h("button", { type: "button", class: "btn", onclick: () => close(false) }, view.close ? words(view.close) : back ? "Back" : "Cancel"),
      view.submit && h("button", { type: "submit", class: "btn primary" }, words(view.submit)))));
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
  await act("submit_view", { values: typed(view), user: here.user }, true);
  if (button) button.disabled = false;
}

const close = (clear) => act("close_view", { user: here.user, clear });
$("modal").addEventListener("cancel", (event) => { event.preventDefault(); close(false); });
