// The overlay with the keys.

import { bindingsFor, keyNames } from "./keys";
import { get } from "./notices";
import { type Mode } from "./types";

const MOUSE =
  "In the scene, drag turns, the wheel zooms, a drag with the right button shifts; arrow keys and plus and minus do so while it has the focus. " +
  "In a plot, pointing tells values, a click goes to that time, a drag zooms all plots, as do the wheel with Ctrl or Shift and two fingers, a double-click shows all; " +
  "the time line can be dragged, a click on a name hides its line, and a double-click beside it opens a plot in which nothing happens.";
const HAND = " A body is pulled by dragging it. A gamepad's right stick winds the reel, its left one moves the body.";

export function prepareHelp(mode: Mode): () => void {
  const dialog = get<HTMLDialogElement>("help");
  const header = document.createElement("header");
  const close = Object.assign(document.createElement("button"), { className: "button icon", textContent: "×" });
  close.setAttribute("aria-label", "Close");
  close.addEventListener("click", () => dialog.close());
  header.append(Object.assign(document.createElement("h2"), { textContent: "Keys and mouse" }), close);
  const list = document.createElement("dl");
  for (const binding of bindingsFor(mode)) {
    const keys = document.createElement("dt");
    keyNames(binding).forEach((name, i) => keys.append(i > 0 ? " " : "", Object.assign(document.createElement("kbd"), { textContent: name })));
    list.append(keys, Object.assign(document.createElement("dd"), { textContent: binding.label }));
  }
  dialog.append(header, list, Object.assign(document.createElement("p"), { textContent: mode === "live" ? MOUSE + HAND : MOUSE }));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close()); // beside the dialog
  return () => (dialog.open ? dialog.close() : dialog.showModal());
}
