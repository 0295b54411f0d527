// One chart: lines of some runs over time, a line at the current time that can be dragged, and values beside the names.

import type uPlot from "uplot";
import { padded, ticks } from "./axis";
import { number, prefixed, type Unit, units } from "./format";
import { DASHES, LETTERS, styleOf, swatch } from "./lines";
import { css } from "./palette";
import { Panel, type PlotEvents } from "./panel";
import { type Drawn } from "./paint";
import { type Joined } from "./series";
import { TimePlot } from "./timeplot";
import { type Plot, type Range } from "./types";

export interface Line {
  column: number; // in the joined table, counted from 0 after the times
  name: string;
  label: string;
  units: string;
  run: number;
  runTitle: string;
}

export const AXIS_FONT = "11px system-ui, sans-serif";
export const LEFT = 54; // px, of the axis of values
export const RIGHT = 16; // px beside the drawn area
const CLICK = 4; // px; a press that moves less is no drag

export class Chart extends Panel {
  private readonly values = new Map<Line, HTMLElement>();
  private readonly names: string[];
  private readonly note = Object.assign(document.createElement("span"), { className: "axis-note" });
  private readonly graph: TimePlot;
  private unit: Unit;
  private splits: number[] = []; // of the axis of values
  private opened = false; // though nothing happens in it

  constructor(
    plot: Plot,
    private readonly lines: Line[],
    private readonly runs: number,
    range: Range,
    events: PlotEvents,
  ) {
    super(plot, events);
    this.unit = [1, units(plot.units)];
    this.names = [...new Set(lines.map((line) => line.name))];
    for (const name of this.names) this.head.append(this.entry(name));
    this.graph = new TimePlot(this.options(), [[], ...lines.map(() => [])] as uPlot.AlignedData, this.area, range, events);
    this.area.append(this.note);
    this.graph.uplot.over.title = "Click: go to this time. Drag: zoom. Double-click: all. Ctrl or Shift and the wheel: zoom.";
    this.head.addEventListener("dblclick", () => {
      this.opened = !this.opened;
      this.element.classList.toggle("opened", this.opened);
      this.resize();
    });
  }

  /** Values below the rounding of this plot are shown as zero. */
  snapped(x: number | null | undefined): number | null | undefined {
    return x !== null && x !== undefined && Math.abs(x) < this.plot.floor ? 0 : x;
  }

  setData(joined: Joined): void {
    const [times, ...columns] = joined;
    let [low, high] = [Infinity, -Infinity];
    const shown = this.lines.map((line) => columns[line.column].map((x) => this.snapped(x)));
    for (const column of shown)
      for (const x of column) if (typeof x === "number") [low, high] = [Math.min(low, x), Math.max(high, x)];
    this.setFlat(times.length > 1 && low === high);
    if (low <= high) this.unit = prefixed(Math.max(Math.abs(low), Math.abs(high)), this.plot.units);
    this.setUnit(this.unit[1]);
    this.graph.uplot.setData([times, ...shown] as uPlot.AlignedData, false);
    this.graph.setRange(this.graph.range);
  }

  setRange(range: Range): void {
    this.graph.setRange(range);
  }

  setTime(time: number): void {
    this.graph.hands.setTime(time);
  }

  setHover(time: number | null): void {
    this.graph.hands.setHover(time);
  }

  /** Values at a time; undefined where one is not known yet. */
  setValues(value: (line: Line) => number | null | undefined): void {
    for (const [line, element] of this.values) {
      const x = this.snapped(value(line));
      const text = x === undefined ? "…" : number(x && x / this.unit[0]);
      if (element.textContent !== text) element.textContent = text;
    }
  }

  redraw(): void {
    this.graph.uplot.redraw(false);
  }

  /** The curves that are not hidden. */
  get shown(): { line: Line; plot: string }[] {
    return this.lines.flatMap((line, i) => (this.graph.uplot.series[i + 1].show ? [{ line, plot: this.plot.label }] : []));
  }

  /** What it shows, for a picture. */
  get drawn(): Drawn {
    const { data, series, scales } = this.graph.uplot;
    const shown = this.lines.flatMap((line, i) => (series[i + 1].show ? [{ line, values: data[i + 1], style: this.style(line) }] : []));
    const letter = ({ run }: Line) => (this.runs > 1 ? `${LETTERS[run]} ` : "");
    return {
      title: `${this.plot.label}${this.unit[1] && ` (${this.unit[1]})`}`,
      size: this.unit[0],
      entries: shown.map(({ line, style }) => ({ text: `${letter(line)}${line.label}`, style })),
      times: data[0],
      columns: shown,
      range: this.graph.range,
      span: [scales.y.min ?? 0, scales.y.max ?? 1],
      splits: this.splits,
    };
  }

  /** A name with its line and values; a click hides its lines. */
  private entry(name: string): HTMLElement {
    const lines = this.lines.filter((line) => line.name === name);
    const button = document.createElement("button");
    button.className = "series";
    button.type = "button";
    button.title = "Show or hide";
    button.setAttribute("aria-pressed", "true");
    const own = units(lines[0].units);
    if (this.runs === 1) button.append(swatch(this.style(lines[0])));
    button.append(lines[0].label + (own && lines[0].units !== this.plot.units ? ` (${own})` : ""));
    for (const line of lines) {
      const value = Object.assign(document.createElement("span"), { className: "value", title: line.runTitle });
      this.values.set(line, value);
      const one = Object.assign(document.createElement("span"), { className: "of-run" });
      if (this.runs > 1) one.append(swatch(this.style(line)), Object.assign(document.createElement("b"), { textContent: LETTERS[line.run] }));
      one.append(value);
      button.append(one);
    }
    button.addEventListener("click", () => {
      const show = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(show));
      for (const line of lines) this.graph.uplot.setSeries(1 + this.lines.indexOf(line), { show });
    });
    return button;
  }

  private style(line: Line): ReturnType<typeof styleOf> {
    return styleOf(this.names.indexOf(line.name), line.run, this.runs);
  }

  private options(): Omit<uPlot.Options, "legend"> {
    const grid = { stroke: () => css("plot-grid"), width: 1 };
    return {
      width: 300,
      height: 120,
      padding: [8, RIGHT, 4, 0],
      cursor: { x: false, y: false, points: { show: false }, drag: { x: true, y: false, setScale: false }, bind: { dblclick: () => () => null } },
      scales: {
        y: { range: (_, low, high) => padded(low, high, this.plot.floor) },
      },
      axes: [
        { size: 0, space: 60, grid, ticks: { show: false }, values: () => [] },
        {
          stroke: () => css("text-dim"),
          font: AXIS_FONT,
          size: LEFT,
          space: 22,
          gap: 4,
          grid,
          ticks: { ...grid, size: 4 },
          values: (_, splits, __, ___, step) => this.ticks(splits, step),
        },
      ],
      series: [
        {},
        ...this.lines.map((line): uPlot.Series => {
          const { color, dash } = this.style(line);
          return { label: line.label, stroke: () => css(color), width: 1.5, points: { show: false }, dash: DASHES[dash] };
        }),
      ],
      hooks: { setSelect: [(plot) => this.selected(plot)] },
    };
  }

  private ticks(splits: number[], step: number): string[] {
    const [size] = this.unit;
    const { texts, note } = ticks(splits.map((x) => x / size), step / size);
    this.splits = splits;
    if (this.note.textContent !== note) this.note.textContent = note;
    return texts;
  }

  private selected(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width < CLICK) return;
    const range: Range = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.events.zoom(range);
  }

  protected resize(): void {
    const [width, height] = [this.area.clientWidth, this.area.clientHeight];
    if (width > 0 && height > 0 && this.graph) this.graph.uplot.setSize({ width, height });
  }
}
