// The column of charts: one time axis, one cursor, one zoom for all.

import { Chart, type ChartEvents, type Line } from "./chart";
import { onTheme } from "./palette";
import { join, type Table, valueAt } from "./series";
import { type Meta, type Plot, type Range } from "./types";

const VALUES_EVERY = 80; // ms; numbers that change faster cannot be read

export class Plots {
  private readonly charts: Chart[];
  private tables: Table[] = [];
  private time = NaN;
  private valuesAt = 0;
  private stale = true;
  private exact: ((time: number) => Table[] | null) | null = null;
  private range: Range;

  constructor(
    private readonly host: HTMLElement,
    private readonly metas: Meta[],
    full: Range,
    events: ChartEvents,
  ) {
    this.range = full;
    const plots = plotsOf(metas);
    this.charts = plots.map((plot, i) => new Chart(plot, linesOf(plot, metas), full, events, i === plots.length - 1));
    host.replaceChildren(...this.charts.map((chart) => chart.element));
    onTheme(() => this.charts.forEach((chart) => chart.redraw()));
  }

  /** Width of the drawn part in device pixels: how many points are worth having. */
  get pixels(): number {
    return Math.max(300, Math.round(this.host.clientWidth * window.devicePixelRatio));
  }

  /** One table for each run; where those are thinned out, `exact` gives the samples near a time. */
  setTables(tables: Table[], exact: ((time: number) => Table[] | null) | null = null): void {
    this.tables = tables;
    this.exact = exact;
    const joined = join(tables);
    for (const chart of this.charts) chart.setData(joined);
    this.stale = true;
  }

  setRange(range: Range): void {
    if (range[0] === this.range[0] && range[1] === this.range[1]) return;
    this.range = range;
    for (const chart of this.charts) chart.setRange(range);
  }

  /** Called for every picture; does little where nothing changed. */
  setTime(time: number): void {
    if (time !== this.time) {
      this.time = time;
      this.stale = true;
      for (const chart of this.charts) chart.setTime(time);
    }
    const now = performance.now();
    if (!this.stale || now - this.valuesAt < VALUES_EVERY || this.tables.length === 0) return;
    const tables = this.exact ? this.exact(time) : this.tables;
    this.valuesAt = now;
    this.stale = tables === null;
    const offsets = this.offsets();
    for (const chart of this.charts)
      chart.setValues((line) => (tables ? valueAt(tables[line.run], line.column - offsets[line.run], time) : undefined));
  }

  private offsets(): number[] {
    let sum = 0;
    return this.metas.map((meta) => (sum += meta.series.length) - meta.series.length);
  }
}

function plotsOf(metas: Meta[]): Plot[] {
  const plots = new Map<string, Plot>();
  for (const plot of metas.flatMap((meta) => meta.plots)) if (!plots.has(plot.name)) plots.set(plot.name, plot);
  return [...plots.values()];
}

function linesOf(plot: Plot, metas: Meta[]): Line[] {
  let column = 0;
  return metas.flatMap((meta, run) =>
    meta.series.map((series): Line & { plot: string } => ({ ...series, run, runTitle: meta.title, column: column++ })).filter((line) => line.plot === plot.name),
  );
}
