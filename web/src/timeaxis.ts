// The time axis below all charts, always in sight, with the time that is pointed at.

import type uPlot from "uplot";
import { AXIS_FONT, LEFT, RIGHT } from "./chart";
import { ticks } from "./axis";
import { timeDecimals } from "./format";
import { css } from "./palette";
import { type PlotEvents } from "./panel";
import { TimePlot } from "./timeplot";
import { type Range } from "./types";

const HEIGHT = 38;
const RESOLVED = 1e-4; // of the range: how fine a time can be pointed at

export class TimeAxis {
  readonly element = Object.assign(document.createElement("div"), { className: "time-axis" });
  private readonly tag = Object.assign(document.createElement("span"), { className: "time-tag", hidden: true });
  private readonly note = Object.assign(document.createElement("span"), { className: "axis-note" });
  private readonly area = document.createElement("div");
  private readonly graph: TimePlot;

  constructor(range: Range, events: PlotEvents) {
    this.element.dataset.testid = "time-axis";
    this.graph = new TimePlot(this.options(), [[]], this.area, range, events, true);
    const { over } = this.graph.uplot;
    over.append(this.tag);
    over.title = "Wheel or two fingers: zoom. Double-click: all.";
    this.element.append(this.area, this.note);
    new ResizeObserver(() => this.graph.uplot.setSize({ width: this.area.clientWidth, height: HEIGHT })).observe(this.area);
  }

  setRange(range: Range): void {
    this.graph.setRange(range);
  }

  setTime(time: number): void {
    this.graph.hands.setTime(time);
  }

  setHover(time: number | null): void {
    const { hands, range, uplot } = this.graph;
    hands.setHover(time);
    this.tag.hidden = time === null;
    if (time === null) return;
    this.tag.textContent = `${time.toFixed(timeDecimals(RESOLVED * (range[1] - range[0])))} s`;
    this.tag.style.transform = `translateX(calc(${uplot.valToPos(time, "x")}px - 50%))`;
  }

  redraw(): void {
    this.graph.uplot.redraw(false);
  }

  private options(): Omit<uPlot.Options, "legend"> {
    const grid = { stroke: () => css("plot-grid"), width: 1 };
    return {
      width: 300,
      height: HEIGHT,
      padding: [0, RIGHT, 0, LEFT],
      cursor: { x: false, y: false, points: { show: false }, drag: { x: false, y: false } },
      axes: [
        {
          label: "time (s)",
          labelSize: 14,
          labelFont: AXIS_FONT,
          labelGap: 0,
          stroke: () => css("text-dim"),
          font: AXIS_FONT,
          size: 20,
          space: 60,
          gap: 2,
          grid,
          ticks: { ...grid, size: 4 },
          values: (_, splits, __, ___, step) => {
            const { texts, note } = ticks(splits, step);
            this.note.textContent = note;
            return texts;
          },
        },
        { show: false },
      ],
      series: [{}],
    };
  }
}
