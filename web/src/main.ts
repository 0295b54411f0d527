// Builds the page, and exposes an interface for tests and notebooks.

import "./language";

import { Address, decode, encode } from "./address";
import { prepareHelp } from "./help";
import { type Action, listenToKeys } from "./keys";
import { LETTERS } from "./lines";
import { Live } from "./live";
import { Banner, fatal, get, toast } from "./notices";
import { toggleTheme } from "./palette";
import { PayloadError, readBoot } from "./payload";
import { Recorded } from "./recorded";
import { Share } from "./share";
import { SceneStage } from "./stage";
import { type Boot, type Mode, type Range } from "./types";

/** What other scripts may use; see README.md. */
interface Door {
  ready: Promise<void>;
  mode: Mode;
  time(): number;
  frame(run?: number): number | null;
  nodes(run?: number): number[];
  wheels(run?: number): { center: number[]; turn: number }[];
  seek(time: number): void;
  act(action: Action): void;
  playing(): boolean;
  plotted(): Range;
  value(name: string, run?: number): number | null;
  drawn(): number;
  live: { received: number; drawn: number; connected: boolean } | null;
}

declare global {
  interface Window {
    tautline?: Door;
  }
}

function showTitle(boot: Boot): void {
  const title = get("title");
  title.textContent = boot.title ?? boot.runs[0].title;
  title.title = boot.runs.map((run) => `${run.title} (tautline ${run.version})`).join("\n");
  if (!document.title) document.title = `${boot.runs[0].title} – tautline`;
}

/** What is not in a page that holds its run. */
function showThinned(boot: Boot): void {
  const texts = boot.runs.flatMap(({ title, thinned }) => {
    if (!thinned) return [];
    const parts = [
      thinned.frames > 1 ? `the scene shows every ${ordinal(thinned.frames)} of ${thinned.samples} samples` : "",
      thinned.curves > 1 ? `curves show the extremes of every ${thinned.curves} samples` : "",
    ].filter(Boolean);
    return parts.length ? `${boot.runs.length > 1 ? `${title}: ` : ""}${parts.join(", ")}` : [];
  });
  get("thinned").hidden = texts.length === 0;
  get("thinned").textContent = texts.length ? `Thinned: ${texts.join("; ")}.` : "";
  get("thinned").title = "Export with --full to have all of them in the page.";
}

function ordinal(n: number): string {
  const ending = n % 100 > 10 && n % 100 < 14 ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th");
  return `${n}${ending}`;
}

/** Runs that did not complete say so, with their reason; so do those that are not to be trusted in all they show. */
function showOutcome(boot: Boot, banner: Banner): void {
  const several = boot.runs.length > 1;
  const texts = boot.runs.flatMap(({ status, message, warnings }, run) => {
    if (status === "completed" && warnings.length === 0) return [];
    const text = [message || status, ...warnings].join("\n");
    return several ? `${LETTERS[run]}: ${text}` : text;
  });
  banner.set("runs", texts.join("\n") || null, boot.runs.every(({ status }) => status === "completed") ? "info" : "warning");
  const bad = boot.runs.filter(({ status }) => status !== "completed");
  const warnings = boot.runs.reduce((count, run) => count + run.warnings.length, 0);
  const badge = get("state");
  badge.hidden = false;
  badge.textContent = bad.length > 0 ? bad.map((run) => `${several ? `${LETTERS[boot.runs.indexOf(run)]} ` : ""}${run.status.replaceAll("_", " ")}`).join(", ") : "completed";
  if (warnings > 0) badge.textContent += warnings === 1 ? ", 1 warning" : `, ${warnings} warnings`;
  badge.classList.toggle("bad", bad.length > 0);
}

function togglePlots(): void {
  const hidden = get("app").classList.toggle("no-plots");
  get("toggle-plots").setAttribute("aria-pressed", String(!hidden));
}

function begin(): void {
  const boot = readBoot();
  const banner = new Banner();
  const live = boot.mode === "live";
  const stage = new SceneStage(live, live ? (body, to) => (show as Live).pull(body, to) : null);
  get("app").classList.toggle("live", live);
  showTitle(boot);
  showThinned(boot);
  if (!live) showOutcome(boot, banner);
  const show: Live | Recorded = live ? new Live(boot, stage, banner) : new Recorded(boot, stage, banner);
  const time = () => (show instanceof Live ? show.time : show.player.time);
  const place = () => ({ time: show instanceof Live ? null : show.player.time, zoom: show.zoomed });
  const address = new Address((charts) => encode(stage, show.plots, place(), charts));
  const share: Share = new Share(stage, () => show.plots, boot.title ?? boot.runs[0].title, time, () => show.clock, () => address.link, (on) => show.film(on, () => share.cut()));
  const toggleHelp = prepareHelp(boot.mode);
  const pages: Partial<Record<Action, () => void>> = {
    help: toggleHelp,
    theme: toggleTheme,
    plots: togglePlots,
    charts: () => show.plots.arrangement.choose(),
    picture: () => void share.picture(),
    film: () => share.film(),
    link: () => void share.copyLink(),
    whole: () => void share.whole(),
  };
  const act = (action: Action) => {
    const page = pages[action];
    if (page) page();
    else if (!stage.act(action)) show.act(action);
  };
  listenToKeys(boot.mode, act, (action, on) => show instanceof Live && show.hold(action, on));
  get("help-button").addEventListener("click", toggleHelp);
  get("theme").addEventListener("click", toggleTheme);
  get("toggle-plots").addEventListener("click", togglePlots);
  get("charts-button").addEventListener("click", () => show.plots.arrangement.choose());
  get("charts-close").addEventListener("click", () => get<HTMLDialogElement>("charts").close());

  const given = decode(location.hash, stage, show.plots);
  const begun = show.start();
  const ready = begun.then(() => {
    if (show instanceof Recorded && given.time !== null) show.seek(given.time);
    if (given.zoom) show.zoom(given.zoom);
    if (show instanceof Recorded && given.play) Object.assign(show.player, { playing: true, loop: true });
    const write = (now: number) => {
      address.update(now);
      requestAnimationFrame(write);
    };
    requestAnimationFrame(write);
  });
  ready.catch(fatal);
  window.tautline = {
    ready,
    mode: boot.mode,
    time,
    frame: (run = 0) => stage.shown(run)?.index ?? null,
    nodes: (run = 0) => stage.nodes(run),
    wheels: (run = 0) => stage.wheels(run),
    seek: (time) => show.seek(time),
    act,
    playing: () => show instanceof Recorded && show.player.playing,
    plotted: () => show.plotted,
    value: (name, run = 0) => show.plots.at(name, run),
    drawn: () => stage.drawn,
    get live() {
      return show instanceof Live ? { received: show.received, drawn: stage.drawn, connected: show.connected } : null;
    },
  };
}

window.addEventListener("error", (event) => toast(`Something went wrong on this page: ${event.message}`));
window.addEventListener("unhandledrejection", (event) => {
  if (!(event.reason instanceof PayloadError)) toast(`Something went wrong on this page: ${event.reason}`);
});

try {
  begin();
} catch (problem) {
  fatal(problem);
}
