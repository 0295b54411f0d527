// The view in the page's address: time, zoom, camera, colors, charts and theme, so that a link or a reload shows the same.

import { FIRST, type Span } from "./legend";
import { type Quantity } from "./layout";
import { setTheme, theme } from "./palette";
import { type Plots } from "./plots";
import { type SceneStage } from "./stage";
import { type Range } from "./types";

const WRITE_EVERY = 400; // ms

/** What is in the address besides what scene and plots know themselves. */
export interface Place {
  time: number | null; // null: the newest
  zoom: Range | null;
  play?: boolean; // again and again, from when the page is opened
}

const short = (x: number) => String(Number(x.toPrecision(6)));

/** The part of an address behind its number sign. */
export function encode(stage: SceneStage, plots: Plots, { time, zoom }: Place, charts: boolean): string {
  const { legend, scene } = stage;
  const parts: [string, string][] = [];
  if (time !== null) parts.push(["t", short(time)]);
  if (zoom) parts.push(["zoom", zoom.map(short).join()]);
  if (scene?.rig.moved && stage.following === null) parts.push(["camera", scene.rig.state.map(short).join()]);
  if (stage.following !== null) parts.push(["follow", String(stage.following)]);
  if (scene?.sideBySide) parts.push(["beside", "1"]);
  if (plots.difference) parts.push(["difference", "1"]);
  if (legend.quantity !== FIRST) parts.push(["color", legend.quantity]);
  if (legend.span === "own") parts.push(["range", legend.own.map(short).join()]);
  else if (legend.span !== "run") parts.push(["range", legend.span]);
  if (charts) parts.push(["charts", plots.arrangement.shown.join()]);
  parts.push(["theme", theme()]);
  return parts.map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll("%2C", ",")}`).join("&");
}

/** Bring back what an address says, as far as it makes sense; the rest is the caller's. */
export function decode(hash: string, stage: SceneStage, plots: Plots): Place {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const numbers = (name: string) => (given.get(name) ?? "").split(",").map((text) => (text.trim() === "" ? NaN : Number(text)));
  const { legend, scene } = stage;
  const look = given.get("theme");
  if (look === "dark" || look === "light") setTheme(look);
  if (given.has("color")) legend.colorBy(given.get("color") as Quantity);
  const range = numbers("range");
  if (range.length === 2 && range.every(Number.isFinite)) legend.setOwn(range as Range);
  else if (given.has("range")) legend.showSpan(given.get("range") as Span);
  if (given.has("charts")) plots.arrangement.shown = (given.get("charts") ?? "").split(",");
  if (given.has("difference")) plots.setDifference(true);
  if (given.has("beside") && scene && !scene.sideBySide) stage.act("compare");
  if (given.has("follow")) stage.setFollow(numbers("follow")[0]);
  if (given.has("camera") && scene) scene.rig.state = numbers("camera");
  const [[time], zoom] = [numbers("t"), numbers("zoom")];
  const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  return {
    time: Number.isFinite(time) ? time : null,
    zoom: zoom.length === 2 && zoom[1] > zoom[0] ? (zoom as Range) : null,
    play: given.has("play") && !still,
  };
}

/** Keep the address as the view is, without a history; not where it may not be touched, as inside a notebook. */
export class Address {
  private written = "";
  private at = 0;
  private allowed = location.protocol !== "about:";

  constructor(private readonly current: (charts: boolean) => string) {}

  /** Called for every picture. */
  update(now: number): void {
    if (!this.allowed || now - this.at < WRITE_EVERY) return;
    this.at = now;
    const hash = this.current(false);
    if (hash === this.written) return;
    this.written = hash;
    try {
      history.replaceState(null, "", `#${hash}`);
    } catch {
      this.allowed = false;
    }
  }

  /** A link to the view as it is, charts included. */
  get link(): string {
    return `${location.href.split("#")[0]}#${this.current(true)}`;
  }
}
