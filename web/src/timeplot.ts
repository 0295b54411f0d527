// A uPlot over time: a range that is in view, a line at the current time, and hands on both.

import uPlot from "uplot";
import { type PlotEvents } from "./panel";
import { TimeArea } from "./timearea";
import { type Range } from "./types";

export class TimePlot {
  readonly uplot: uPlot;
  readonly hands: TimeArea;

  /** `alwaysWheel`: the wheel zooms without a key. */
  constructor(options: Omit<uPlot.Options, "legend">, data: uPlot.AlignedData, host: HTMLElement, range: Range, events: PlotEvents, alwaysWheel = false) {
    const whole: uPlot.Options = {
      ...options,
      legend: { show: false },
      scales: { ...options.scales, x: { time: false, auto: false, min: range[0], max: range[1] } },
      hooks: { ...options.hooks, draw: [() => this.hands?.setRange(this.range)] },
    };
    this.uplot = new uPlot(whole, data, host);
    this.hands = new TimeArea(this.uplot.over, events, range, (time) => this.uplot.valToPos(time, "x"), alwaysWheel);
  }

  get range(): Range {
    return this.hands.range;
  }

  setRange(range: Range): void {
    this.hands.setRange(range);
    this.uplot.setScale("x", { min: range[0], max: range[1] }); // which draws, and then places the line
  }
}
