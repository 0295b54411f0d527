// Tension along the lines at the current time.

import uPlot from "uplot";
import { padded, ticks } from "./axis";
import { union } from "./colors";
import { prefixed } from "./format";
import { AXIS_FONT, LEFT, RIGHT } from "./chart";
import { type Layout, type Row } from "./layout";
import { DASHES, LETTERS, type Style, styleOf, swatch } from "./lines";
import { css } from "./palette";
import { Panel, type PlotEvents } from "./panel";
import { type Meta, type Range } from "./types";

const EVERY = 80; // ms between two drawings
export const ALONG = { name: "along", label: "tension along the line, now", units: "N", floor: 0 };

/** Least and greatest tension of all runs. */
export function tensionsOf(metas: Meta[]): Range {
  return metas.map(({ ranges }) => ranges.tension).reduce(union);
}

/** A line of a run: which, and how it is drawn. */
interface Piece {
  run: number;
  strand: number;
  style: Style;
}

export class Along extends Panel {
  private readonly pieces: Piece[];
  private readonly note = Object.assign(document.createElement("span"), { className: "axis-note" });
  private readonly uplot: uPlot;
  private rows: (Row | null)[];
  private drawnAt = 0;
  private stale = false;
  private span: Range; // of tension, grown where it was too little: axes that jump cannot be read

  constructor(metas: Meta[], private readonly layouts: Layout[], events: PlotEvents) {
    super(ALONG, events);
    this.rows = metas.map(() => null);
    this.span = tensionsOf(metas);
    this.pieces = metas.flatMap((meta, run) => meta.lines.map((_, strand) => ({ run, strand, style: styleOf(strand, run, metas.length) })));
    for (const { run, strand, style } of this.pieces) {
      const text = [metas.length > 1 ? LETTERS[run] : "", metas[run].lines.length > 1 ? metas[run].lines[strand].name : ""].filter(Boolean).join(" ");
      if (!text) continue;
      const entry = Object.assign(document.createElement("span"), { className: "series" });
      entry.append(swatch(style), text);
      this.head.append(entry);
    }
    this.uplot = new uPlot(this.options(), [[], ...this.pieces.map(() => [])] as uPlot.AlignedData, this.area);
    this.area.append(this.note);
  }

  setRow(run: number, row: Row): void {
    if (this.rows[run] === row) return;
    this.rows[run] = row;
    this.stale = true;
  }

  /** Called for every picture. */
  setTime(): void {
    const now = performance.now();
    if (!this.stale || now - this.drawnAt < EVERY || this.area.clientHeight === 0) return;
    this.drawnAt = now;
    this.stale = false;
    this.uplot.setData(this.data());
  }

  setRange(): void {}

  setHover(): void {}

  redraw(): void {
    this.uplot.redraw(false);
  }

  /** Steps from the start of each line to its end, over the unstretched length that is out. */
  private data(): uPlot.AlignedData {
    const all = this.pieces.map(({ run, strand }) => {
      const [row, of] = [this.rows[run], this.layouts[run].strands[strand]];
      const points = new Map<number, number>();
      if (!row) return points;
      const element = (of.length - of.keptLength(row)) / of.elements;
      for (let e = 0; e < of.elements; e++) points.set((e + 0.5) * element, of.value(row, "tension", e));
      // a single point is no curve
      if (of.elements === 1) for (const x of [0, element]) points.set(x, of.value(row, "tension", 0));
      return points;
    });
    const xs = [...new Set(all.flatMap((points) => [...points.keys()]))].sort((a, b) => a - b);
    return [xs, ...all.map((points) => xs.map((x) => points.get(x)))] as uPlot.AlignedData;
  }

  private options(): uPlot.Options {
    const grid = { stroke: () => css("plot-grid"), width: 1 };
    const axis = { stroke: () => css("text-dim"), font: AXIS_FONT, gap: 3, grid, ticks: { ...grid, size: 4 } };
    return {
      width: 300,
      height: 120,
      legend: { show: false },
      padding: [8, RIGHT, 0, 0],
      cursor: { show: false },
      scales: {
        x: { time: false, range: (_, __, high) => [0, high || 1] },
        y: {
          range: (_, low, high) => {
            if (low !== null && high !== null) this.span = [Math.min(low, this.span[0]), Math.max(high, this.span[1])];
            return padded(...this.span);
          },
        },
      },
      axes: [
        { ...axis, size: 32, space: 60, label: "from the start, unstretched (m)", labelSize: 14, labelFont: AXIS_FONT, labelGap: 0, values: (_, splits, __, ___, step) => ticks(splits, step).texts },
        {
          ...axis,
          size: LEFT,
          space: 22,
          values: (_, splits, __, ___, step) => {
            const [size, unit] = prefixed(Math.max(...this.span.map(Math.abs)), "N");
            this.setUnit(unit);
            const { texts, note } = ticks(splits.map((x) => x / size), step / size);
            this.note.textContent = note;
            return texts;
          },
        },
      ],
      series: [
        {},
        ...this.pieces.map(({ style }): uPlot.Series => ({ stroke: () => css(style.color), width: 1.5, dash: DASHES[style.dash], spanGaps: true, points: { show: false } })),
      ],
    };
  }

  protected resize(): void {
    const [width, height] = [this.area.clientWidth, this.area.clientHeight];
    if (width > 0 && height > 0 && this.uplot) this.uplot.setSize({ width, height });
  }
}
