// The color scale of the lines: which quantity, over which range, and the card that tells it.

import { Scale, shownRange, slackColor, union } from "./colors";
import { number, prefixed } from "./format";
import { type Layout, type Quantity, type Row } from "./layout";
import { get } from "./notices";
import { onTheme, theme } from "./palette";
import { type Meta, type Range } from "./types";

const UNITS: Record<Quantity, string> = { tension: "N", strain: "%", energy_density: "J/m" };
export const QUANTITIES = Object.keys(UNITS) as Quantity[];
export const FIRST: Quantity = "tension";
const LETTERS = 20; // that fit below the bar
/** Of the whole run, from zero, of the moment in view, or as typed. */
export type Span = "run" | "zero" | "now" | "own";
const SPANS: Span[] = ["run", "zero", "now", "own"];

type Seen = { row: Row; layout: Layout };
type Ranges = Record<Quantity, Range>;

export class Legend {
  quantity: Quantity = FIRST;
  span: Span = "run";
  own: Range = [0, 1];
  scale = new Scale([0, 0], theme());
  private whole: Ranges = { strain: [0, 0], tension: [0, 0], energy_density: [0, 0] };
  private moment: Range = [0, 0];
  private seen: Seen[] = [];
  private readonly color = get<HTMLSelectElement>("color");
  private readonly spans = get<HTMLSelectElement>("range");
  private readonly fields = [get<HTMLInputElement>("range-low"), get<HTMLInputElement>("range-high")];

  /** `changed`: the scale is another one. */
  constructor(private readonly changed: () => void) {
    this.color.addEventListener("change", () => this.colorBy(this.color.value as Quantity));
    this.spans.addEventListener("change", () => this.showSpan(this.spans.value as Span));
    for (const field of this.fields) field.addEventListener("change", () => this.setOwn(this.fields.map(({ valueAsNumber }) => valueAsNumber * this.unit[0]) as Range));
    onTheme(() => this.rescale());
  }

  open(metas: Meta[]): void {
    get("legend-slack").hidden = metas.every(({ lines }) => lines.every(({ slackens }) => !slackens));
    for (const quantity of QUANTITIES) this.whole[quantity] = metas.map((meta) => meta.ranges[quantity]).reduce(union);
    this.rescale();
  }

  next(): void {
    this.colorBy(QUANTITIES[(QUANTITIES.indexOf(this.quantity) + 1) % QUANTITIES.length]);
  }

  colorBy(quantity: Quantity): void {
    if (!QUANTITIES.includes(quantity)) return;
    this.quantity = this.color.value = quantity;
    if (this.span === "own") this.span = "run"; // typed numbers were of another quantity
    if (this.seen.length > 0) this.moment = this.rangeOf(this.seen, quantity);
    this.rescale();
  }

  showSpan(span: Span): void {
    if (!SPANS.includes(span)) return;
    if (this.seen.length > 0) this.moment = this.rangeOf(this.seen, this.quantity);
    if (span === "own" && this.span !== "own") this.own = this.scale.range;
    this.span = span;
    this.rescale();
  }

  setOwn([low, high]: Range): void {
    if (!(high > low)) return this.rescale();
    this.own = [low, high];
    this.span = "own";
    this.rescale();
  }

  /** What is in view now. */
  see(rows: Seen[]): void {
    this.seen = rows;
    if (this.span !== "now") return;
    const before = this.moment.join();
    this.moment = this.rangeOf(rows, this.quantity);
    if (this.moment.join() !== before) this.rescale();
  }

  /** Ranges of a run that goes on. */
  setRanges(ranges: Ranges): void {
    if (JSON.stringify(ranges) === JSON.stringify(this.whole)) return;
    this.whole = { ...ranges };
    this.rescale();
  }

  private rangeOf(rows: { row: Row; layout: Layout }[], quantity: Quantity): Range {
    let [low, high] = [Infinity, -Infinity];
    for (const { row, layout } of rows)
      for (const strand of layout.strands)
        for (let e = 0; e < strand.elements; e++) {
          if (strand.isSlack(row, e)) continue;
          const x = strand.value(row, quantity, e);
          [low, high] = [Math.min(low, x), Math.max(high, x)];
        }
    return low <= high ? [low, high] : this.whole[quantity];
  }

  private get range(): Range {
    const [low, high] = this.whole[this.quantity];
    if (this.span === "own") return this.own;
    if (this.span === "now") return this.moment[1] > this.moment[0] ? this.moment : [low, high];
    return this.span === "zero" ? [Math.min(low, 0), Math.max(high, 0)] : shownRange([low, high]);
  }

  private rescale(): void {
    this.scale = new Scale(this.range, theme());
    const [low, high] = this.scale.range;
    const bar = get<HTMLCanvasElement>("legend-bar");
    const brush = bar.getContext("2d");
    for (let x = 0; brush && x < bar.width; x++) {
      brush.fillStyle = this.scale.css(low + ((high - low) * x) / (bar.width - 1));
      brush.fillRect(x, 0, 1, bar.height);
    }
    const zero = get("legend-zero");
    zero.hidden = !(low < 0 && high > 0);
    zero.style.left = `${(100 * -low) / (high - low)}%`;
    get("legend-numbers").replaceChildren(...this.texts().map((textContent) => Object.assign(document.createElement("span"), { textContent })));
    this.spans.value = this.span;
    get("own-range").hidden = this.span !== "own";
    get("legend-slack").style.setProperty("--slack", slackColor(theme()));
    this.fields.forEach((field, i) => (field.value = String(Number((this.scale.range[i] / this.unit[0]).toPrecision(4)))));
    this.changed();
  }

  /** In which the ends of the scale are written. */
  private get unit(): [number, string] {
    return prefixed(Math.max(...this.scale.range.map(Math.abs)), UNITS[this.quantity]);
  }

  /** Numbers below the bar: its ends, and what lies between them if it fits. */
  private texts(): string[] {
    const [low, high] = this.scale.range;
    const [size, unit] = this.unit;
    const texts = (high > low ? [low, 0.5 * (low + high), high] : [low]).map((x) => number(x / size, 3));
    if (unit) texts[texts.length - 1] += ` ${unit}`;
    if (texts.join(" ").length > LETTERS) texts.splice(1, 1); // the middle one is the least missed
    return texts;
  }

  /** What the card says, for a picture. */
  get caption(): string[] {
    return [this.color.selectedOptions[0]?.textContent ?? "", ...this.texts()];
  }
}
