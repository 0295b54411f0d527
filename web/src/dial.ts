// A slider with marks and a number beside it: what a drum is told, in newton meters or meters a second.

import { number, roundUp } from "./format";
import { throttle } from "./throttle";
import { type Range } from "./types";

const SEND_EVERY = 30; // ms, while a slider moves
const KEY_STEPS = 50; // of the keys, over the whole range
const FINEST = 1000; // parts of the range that a slider tells apart

/** Where the slider goes and what its marks are; the number beside it may go as far as `limits`. */
export interface Scope {
  unit: string;
  label: string;
  limits: Range;
  range: Range;
  marks: { at: number; text: string }[];
}

export class Dial {
  readonly element = document.createElement("div");
  readonly field = document.createElement("input");
  readonly unit = document.createElement("span");
  private readonly slider = document.createElement("input");
  private readonly marks = document.createElement("div");
  private scope: Scope = { unit: "", label: "", limits: [-1, 1], range: [-1, 1], marks: [] };
  private current = 0;
  private readonly send: (value: number) => void;

  constructor(private readonly touched: () => void, send: (value: number) => void) {
    this.element.className = "dial";
    this.slider.type = "range";
    this.slider.step = this.field.step = "any";
    this.slider.title = "a and d, or arrow keys; double-click: none";
    this.field.type = "number";
    this.unit.className = "quiet unit";
    this.marks.className = "marks";
    this.marks.setAttribute("aria-hidden", "true");
    this.element.append(this.slider, this.marks);
    this.send = throttle<number>(SEND_EVERY, send);
    this.slider.addEventListener("input", () => this.set(this.rounded(Number(this.slider.value))));
    this.slider.addEventListener("dblclick", () => this.set(0));
    this.field.addEventListener("change", () => this.set(this.field.valueAsNumber));
    // Enter in a field means "take it": give the keys back to the page
    this.field.addEventListener("keydown", (event) => event.key === "Enter" && this.field.blur());
  }

  name(id: string): void {
    [this.slider.id, this.field.id] = [id, `${id}-number`];
    for (const input of [this.slider, this.field]) input.dataset.testid = input.id;
  }

  setScope(scope: Scope): void {
    this.scope = scope;
    [this.slider.min, this.slider.max] = scope.range.map(String);
    [this.field.min, this.field.max] = scope.limits.map(String);
    this.unit.textContent = scope.unit;
    this.slider.setAttribute("aria-label", scope.label);
    this.field.setAttribute("aria-label", scope.label);
    const [low, high] = scope.range;
    const inside = scope.marks.filter(({ at }) => at >= low && at <= high);
    this.marks.replaceChildren(
      ...inside.map(({ at, text }) => {
        const mark = Object.assign(document.createElement("span"), { textContent: text });
        mark.style.setProperty("--at", String((at - low) / (high - low)));
        return mark;
      }),
    );
  }

  get value(): number {
    return this.current;
  }

  nudge(steps: number): void {
    const [low, high] = this.scope.range;
    this.set(this.rounded(this.value + (steps * (high - low)) / KEY_STEPS));
  }

  show(value: number): void {
    this.current = value;
    this.slider.value = String(value);
    if (document.activeElement !== this.field) this.field.value = String(Number(value.toPrecision(4))); // not while one types
    this.slider.setAttribute("aria-valuetext", `${number(value, 3)} ${this.scope.unit}`);
  }

  set(value: number): void {
    if (!Number.isFinite(value)) return;
    const [low, high] = this.scope.limits;
    const kept = Math.min(Math.max(value, low), high);
    this.show(kept);
    this.touched();
    this.send(kept);
  }

  /** To short numbers, among them the marks: a hand on a slider or a key means no more digits. */
  private rounded(value: number): number {
    const [low, high] = this.scope.range;
    const near = this.scope.marks.find(({ at }) => Math.abs(at - value) < 0.008 * (high - low));
    if (near) return near.at;
    const step = roundUp((high - low) / FINEST);
    return Number((Math.round(value / step) * step).toPrecision(12)) || 0;
  }
}
