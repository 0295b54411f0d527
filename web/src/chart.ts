// One chart: lines of one or two runs over time, a line at the current time that can be dragged, and values beside the names.

import uPlot from "uplot";
import { padded, tick } from "./axis";
import { number, units } from "./format";
import { css } from "./palette";
import { type Joined } from "./series";
import { type Plot, type Range } from "./types";

export interface Line {
  column: number; // in the joined table, counted from 0 after the times
  name: string;
  label: string;
  units: string;
  run: number;
  runTitle: string;
}

export interface ChartEvents {
  seek(time: number): void;
  zoom(range: Range | null): void;
}

const COLOURS = 6;
const AXIS_FONT = "11px system-ui, sans-serif";
const TIME_LABEL = { label: "time (s)", labelSize: 16, labelFont: AXIS_FONT, labelGap: 0 }; // once, below the last chart
const CLICK = 4; // px; a press that moves less is no drag

export class Chart {
  readonly element = document.createElement("section");
  private readonly area = document.createElement("div");
  private readonly timeLine = document.createElement("div");
  private readonly values = new Map<Line, HTMLElement>();
  private readonly plot: uPlot;
  private time = 0;
  private timeBefore = 0;

  constructor(
    plot: Plot,
    private readonly lines: Line[],
    private range: Range,
    private readonly events: ChartEvents,
    private readonly last: boolean,
  ) {
    this.element.className = "chart";
    this.element.dataset.testid = `chart-${plot.name}`;
    this.area.className = "plot-area";
    this.element.append(this.head(plot), this.area);
    this.plot = new uPlot(this.options(), [[], ...lines.map(() => [])] as uPlot.AlignedData, this.area);
    this.timeLine.className = "time-line";
    this.timeLine.title = "Drag to go through time";
    this.plot.over.append(this.timeLine);
    this.plot.over.title = "Click: go to this time. Drag: zoom. Double-click: all.";
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.area);
  }

  setData(joined: Joined): void {
    const [times, ...columns] = joined;
    this.plot.setData([times, ...this.lines.map((line) => columns[line.column])] as uPlot.AlignedData, false);
    this.setRange(this.range);
  }

  setRange(range: Range): void {
    this.range = range;
    this.plot.setScale("x", { min: range[0], max: range[1] });
    this.setTime(this.time);
  }

  setTime(time: number): void {
    this.time = time;
    const inside = time >= this.range[0] && time <= this.range[1];
    this.timeLine.hidden = !inside;
    if (inside) this.timeLine.style.transform = `translateX(${this.plot.valToPos(time, "x")}px)`;
  }

  /** Values at the current time; undefined where one is not known yet. */
  setValues(value: (line: Line) => number | null | undefined): void {
    for (const [line, element] of this.values) {
      const x = value(line);
      const text = x === undefined ? "…" : number(x);
      if (element.textContent !== text) element.textContent = text;
    }
  }

  redraw(): void {
    this.plot.redraw(false);
  }

  private head(plot: Plot): HTMLElement {
    const head = document.createElement("div");
    head.className = "chart-head";
    const title = document.createElement("h2");
    title.textContent = plot.label;
    if (units(plot.units)) title.append(Object.assign(document.createElement("span"), { textContent: ` (${units(plot.units)})` }));
    head.append(title);
    for (const name of new Set(this.lines.map((line) => line.name))) head.append(this.entry(name, plot));
    return head;
  }

  /** A name with its colour and values; a click hides its lines. */
  private entry(name: string, plot: Plot): HTMLElement {
    const lines = this.lines.filter((line) => line.name === name);
    const button = document.createElement("button");
    button.className = "series";
    button.type = "button";
    button.title = "Show or hide";
    button.setAttribute("aria-pressed", "true");
    const swatch = document.createElement("i");
    swatch.style.color = `var(--${this.colourName(name)})`;
    const own = units(lines[0].units);
    button.append(swatch, lines[0].label + (own && lines[0].units !== plot.units ? ` (${own})` : ""));
    for (const line of lines) {
      const value = document.createElement("span");
      value.className = "value";
      value.title = line.runTitle;
      this.values.set(line, value);
      button.append(value);
    }
    button.addEventListener("click", () => {
      const show = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(show));
      for (const line of lines) this.plot.setSeries(1 + this.lines.indexOf(line), { show });
    });
    return button;
  }

  private colourName(name: string): string {
    const names = [...new Set(this.lines.map((line) => line.name))];
    return `series-${names.indexOf(name) % COLOURS}`;
  }

  private options(): uPlot.Options {
    const axis = (size: number, space: number): uPlot.Axis => ({
      stroke: () => css("text-dim"),
      font: AXIS_FONT,
      size,
      space,
      gap: 4,
      grid: { stroke: () => css("plot-grid"), width: 1 },
      ticks: { stroke: () => css("plot-grid"), width: 1, size: 4 },
      values: (_, splits, __, ___, step) => splits.map((x) => tick(x, step, splits)),
    });
    return {
      width: 300,
      height: 120,
      legend: { show: false },
      padding: [6, 16, 0, 0],
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false },
        bind: { dblclick: () => () => (this.showAll(), null) },
      },
      scales: { x: { time: false, auto: false, min: this.range[0], max: this.range[1] }, y: { range: (_, low, high) => padded(low, high) } },
      axes: [{ ...axis(22, 60), ...(this.last ? TIME_LABEL : {}) }, axis(54, 20)],
      series: [
        {},
        ...this.lines.map((line): uPlot.Series => ({
          label: line.label,
          stroke: () => css(this.colourName(line.name)),
          width: 1.5,
          points: { show: false },
          ...(line.run > 0 ? { dash: [5, 4] } : {}),
        })),
      ],
      hooks: { setSelect: [(plot) => this.selected(plot)], setSize: [() => this.setTime(this.time)], draw: [() => this.setTime(this.time)] },
    };
  }

  private selected(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width < CLICK) return;
    const range: Range = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.events.zoom(range);
  }

  /** A double-click begins with two clicks, which moved the time. */
  private showAll(): void {
    this.events.seek(this.timeBefore);
    this.events.zoom(null);
  }

  private listen(): void {
    const { over } = this.plot;
    const timeAt = (x: number) => this.plot.posToVal(x - over.getBoundingClientRect().left, "x");
    let pressed: number | null = null;
    over.addEventListener("mousedown", (event) => {
      if (event.detail === 1) this.timeBefore = this.time;
    });
    over.addEventListener("pointerdown", (event) => (pressed = event.button === 0 ? event.clientX : null));
    over.addEventListener("pointerup", (event) => {
      if (pressed !== null && Math.abs(event.clientX - pressed) < CLICK) this.events.seek(timeAt(event.clientX));
      pressed = null;
    });
    // the line itself drags time, and must not start a zoom below it
    for (const name of ["mousedown", "pointerup"]) this.timeLine.addEventListener(name, (event) => event.stopPropagation());
    this.timeLine.addEventListener("pointerdown", (event) => {
      event.stopPropagation();
      this.timeLine.setPointerCapture(event.pointerId);
    });
    this.timeLine.addEventListener("pointermove", (event) => {
      if (this.timeLine.hasPointerCapture(event.pointerId)) this.events.seek(timeAt(event.clientX));
    });
  }

  private resize(): void {
    const [width, height] = [this.area.clientWidth, this.area.clientHeight];
    if (width > 0 && height > 0) this.plot.setSize({ width, height });
  }
}
