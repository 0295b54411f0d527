// The column of charts: one time axis, one cursor, one zoom for all.

import { Along, tensionsOf } from "./along";
import { Arrangement } from "./arrangement";
import { Chart, type Line } from "./chart";
import { type Layout, type Row } from "./layout";
import { LETTERS } from "./lines";
import { TensionMap } from "./map";
import { type Drawn } from "./paint";
import { onTheme } from "./palette";
import { type Panel, type PlotEvents } from "./panel";
import { differences, join, type Table, valueAt } from "./series";
import { TimeAxis } from "./timeaxis";
import { type Meta, type Plot, type Range } from "./types";

const TENSIONS = ["tension", "end_tension"]; // plots that tensions along the lines stand beside
const VALUES_EVERY = 80; // ms; numbers that change faster cannot be read

export class Plots {
  readonly arrangement: Arrangement;
  /** Whether the curves of the other runs are shown less those of the first. */
  difference = false;
  private readonly charts: Chart[];
  private readonly along: Along;
  private readonly map: TensionMap;
  private readonly axis: TimeAxis;
  private readonly panels: Panel[];
  private tables: Table[] = [];
  private time = NaN;
  private hovered: number | null = null;
  private valuesAt = 0;
  private stale = true;
  private exact: ((time: number) => Table[] | null) | null = null;
  private range: Range;

  constructor(
    private readonly host: HTMLElement,
    private readonly metas: Meta[],
    layouts: Layout[],
    full: Range,
    given: Pick<PlotEvents, "seek" | "zoom">,
  ) {
    this.range = full;
    const events: PlotEvents = {
      ...given,
      hover: (time) => this.setHover(time),
      hide: (name) => this.arrangement.hide(name),
      enlarge: (name) => this.arrangement.enlarge(name),
    };
    this.charts = plotsOf(metas).map((plot) => new Chart(plot, linesOf(plot, metas), metas.length, full, events));
    this.along = new Along(metas, layouts, events);
    this.map = new TensionMap(metas[0], layouts[0], full, tensionsOf(metas), events);
    this.axis = new TimeAxis(full, events);
    const after = 1 + Math.max(...this.charts.map(({ plot }, k) => (TENSIONS.includes(plot.name) ? k : -1)));
    this.panels = [...this.charts.slice(0, after), this.along, this.map, ...this.charts.slice(after)];
    this.arrangement = new Arrangement(host, this.panels, this.axis.element);
    onTheme(() => [...this.panels, this.axis].forEach((panel) => panel.redraw()));
  }

  /** Width of the drawn part in device pixels: how many points are worth having. */
  get pixels(): number {
    return Math.max(300, Math.round(this.host.clientWidth * window.devicePixelRatio));
  }

  /** The charts that are shown, from above, for a picture. */
  get pictures(): Drawn[] {
    const open = this.charts.filter(({ element }) => !element.hidden && !element.classList.contains("flat"));
    const { shown } = this.arrangement;
    return open.sort((a, b) => shown.indexOf(a.plot.name) - shown.indexOf(b.plot.name)).map(({ drawn }) => drawn);
  }

  /** The curves that are shown, as a table: times, then each curve, with the numbers as they are in SI. */
  get csv(): string {
    const lines = this.charts.flatMap((chart) => (chart.element.hidden ? [] : chart.shown));
    if (this.tables.length === 0) return "";
    const [times, ...columns] = join(this.tables);
    const [from, to] = this.range;
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
    const letter = ({ run }: Line) => (this.metas.length > 1 ? `${LETTERS[run]} ` : "");
    const head = ["time (s)", ...lines.map(({ line, plot }) => `${letter(line)}${plot}, ${line.label}${line.units === "1" ? "" : ` (${line.units})`}`)];
    const rows = times.flatMap((time, i) => (time < from || time > to ? [] : [[time, ...lines.map(({ line }) => columns[line.column][i] ?? "")].join()]));
    return `${head.map(quoted).join()}\n${rows.join("\n")}\n`;
  }

  /** One table for each run; where those are thinned out, `exact` gives the samples near a time. */
  setTables(tables: Table[], exact: ((time: number) => Table[] | null) | null = null): void {
    this.tables = tables;
    this.exact = exact;
    this.redrawCurves();
  }

  setDifference(on: boolean): void {
    this.difference = on && this.metas.length > 1;
    this.redrawCurves();
  }

  /** The frame in view of a run. */
  setRow(run: number, row: Row): void {
    this.along.setRow(run, row);
  }

  /** Frames of the first run over the range in view. */
  setMap(rows: Row[]): void {
    this.map.setRows(rows);
  }

  setRange(range: Range): void {
    if (range[0] === this.range[0] && range[1] === this.range[1]) return;
    this.range = range;
    for (const panel of [...this.panels, this.axis]) panel.setRange(range);
  }

  /** Called for every picture; does little where nothing changed. */
  setTime(time: number): void {
    if (time !== this.time) {
      this.time = time;
      this.stale = true;
      for (const panel of [...this.panels, this.axis]) panel.setTime(time);
    }
    this.along.setTime();
    const now = performance.now();
    if (!this.stale || now - this.valuesAt < VALUES_EVERY || this.tables.length === 0) return;
    const shown = this.hovered ?? time;
    const tables = this.exact ? this.exact(shown) : this.tables;
    this.valuesAt = now;
    this.stale = tables === null;
    for (const chart of this.charts) chart.setValues((line) => (tables ? this.value(tables, line, shown) : undefined));
  }

  /** Point at a time in all charts; values are of that time until the hand leaves. */
  setHover(time: number | null): void {
    this.hovered = time;
    this.stale = true;
    this.host.classList.toggle("hovered", time !== null);
    for (const panel of [...this.panels, this.axis]) panel.setHover(time);
  }

  /** The value of a curve, by its name, at the time in view. */
  at(name: string, run: number): number | null {
    const column = this.metas[run].series.findIndex((series) => series.name === name);
    return column < 0 || !this.tables[run] ? null : valueAt(this.tables[run], column, this.time);
  }

  private value(tables: Table[], line: Line, time: number): number | null {
    const own = valueAt(tables[line.run], line.column - this.offset(line.run), time);
    if (!this.difference) return own;
    const first = this.metas[0].series.findIndex(({ name }) => name === line.name);
    const base = first < 0 ? null : valueAt(tables[0], first, time);
    return line.run === 0 || own === null || base === null ? null : own - base;
  }

  private redrawCurves(): void {
    if (this.tables.length === 0) return;
    const names = this.metas.map(({ series }) => series.map(({ name }) => name));
    const joined = join(this.difference ? differences(this.tables, names) : this.tables);
    for (const chart of this.charts) chart.setData(joined);
    this.stale = true;
  }

  /** Number of the first column of a run. */
  private offset(run: number): number {
    return this.metas.slice(0, run).reduce((sum, { series }) => sum + series.length, 0);
  }
}

function plotsOf(metas: Meta[]): Plot[] {
  const plots = new Map<string, Plot>();
  for (const plot of metas.flatMap((meta) => meta.plots)) {
    const known = plots.get(plot.name);
    plots.set(plot.name, known ? { ...known, floor: Math.max(known.floor, plot.floor) } : plot);
  }
  return [...plots.values()];
}

function linesOf(plot: Plot, metas: Meta[]): Line[] {
  let column = 0;
  return metas.flatMap((meta, run) =>
    meta.series.map((series): Line & { plot: string } => ({ ...series, run, runTitle: meta.label ?? meta.title, column: column++ })).filter((line) => line.plot === plot.name),
  );
}
