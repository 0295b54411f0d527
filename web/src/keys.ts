// Which key does what; the help page is made from the same table.

import { type Mode } from "./types";

export type Action =
  | "toggle" | "forward" | "back" | "start" | "end" | "faster" | "slower" | "loop" | "follow" | "front" | "side" | "top" | "iso" | "fit"
  | "color" | "names" | "inset" | "compare" | "difference" | "plots" | "charts" | "theme" | "help" | "picture" | "film" | "link" | "whole" | "lock" | "free" | "drive" | "reel" | "more" | "less" | "impulse" | "reset" | "record" | "newest" | "next" | "replay" | "forces";
/** What goes on while its key is held. */
export type HeldAction = "in" | "out" | "left" | "right";

export interface Binding {
  keys: string[]; // as in KeyboardEvent.key, letters small
  action: Action | HeldAction;
  label: string;
  where: "recorded" | "live" | "all";
}

export const BINDINGS: Binding[] = [
  { keys: [" "], action: "toggle", label: "play or pause", where: "recorded" },
  { keys: ["ArrowRight"], action: "forward", label: "one sample on", where: "recorded" },
  { keys: ["ArrowLeft"], action: "back", label: "one sample back", where: "recorded" },
  { keys: ["Home"], action: "start", label: "to the start", where: "recorded" },
  { keys: ["End"], action: "end", label: "to the end", where: "recorded" },
  { keys: ["+", "=", "ArrowUp"], action: "faster", label: "faster", where: "recorded" },
  { keys: ["-", "_", "ArrowDown"], action: "slower", label: "slower", where: "recorded" },
  { keys: ["l"], action: "loop", label: "loop", where: "recorded" },
  { keys: ["g"], action: "compare", label: "overlay or side by side (several runs)", where: "recorded" },
  { keys: ["d"], action: "difference", label: "differences from the first run", where: "recorded" },
  { keys: [" "], action: "toggle", label: "pause or go on", where: "live" },
  { keys: ["ArrowUp"], action: "in", label: "take rope in while held", where: "live" },
  { keys: ["ArrowDown"], action: "out", label: "pay rope out while held", where: "live" },
  { keys: ["ArrowLeft"], action: "left", label: "trolley or body to −x while held", where: "live" },
  { keys: ["ArrowRight"], action: "right", label: "trolley or body to +x while held", where: "live" },
  { keys: ["d"], action: "more", label: "more speed or torque (take in)", where: "live" },
  { keys: ["a"], action: "less", label: "less speed or torque (pay out)", where: "live" },
  { keys: ["j"], action: "next", label: "the next reel, for these keys", where: "live" },
  { keys: ["l"], action: "lock", label: "lock the drum", where: "live" },
  { keys: ["o"], action: "free", label: "free the drum", where: "live" },
  { keys: ["t"], action: "drive", label: "drive with the set torque", where: "live" },
  { keys: ["v"], action: "reel", label: "reel at the set speed", where: "live" },
  { keys: ["k"], action: "impulse", label: "apply an impulse to the body", where: "live" },
  { keys: ["+", "="], action: "faster", label: "faster", where: "live" },
  { keys: ["-", "_"], action: "slower", label: "slower", where: "live" },
  { keys: ["x"], action: "replay", label: "replay the last ten seconds", where: "live" },
  { keys: ["r"], action: "reset", label: "start again", where: "live" },
  { keys: ["e"], action: "record", label: "record on or off", where: "live" },
  { keys: ["n"], action: "newest", label: "back to the newest state", where: "live" },
  { keys: ["1"], action: "front", label: "view from the front", where: "all" },
  { keys: ["2"], action: "side", label: "view from the side", where: "all" },
  { keys: ["3"], action: "top", label: "view from above", where: "all" },
  { keys: ["4"], action: "iso", label: "oblique view", where: "all" },
  { keys: ["0"], action: "fit", label: "all in sight", where: "all" },
  { keys: ["f"], action: "follow", label: "follow the body, or the next one", where: "all" },
  { keys: ["z"], action: "forces", label: "forces as arrows, on or off", where: "all" },
  { keys: ["b"], action: "names", label: "names of bodies and lines on or off", where: "all" },
  { keys: ["i"], action: "inset", label: "close-up of a small body on or off", where: "all" },
  { keys: ["c"], action: "color", label: "next coloring of the lines", where: "all" },
  { keys: ["p"], action: "plots", label: "plots on or off", where: "all" },
  { keys: ["h"], action: "charts", label: "which charts, in which order", where: "all" },
  { keys: ["s"], action: "picture", label: "save a picture", where: "all" },
  { keys: ["y"], action: "film", label: "film, on or off", where: "all" },
  { keys: ["u"], action: "link", label: "copy a link to this view", where: "all" },
  { keys: ["w"], action: "whole", label: "whole screen", where: "all" },
  { keys: ["m"], action: "theme", label: "dark or light", where: "all" },
  { keys: ["?"], action: "help", label: "this help", where: "all" },
];

export function bindingsFor(mode: Mode): Binding[] {
  return BINDINGS.filter(({ where }) => where === "all" || (where === "live") === (mode === "live"));
}

export function actionOf(key: string, mode: Mode): Action | HeldAction | null {
  const name = key.length === 1 ? key.toLowerCase() : key;
  return bindingsFor(mode).find(({ keys }) => keys.includes(name))?.action ?? null;
}

const NAMES: Record<string, string> = { " ": "space", ArrowRight: "→", ArrowLeft: "←", ArrowUp: "↑", ArrowDown: "↓", "-": "−" };
const HIDDEN = ["=", "_"]; // the same physical keys without shift

export function keyNames({ keys }: Binding): string[] {
  return keys.filter((key) => !HIDDEN.includes(key)).map((key) => NAMES[key] ?? key);
}

/** Whether a focused control needs this key for itself. */
export function takenBy(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement && target.type === "range") return target.id !== "time" && /^(Arrow|Home|End|Page)/.test(key);
  if (target.matches("input, select, textarea")) return true;
  return target.matches("button, summary") && (key === " " || key === "Enter");
}

const HELD: string[] = ["in", "out", "left", "right"] satisfies HeldAction[];
const isHeld = (action: Action | HeldAction): action is HeldAction => HELD.includes(action);

export function listenToKeys(mode: Mode, act: (action: Action) => void, hold: (action: HeldAction, on: boolean) => void): void {
  const down = new Map<string, HeldAction>();
  const release = (key: string) => {
    const action = down.get(key);
    if (action) hold(action, false);
    down.delete(key);
  };
  window.addEventListener("keyup", (event) => release(event.key));
  window.addEventListener("blur", () => [...down.keys()].forEach(release));
  window.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || takenBy(event.target, event.key)) return;
    if (document.querySelector("dialog[open]") && event.key !== "?") return;
    const action = actionOf(event.key, mode);
    if (!action) return;
    event.preventDefault();
    if (!isHeld(action)) return act(action);
    if (down.has(event.key)) return;
    down.set(event.key, action);
    hold(action, true);
  });
  // A button keeps the focus after a click, and would then take the space bar; keyboard users press without a pointer.
  document.addEventListener("click", (event) => {
    const button = (event.target as Element).closest<HTMLElement>("button");
    if (event.detail > 0) button?.blur();
  });
}
