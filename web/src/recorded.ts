// Replay and offline: runs that are finished, on a clock of our own.

import { type FrameSource, MemoryFrames, RemoteFrames, strideFor } from "./frames";
import { timeDecimals } from "./format";
import { type Action } from "./keys";
import { Layout } from "./layout";
import { COLUMNS } from "./map";
import { type Banner, get } from "./notices";
import { address, embeddedFrames, embeddedTable, type FetchTable, remoteFrames, remoteTable } from "./payload";
import { forEachPicture } from "./pictures";
import { Player } from "./player";
import { Plots } from "./plots";
import { type Table } from "./series";
import { type SceneStage } from "./stage";
import { trailRows } from "./trail";
import { Transport } from "./transport";
import { type Boot, type Meta, type Range } from "./types";
import { ExactValues } from "./values";

const ZOOM_PAUSE = 120; // ms without a change before the server is asked for a finer curve
const CURVES_RETRY = 2000; // ms
const MOST_POINTS = 20_000; // that the server sends
const LONGEST_TICK = 0.25; // s; a page that was hidden does not leap

export class Recorded {
  readonly player: Player;
  private readonly layouts: Layout[];
  private readonly intervals: number[];
  readonly plots: Plots;
  private readonly transport: Transport;
  private readonly full: Range;
  private range: Range;
  private sources: FrameSource[] = [];
  private fetchTables: FetchTable[] = [];
  private overview: Table[] = [];
  private values: ExactValues | null = null;
  private zoomTimer = 0;
  private zoomCount = 0;
  private mapCount = 0;
  private lastTick = 0;
  private fresh = true;
  private direction: -1 | 0 | 1 = 0;
  private filmed: (() => void) | null = null;

  constructor(
    private readonly boot: Boot,
    private readonly stage: SceneStage,
    private readonly banner: Banner,
  ) {
    const metas = boot.runs;
    this.layouts = metas.map((meta) => new Layout(meta));
    this.intervals = metas.map((meta) => (meta.end - meta.start) / Math.max(1, meta.samples - 1) || 1);
    this.full = [Math.min(...metas.map((meta) => meta.start)), Math.max(...metas.map((meta) => meta.end))];
    if (!(this.full[1] > this.full[0])) this.full[1] = this.full[0] + 1e-3; // one sample: an axis must have a width
    this.range = this.full;
    this.player = new Player(...this.full);
    this.plots = new Plots(get("plots"), metas, this.layouts, this.full, { seek: (time) => this.seek(time), zoom: (range) => this.zoom(range) });
    this.transport = new Transport(false, {
      toggle: () => this.player.toggle(),
      step: (samples) => this.step(samples),
      seek: (time) => this.seek(time),
      speed: (value) => (this.player.speed = value),
      loop: () => (this.player.loop = !this.player.loop),
      newest: () => undefined,
    });
    stage.open(metas, this.layouts);
    get("difference").hidden = metas.length < 2;
    if (boot.mode === "replay") {
      const page = get<HTMLAnchorElement>("page");
      page.hidden = false;
      page.href = address("page", { token: boot.token ?? "" }).href;
      page.download = `${(boot.title ?? metas[0].title).replace(/[^\p{L}\p{N}]+/gu, "-")}.html`;
    }
    get("difference").addEventListener("click", () => this.act("difference"));
  }

  /** Everything the first picture needs; the promise ends when it is drawn. */
  async start(): Promise<void> {
    if (this.boot.mode === "offline") await this.openEmbedded();
    else await this.openRemote();
    void this.drawMap();
    await new Promise<void>((done) =>
      forEachPicture((now) => {
        this.tick(now);
        done();
      }),
    );
  }

  seek(time: number): void {
    this.player.seek(time);
    this.direction = 0;
  }

  act(action: Action): void {
    const { player } = this;
    if (action === "toggle") player.toggle();
    else if (action === "forward") this.step(1);
    else if (action === "back") this.step(-1);
    else if (action === "start") this.seek(player.start);
    else if (action === "end") this.seek(player.end);
    else if (action === "faster") player.faster(1);
    else if (action === "slower") player.faster(-1);
    else if (action === "loop") player.loop = !player.loop;
    else if (action === "difference") this.setDifference(!this.plots.difference);
  }

  get plotted(): Range {
    return this.range;
  }

  /** The part of the time axis that is shown, null for all of it. */
  get zoomed(): Range | null {
    return this.range === this.full ? null : this.range;
  }

  /** The time in view, as text. */
  get clock(): string {
    return `${this.player.time.toFixed(this.decimals)} s`;
  }

  private get decimals(): number {
    return timeDecimals(Math.min(...this.intervals));
  }

  /** Play from here to the end while it is filmed, and stop with it. */
  film(on: boolean, over: () => void): void {
    this.filmed = on ? over : null;
    if (on && this.player.time >= this.player.end) this.player.time = this.player.start;
    this.player.playing = on;
  }

  setDifference(on: boolean): void {
    this.plots.setDifference(on);
    get("difference").setAttribute("aria-pressed", String(this.plots.difference));
    if (this.boot.mode === "replay") void this.refine();
  }

  private async openEmbedded(): Promise<void> {
    const { runs } = this.boot;
    this.sources = await Promise.all(
      runs.map(async (meta, run) => new MemoryFrames(await embeddedFrames(run, meta, this.layouts[run].size), this.layouts[run])),
    );
    this.setOverview(await Promise.all(runs.map((meta, run) => embeddedTable(run, meta))));
  }

  private async openRemote(): Promise<void> {
    const token = this.boot.token ?? "";
    const trouble = (problem: Error | null) =>
      this.banner.set("server", problem && `The server does not answer (${problem.message}). Trying again; what is loaded can still be seen.`, "warning");
    const remotes = this.boot.runs.map(
      (meta, run) => new RemoteFrames(meta, this.layouts[run], remoteFrames(token, run), () => (this.fresh = true), trouble),
    );
    this.sources = remotes;
    this.fetchTables = this.boot.runs.map((meta, run) => remoteTable(token, run, meta));
    this.values = new ExactValues(this.fetchTables, Math.min(...this.intervals));
    await Promise.all([this.openCurves(trouble), ...remotes.map((remote) => remote.open())]);
  }

  private async openCurves(trouble: (problem: Error) => void): Promise<void> {
    try {
      this.setOverview(await this.tables(this.full));
    } catch (problem) {
      trouble(problem as Error);
      window.setTimeout(() => void this.openCurves(trouble), CURVES_RETRY);
    }
  }

  private tables([from, to]: Range): Promise<Table[]> {
    return Promise.all(this.fetchTables.map((fetchTable) => fetchTable(from, to, this.points)));
  }

  /** Two for each pixel: the least and the greatest value. Differences are of samples, and not of such values. */
  private get points(): number {
    return this.plots.difference ? MOST_POINTS : 2 * this.plots.pixels;
  }

  private async drawMap(): Promise<void> {
    const count = ++this.mapCount;
    const rows = await this.sources[0].sweep(...this.range, COLUMNS).catch(() => []);
    if (count === this.mapCount) this.plots.setMap(rows);
  }

  private setOverview(tables: Table[]): void {
    this.overview = tables;
    this.setCurves(tables, this.isWhole(tables));
  }

  private isWhole(tables: Table[]): boolean {
    return tables.every((table, run) => table.times.length >= this.boot.runs[run].samples);
  }

  /** Thinned-out curves need the samples near the current time for its values; an offline page has no more than its curves. */
  private setCurves(tables: Table[], whole: boolean): void {
    const { values } = this;
    this.plots.setTables(tables, whole || !values ? null : (time) => values.near(time));
  }

  private step(samples: number): void {
    this.player.playing = false;
    const source = this.sources[0];
    // from the clock's sample, not the drawn one: keys may come faster than pictures
    const index = source.nearest(this.player.time)?.index ?? 0;
    this.seek(source.timeOf(index + samples));
    this.direction = samples < 0 ? -1 : 1;
  }

  zoom(range: Range | null): void {
    const [start, end] = this.full;
    const least = 2 * Math.min(...this.intervals);
    this.range = this.full;
    if (range && range[1] - range[0] < end - start) {
      const from = Math.max(start, Math.min(range[0], end - least));
      this.range = [from, Math.min(end, Math.max(range[1], from + least))];
    }
    this.plots.setRange(this.range);
    window.clearTimeout(this.zoomTimer);
    this.zoomTimer = window.setTimeout(() => void this.refine(), ZOOM_PAUSE);
  }

  private async refine(): Promise<void> {
    void this.drawMap();
    if (this.boot.mode !== "replay") return;
    const count = ++this.zoomCount;
    if (this.range === this.full && !this.plots.difference) return this.setOverview(this.overview);
    try {
      const tables = await this.tables(this.range);
      if (count === this.zoomCount) this.setCurves(tables, this.isWhole(tables)); // else the current time may lie outside
    } catch (problem) {
      this.banner.set("server", `The server did not send the curves: ${(problem as Error).message}.`, "warning");
    }
  }

  /** Turn the page of the plots when the time leaves it. */
  private turnPage(): void {
    const [from, to] = this.range;
    const { time, playing } = this.player;
    if (!playing || this.range === this.full || (time >= from && time <= to)) return;
    const width = to - from;
    const start = Math.min(Math.max(this.full[0], time - 0.05 * width), this.full[1] - width);
    this.zoom([start, start + width]);
  }

  private tick(now: number): void {
    const { player, stage } = this;
    const elapsed = this.lastTick ? Math.min((now - this.lastTick) / 1000, LONGEST_TICK) : 0;
    this.lastTick = now;
    if (player.tick(elapsed)) this.direction = 1;
    if (this.filmed && !player.playing) this.filmed();
    this.turnPage();
    this.sources.forEach((source, run) => this.showRun(source, run, this.boot.runs[run]));
    this.fresh = false;
    stage.render();
    this.plots.setTime(player.time);
    this.transport.update({
      ...player,
      decimals: this.decimals,
      waiting: this.sources.some((source) => source.waiting),
    });
  }

  private showRun(source: FrameSource, run: number, meta: Meta): void {
    const { time, playing, speed } = this.player;
    const every = playing ? strideFor(speed, this.intervals[run]) : 1;
    source.want(Math.min(Math.max(time, meta.start), meta.end), every, this.direction);
    const frame = source.nearest(time);
    if (!frame || (frame.index === this.stage.shown(run)?.index && !this.fresh)) return;
    this.stage.show(run, frame);
    this.plots.setRow(run, frame.row);
    this.stage.trail(run, trailRows(source, frame, this.intervals[run] * every));
  }
}
