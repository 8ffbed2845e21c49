// Small pictures as SVG nodes: no font, no file and no markup is needed for them.
const PATHS = {
  lock: "M5 7V5a3 3 0 0 1 6 0v2M4 7h8v6H4z",
  shared: "M2 5h11l-3-3M14 11H3l3 3",
  hash: "M6 2 4 14M12 2l-2 12M2.5 6h11M2 10h11",
  home: "M2 8l6-6 6 6M4 7v7h3v-4h2v4h3V7",
  mail: "M2 4h12v9H2zM2 4l6 5 6-5",
  eye: "M1 8s2.5-4.5 7-4.5S15 8 15 8s-2.5 4.5-7 4.5S1 8 1 8zM8 6.2a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6z",
  more: "M3 8h.01M8 8h.01M13 8h.01",
  close: "M4 4l8 8M12 4l-8 8",
  menu: "M2 4h12M2 8h12M2 12h12",
  play: "M5 3l8 5-8 5z",
  pause: "M5.5 3v10M10.5 3v10",
  stop: "M4 4h8v8H4z",
  next: "M4 3l6 5-6 5zM12.5 3v10",
  reset: "M3 8a5 5 0 1 0 1.5-3.5M4.5 1.5v3h3",
  memory: "M8 2c3 0 5 1 5 2.5S11 7 8 7 3 6 3 4.5 5 2 8 2zM3 4.5v7C3 13 5 14 8 14s5-1 5-2.5v-7M3 8c0 1.500 2 2.500 5 2.500s5-1 5-2.500",
  traffic: "M2 5h11l-2.500-3M14 11H3l2.500 3",
  theme: "M8 2a6 6 0 1 0 6 6 4.500 4.500 0 0 1-6-6z",
  send: "M2 8l12-6-4 12-3-5zM7 9l7-7",
  reply: "M2 3h12v8H7l-3 3v-3H2z",
  clock: "M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2zM8 5v3l2.500 1.500",
};
const SVG = document.getElementById("blank").namespaceURI;

export function icon(name) {
  const node = document.createElementNS(SVG, "svg");
  const path = document.createElementNS(SVG, "path");
  for (const [key, value] of Object.entries({ viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true", focusable: "false" })) {
    node.setAttribute(key, value);
  }
  path.setAttribute("d", PATHS[name]);
  node.append(path);
  return node;
}

/** Icons for the markup of the page: `data-icon` names one, put before the text. */
export function hangIcons(root) {
  for (const node of root.querySelectorAll("[data-icon]")) node.prepend(icon(node.dataset.icon));
}
