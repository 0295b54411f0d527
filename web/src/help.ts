// The overlay with the keys.

import { bindingsFor, keyNames } from "./keys";
import { get } from "./notices";
import { type Mode } from "./types";

const MOUSE = "In the scene, drag turns, the wheel zooms, a drag with the right button shifts. In a plot, a click goes to that time, a drag zooms all plots, a double-click shows all; the time line can be dragged, and a click on a name hides its line.";

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
  dialog.append(header, list, Object.assign(document.createElement("p"), { textContent: MOUSE }));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close()); // beside the dialog
  return () => (dialog.open ? dialog.close() : dialog.showModal());
}
