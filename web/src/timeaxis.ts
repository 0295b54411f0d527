// The time axis below all charts, always in sight, with the time that is pointed at.

import uPlot from "uplot";
import { AXIS_FONT, LEFT, RIGHT } from "./chart";
import { ticks } from "./axis";
import { timeDecimals } from "./format";
import { css } from "./palette";
import { type PlotEvents } from "./panel";
import { TimeArea } from "./timearea";
import { type Range } from "./types";

const HEIGHT = 38;
const RESOLVED = 1e-4; // of the range: how fine a time can be pointed at

export class TimeAxis {
  readonly element = Object.assign(document.createElement("div"), { className: "time-axis" });
  private readonly tag = Object.assign(document.createElement("span"), { className: "time-tag", hidden: true });
  private readonly note = Object.assign(document.createElement("span"), { className: "axis-note" });
  private readonly area = document.createElement("div");
  private readonly uplot: uPlot;
  private readonly hands: TimeArea;
  private time = 0;

  constructor(private range: Range, events: PlotEvents) {
    this.element.dataset.testid = "time-axis";
    this.uplot = new uPlot(this.options(), [[]], this.area);
    this.uplot.over.append(this.tag);
    this.element.append(this.area, this.note);
    this.uplot.over.title = "Wheel or two fingers: zoom. Double-click: all.";
    this.hands = new TimeArea(this.uplot.over, events, () => this.range, (time) => this.uplot.valToPos(time, "x"), true);
    new ResizeObserver(() => {
      this.uplot.setSize({ width: this.area.clientWidth, height: HEIGHT });
      this.setTime(this.time);
    }).observe(this.area);
  }

  setRange(range: Range): void {
    this.range = range;
    this.uplot.setScale("x", { min: range[0], max: range[1] });
    this.setTime(this.time);
  }

  setTime(time: number): void {
    this.time = time;
    this.hands.setTime(time);
  }

  setHover(time: number | null): void {
    this.hands.setHover(time);
    this.tag.hidden = time === null;
    if (time === null) return;
    this.tag.textContent = `${time.toFixed(timeDecimals(RESOLVED * (this.range[1] - this.range[0])))} s`;
    this.tag.style.transform = `translateX(calc(${this.uplot.valToPos(time, "x")}px - 50%))`;
  }

  redraw(): void {
    this.uplot.redraw(false);
  }

  private options(): uPlot.Options {
    const grid = { stroke: () => css("plot-grid"), width: 1 };
    return {
      width: 300,
      height: HEIGHT,
      legend: { show: false },
      padding: [0, RIGHT, 0, LEFT],
      cursor: { x: false, y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: { x: { time: false, auto: false, min: this.range[0], max: this.range[1] } },
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
