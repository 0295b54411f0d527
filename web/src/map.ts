// Tension along the lines over time, as colors: one column for each sample that is at hand, the start of a line at the top.

import { AXIS_FONT, LEFT, RIGHT } from "./chart";
import { Scale, shownRange } from "./colors";
import { between } from "./format";
import { type Layout, type Row } from "./layout";
import { css, theme } from "./palette";
import { Panel, type PlotEvents } from "./panel";
import { TimeArea } from "./timearea";
import { type Meta, type Range } from "./types";

export const MAP = { name: "map", label: "tension along the line over time", units: "1", floor: 0 };
export const COLUMNS = 400; // that are worth having
const GAP = 3; // px between two lines

export class TensionMap extends Panel {
  private readonly canvas = document.createElement("canvas");
  private readonly over = Object.assign(document.createElement("div"), { className: "map-over" });
  private readonly key = Object.assign(document.createElement("span"), { className: "map-key quiet" });
  private readonly hands: TimeArea;
  private rows: Row[] = [];

  /** Of the first run; `known`: tensions of all runs, as far as they are known beforehand. */
  constructor(private readonly meta: Meta, private readonly layout: Layout, private readonly full: Range, private readonly known: Range, events: PlotEvents) {
    super(MAP, events);
    this.over.style.left = `${LEFT}px`;
    this.over.style.right = `${RIGHT}px`;
    this.area.append(this.canvas, this.over);
    this.head.append(this.key);
    this.canvas.setAttribute("aria-hidden", "true");
    this.hands = new TimeArea(this.over, events, full, (time) => {
      const [from, to] = this.hands.range;
      return (this.over.clientWidth * (time - from)) / (to - from);
    });
  }

  /** Rows in the order of time. */
  setRows(rows: Row[]): void {
    this.rows = rows;
    this.redraw();
  }

  setRange(range: Range): void {
    this.hands.setRange(range);
    this.redraw();
  }

  setTime(time: number): void {
    this.hands.setTime(time);
  }

  setHover(time: number | null): void {
    this.hands.setHover(time);
  }

  redraw(): void {
    const brush = this.canvas.getContext("2d");
    const [width, height] = [this.area.clientWidth, this.area.clientHeight];
    if (!brush || width === 0 || height === 0) return;
    const ratio = window.devicePixelRatio;
    [this.canvas.width, this.canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    brush.scale(ratio, ratio);
    const scale = new Scale(shownRange(this.values()), theme());
    const whole = this.layout.strands.length;
    const band = (height - 8 - GAP * (whole - 1)) / whole;
    this.layout.strands.forEach((_, k) => {
      const top = 4 + k * (band + GAP);
      this.paint(brush, scale, k, top, band, width);
      this.label(brush, k, top, band);
    });
    const [low, high] = scale.range;
    this.key.textContent = between(low, high, "N", 3);
    const stops = [0, 0.25, 0.5, 0.75, 1].map((x) => scale.css(low + x * (high - low)));
    this.key.style.setProperty("--scale", `linear-gradient(90deg, ${stops.join(", ")})`);
    this.hands.setRange(this.hands.range);
  }

  /** Least and greatest tension in view: those of the legend where the whole run is. */
  private values(): Range {
    const whole = this.hands.range.every((time, i) => time === this.full[i]);
    let [low, high] = whole ? this.known : [Infinity, -Infinity];
    for (const row of this.rows)
      for (const strand of this.layout.strands)
        for (let e = 0; e < strand.elements; e++) {
          if (strand.isSlack(row, e)) continue;
          const x = strand.value(row, "tension", e);
          if (Number.isFinite(x)) [low, high] = [Math.min(low, x), Math.max(high, x)];
        }
    return low <= high ? [low, high] : [0, 1];
  }

  private paint(brush: CanvasRenderingContext2D, scale: Scale, k: number, top: number, band: number, width: number): void {
    const [from, to] = this.hands.range;
    const place = (time: number) => LEFT + ((width - LEFT - RIGHT) * (time - from)) / (to - from);
    const strand = this.layout.strands[k];
    brush.save();
    brush.beginPath();
    brush.rect(LEFT, top, width - LEFT - RIGHT, band);
    brush.clip();
    this.rows.forEach((row, i) => {
      const [before, after] = [this.rows[i - 1] ?? row, this.rows[i + 1] ?? row];
      const [left, right] = [place(0.5 * (before[0] + row[0])), place(0.5 * (row[0] + after[0]))];
      if (right < LEFT || left > width) return;
      for (let e = 0; e < strand.elements; e++) {
        brush.fillStyle = scale.css(strand.isSlack(row, e) ? null : strand.value(row, "tension", e));
        brush.fillRect(left, top + (band * e) / strand.elements, right - left + 0.7, band / strand.elements + 0.7);
      }
    });
    brush.restore();
  }

  private label(brush: CanvasRenderingContext2D, k: number, top: number, band: number): void {
    const { name, ends, reel } = this.meta.lines[k];
    brush.font = AXIS_FONT;
    if (this.meta.lines.length > 1) return this.inside(brush, name, top, band);
    brush.fillStyle = css("text-dim");
    brush.textAlign = "right";
    brush.fillText(reel ? "guide" : "start", LEFT - 5, top + 9);
    brush.fillText(ends[1] === null ? "end" : "body", LEFT - 5, top + band - 1);
  }

  /** A name over its band, in full: beside it there is no room for long ones. */
  private inside(brush: CanvasRenderingContext2D, name: string, top: number, band: number): void {
    const wide = brush.measureText(name).width;
    const middle = top + 0.5 * band;
    brush.globalAlpha = 0.8;
    brush.fillStyle = css("panel");
    brush.fillRect(LEFT + 4, middle - 7, wide + 8, 14);
    brush.globalAlpha = 1;
    brush.fillStyle = css("text");
    brush.textAlign = "left";
    brush.fillText(name, LEFT + 8, middle + 4);
  }

  protected resize(): void {
    this.redraw();
  }
}
