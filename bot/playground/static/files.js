// Files of a message: pictures are shown, texts begin to be; both are the local server's own.
import { h } from "./text.js";

const own = (f) => new URL(f.url_private).pathname;

export function files(list) {
  return (list ?? []).map((f) =>
    h("div", { class: "file" },
      h("div", { class: "name" }, f.title || f.name),
      f.mimetype === "image/png"
        ? h("img", { src: own(f), alt: f.alt_txt ?? "", loading: "lazy" })
        : f.preview && h("pre", {}, f.preview),
      h("a", { href: new URL(own(f), location.origin).href, target: "_blank", rel: "noopener noreferrer" }, f.name)));
}
