// Live: a run that goes on while it is looked at, and takes commands.

import { Controls } from "./controls";
import { number, pace, value } from "./format";
import { Gamepads } from "./gamepad";
import { Held } from "./held";
import { History } from "./history";
import { type Action, type HeldAction } from "./keys";
import { type Command, Link } from "./link";
import { COLUMNS } from "./map";
import { type Banner, get, toast } from "./notices";
import { forEachPicture } from "./pictures";
import { Plots } from "./plots";
import { type SceneStage } from "./stage";
import { trailRows } from "./trail";
import { Transport } from "./transport";
import { type Boot, type Meta, type Range, type Status, type Vector } from "./types";

const WINDOW = 20; // s that the plots show
const PLOTS_EVERY = 120; // ms; curves are the dearest part of a picture where the browser draws without a graphics card
const COUNT_EVERY = 1000; // ms
const WAITING = "Ready. Space begins the program of the scenario; hold ↑ or ↓ to drive by yourself.";
const LOST = "Connection lost, trying again…";
const DECIMALS = 2;
const MAP_EVERY = 500; // ms
const REPLAYED = 10; // s
const LONGEST_TICK = 0.25; // s; a page that was hidden does not leap
const AHEAD = 4; // s at full speed, how far the place lies to which a key sends a trolley
const AWAY = 0.1; // of the string, how far aside a gamepad pulls

export class Live {
  received = 0;
  time = 0;
  private meta!: Meta;
  private readonly link: Link;
  private readonly controls: Controls;
  private readonly transport: Transport;
  private history: History;
  plots: Plots;
  private status: Status | null = null;
  private following = true;
  private replayed: { until: number; at: number } | null = null; // time at which it ends, and the clock of the last picture
  private readonly aside: Record<"left" | "right", Held>;
  zoomed: Range | null = null;
  private readonly gamepads: Gamepads;
  private mapAt = 0;
  private plotsAt = 0;
  private plotsStale = false;
  private counts = { at: 0, drawn: 0 };

  constructor(
    boot: Boot,
    private readonly stage: SceneStage,
    private readonly banner: Banner,
  ) {
    [this.history, this.plots] = this.open(boot.runs[0]);
    this.link = new Link(boot.token ?? "", {
      hello: (meta, status) => this.hello(meta, status),
      status: (status) => this.take(status),
      state: (numbers) => this.push(numbers),
      refused: (why) => {
        toast(why);
        this.controls.refused();
      },
      lost: () => this.lost(),
      trouble: (problem) => toast(`A message of the simulation could not be read: ${problem.message}`),
    });
    this.controls = new Controls((command) => this.send(command));
    this.controls.setLimits(boot.runs[0].limits);
    this.controls.setConnected(false);
    this.transport = new Transport(true, {
      toggle: () => this.act("toggle"),
      step: (states) => this.step(states),
      seek: (time) => this.seek(time),
      speed: () => undefined,
      loop: () => undefined,
      newest: () => this.act("newest"),
    });
    get("readout").hidden = false;
    get("replay").hidden = false;
    get("replay").addEventListener("click", () => this.act("replay"));
    this.aside = { left: this.moving([-1, 0, 0]), right: this.moving([1, 0, 0]) };
    this.gamepads = new Gamepads({
      wind: (part) => this.controls.panel?.windAt(part),
      move: (direction) => this.move(direction),
      press: (action) => this.act(action),
    });
  }

  private moving(direction: Vector): Held {
    return new Held((on) => this.move(on ? direction : [0, 0, 0]));
  }

  /** What goes on while a key is held. */
  hold(action: HeldAction, on: boolean): void {
    if (action === "in" || action === "out") this.controls.wind(action, on);
    else this.aside[action].set(on);
  }

  /** The left stick: carry what carries lines, steer the body where reels can, else pull it aside. */
  private move(direction: Vector): void {
    const [carried] = Object.entries(this.meta.limits?.carried ?? {});
    if (carried) return this.carry(...carried, direction);
    if (this.controls.steers) return this.controls.steer(direction);
    const [body, frame] = [this.meta.bodies.findIndex(({ held }) => !held), this.stage.shown(0)];
    if (body < 0 || !frame) return;
    const away = AWAY * this.meta.lines[0].length;
    const from = this.history.layout.bodyPoint(frame.row, body, this.meta.bodies[body].center_of_mass, [0, 0, 0]);
    this.pull(body, direction.every((part) => part === 0) ? null : (from.map((x, i) => x + away * direction[i]) as Vector));
  }

  /** Let a body whose motion is given go in a direction, as fast as it may for a part of 1. */
  private carry(name: string, fastest: number, direction: Vector): void {
    const frame = this.history.nearest(this.history.end);
    if (!frame) return;
    const from = this.history.layout.bodyPoint(frame.row, this.meta.bodies.findIndex((body) => body.name === name), [0, 0, 0], [0, 0, 0]);
    const still = direction.every((part) => part === 0);
    this.send({ type: "carry", body: name, to: still ? null : (from.map((x, i) => x + AHEAD * fastest * direction[i]) as Vector) });
  }

  /** Pull a body, by its number, to a place; or let it go. One whose motion is given is carried there. */
  pull(body: number, to: Vector | null): void {
    const { name, held } = this.meta.bodies[body];
    this.send({ type: held ? "carry" : "pull", body: name, to });
  }

  /** Connect; the promise ends with the first picture of a state. */
  start(): Promise<void> {
    this.banner.set("link", "Connecting to the simulation…");
    this.link.open();
    return new Promise((done) => {
      forEachPicture((now) => {
        this.tick(now);
        if (this.received > 0) done();
      });
    });
  }

  seek(time: number): void {
    this.following = false;
    this.replayed = null;
    this.time = time;
  }

  act(action: Action): void {
    const { controls } = this;
    if (action === "toggle") this.send({ type: "pause", on: !this.status?.paused && !this.status?.waiting });
    else if (action === "replay") this.replay();
    else if (action === "lock" || action === "free" || action === "drive" || action === "reel") controls.panel?.press(action);
    else if (action === "impulse" || action === "reset" || action === "record") controls[action]();
    else if (action === "more") controls.panel?.nudge(1);
    else if (action === "less") controls.panel?.nudge(-1);
    else if (action === "next") controls.nextReel();
    else if (action === "faster") controls.faster(1);
    else if (action === "slower") controls.faster(-1);
    else if (action === "newest") [this.following, this.replayed] = [true, null];
  }

  /** Show the last seconds once more, then the newest state again; a second call ends it. */
  private replay(): void {
    const { start, end } = this.history;
    if (this.replayed) return this.act("newest");
    this.following = false;
    this.time = Math.max(start, end - REPLAYED);
    this.replayed = { until: end, at: performance.now() };
  }

  private playReplay(now: number): void {
    if (!this.replayed) return;
    this.time += Math.min((now - this.replayed.at) / 1000, LONGEST_TICK) * (this.status?.rate ?? 1);
    this.replayed.at = now;
    if (this.time >= this.replayed.until) [this.replayed, this.following] = [null, true];
  }

  get plotted(): Range {
    if (this.zoomed) return this.zoomed;
    const { begun, end } = this.history;
    const from = Math.max(begun, end - WINDOW);
    return [from, from + WINDOW];
  }

  /** The time in view, as text. */
  get clock(): string {
    return `${this.time.toFixed(DECIMALS)} s`;
  }

  /** A live run goes on by itself while it is filmed. */
  film(): void {}

  zoom(range: Range | null): void {
    this.zoomed = range;
    this.plotsStale = true;
  }

  get connected(): boolean {
    return this.link.connected;
  }

  private open(meta: Meta): [History, Plots] {
    const history = new History(meta);
    this.meta = meta;
    this.stage.open([meta], [history.layout]);
    const plots = new Plots(get("plots"), [meta], [history.layout], [meta.start, meta.start + WINDOW], {
      seek: (time) => this.seek(time),
      zoom: (range) => this.zoom(range),
    });
    return [history, plots];
  }

  private hello(meta: Meta, status: Status): void {
    this.banner.set("link", null);
    if (!this.history.fits(meta)) [this.history, this.plots] = this.open(meta);
    this.controls.setLimits(meta.limits);
    this.controls.setConnected(true);
    this.take(status);
  }

  private take(status: Status): void {
    this.status = status;
    this.controls.show(status);
    this.stage.legend.setRanges(status.ranges); // of all that was since the start: the same on every page
    this.banner.set("status", status.message || null, status.level);
    this.banner.set("waiting", status.waiting ? WAITING : null);
    const { excess, limit } = status.alarm;
    const which = excess && this.meta.lines.length > 1 ? ` in ${excess.line}` : "";
    this.banner.set("alarm", excess ? `Alarm: ${value(excess.tension, "N")}${which} at ${excess.time.toFixed(2)} s, above ${value(limit, "N")}.` : null, "alarm");
    const badge = get("state");
    badge.hidden = false;
    badge.textContent = status.ended ? "ended" : status.waiting ? "ready" : status.paused ? "paused" : status.running ? "running" : "stopped";
    badge.classList.toggle("bad", status.ended && status.level === "warning");
  }

  private push(numbers: Float64Array): void {
    if (this.history.push(numbers)) {
      this.zoomed = null;
      this.controls.again();
    }
    this.received++;
    this.plotsStale = true;
  }

  private lost(): void {
    this.banner.set("link", LOST, "warning");
    for (const cause of ["status", "waiting", "alarm"]) this.banner.set(cause, null); // of what is gone
    this.controls.setConnected(false);
    this.status = null;
    get("state").textContent = "not connected";
  }

  private send(command: Command): void {
    if (!this.link.send(command)) toast("Not connected: the command was not sent.");
  }

  private step(states: number): void {
    const frame = this.stage.shown(0);
    if (frame) this.seek(this.history.step(frame, states).row[0]);
  }

  private tick(now: number): void {
    const { history, stage } = this;
    this.playReplay(now);
    get("replay").setAttribute("aria-pressed", String(this.replayed !== null));
    if (this.following) this.time = history.end;
    this.time = Math.min(Math.max(this.time, history.start), history.end);
    const frame = history.nearest(this.time);
    if (frame && frame.row !== stage.shown(0)?.row) {
      stage.show(0, frame);
      this.plots.setRow(0, frame.row);
      stage.trail(0, trailRows(history, frame, 0));
    }
    stage.render();
    if (this.plotsStale && now - this.plotsAt >= PLOTS_EVERY) {
      this.plotsAt = now;
      this.plotsStale = false;
      this.plots.setRange(this.plotted);
      this.plots.setTables([history.curves]);
    }
    if (now - this.mapAt >= MAP_EVERY) {
      this.mapAt = now;
      this.plots.setMap(history.sweep(this.plotted[0], COLUMNS));
    }
    this.plots.setTime(this.time);
    this.gamepads.poll(now);
    this.transport.update({
      time: this.time,
      start: history.start,
      end: history.end,
      playing: this.connected && !this.status?.paused && !this.status?.ended && !this.status?.waiting,
      decimals: DECIMALS,
      waiting: false,
      newest: this.following,
    });
    this.count(now);
  }

  private count(now: number): void {
    const seconds = (now - this.counts.at) / 1000;
    if (1000 * seconds < COUNT_EVERY) return;
    const per = (count: number) => Math.round(count / seconds);
    const every = this.meta.interval ? ` · a sample every ${number(1000 * this.meta.interval, 3)} ms` : "";
    const { achieved, rate, running } = this.status ?? { achieved: 0, rate: 0, running: false };
    get("readout").textContent = this.status
      ? `${pace(achieved, running ? rate : 0)} · ${per(this.stage.drawn - this.counts.drawn)} frames/s${every}`
      : "";
    this.counts = { at: now, drawn: this.stage.drawn };
  }
}
