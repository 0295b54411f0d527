// Builds the page, and exposes an interface for tests and notebooks.

import { prepareHelp } from "./help";
import { type Action, listenToKeys } from "./keys";
import { Live } from "./live";
import { Banner, fatal, get, toast } from "./notices";
import { toggleTheme } from "./palette";
import { PayloadError, readBoot } from "./payload";
import { Recorded } from "./recorded";
import { SceneStage } from "./stage";
import { type Boot, type Mode, type Range } from "./types";

/** What other scripts may use; see README.md. */
interface Door {
  ready: Promise<void>;
  mode: Mode;
  time(): number;
  frame(run?: number): number | null;
  nodes(run?: number): number[];
  seek(time: number): void;
  act(action: Action): void;
  playing(): boolean;
  plotted(): Range;
  drawn(): number;
  live: { received: number; drawn: number; connected: boolean } | null;
}

declare global {
  interface Window {
    tautline?: Door;
  }
}

function showTitle(boot: Boot): void {
  const [first, second] = boot.runs;
  const title = get("title");
  title.textContent = first.title;
  if (second) title.append(Object.assign(document.createElement("span"), { className: "against", textContent: " against " }), second.title);
  title.title = boot.runs.map((run) => `${run.title} (tautline ${run.version})`).join("\n");
  if (!document.title) document.title = `${first.title} – tautline`;
}

/** Runs that did not complete say so, with their reason; so do those that are not to be trusted in all they show. */
function showOutcome(boot: Boot, banner: Banner): void {
  boot.runs.forEach(({ status, message, remarks, title }, run) => {
    if (status === "completed" && remarks.length === 0) return;
    const text = message || status;
    banner.set(`run-${run}`, boot.runs.length > 1 ? `${title}: ${text}` : text, status === "completed" ? "info" : "warning");
  });
  const bad = boot.runs.filter(({ status }) => status !== "completed");
  const remarks = boot.runs.reduce((count, run) => count + run.remarks.length, 0);
  const badge = get("state");
  badge.hidden = false;
  badge.textContent = bad.length > 0 ? bad.map(({ status }) => status).join(", ") : "completed";
  if (remarks > 0) badge.textContent += remarks === 1 ? ", 1 remark" : `, ${remarks} remarks`;
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
  const stage = new SceneStage(live);
  showTitle(boot);
  if (!live) showOutcome(boot, banner);
  const show = live ? new Live(boot, stage, banner) : new Recorded(boot, stage, banner);
  const toggleHelp = prepareHelp(boot.mode);
  const act = (action: Action) => {
    if (action === "help") toggleHelp();
    else if (action === "theme") toggleTheme();
    else if (action === "plots") togglePlots();
    else if (!stage.act(action)) show.act(action);
  };
  listenToKeys(boot.mode, act);
  get("help-button").addEventListener("click", toggleHelp);
  get("theme").addEventListener("click", toggleTheme);
  get("toggle-plots").addEventListener("click", togglePlots);

  const ready = show.start();
  ready.catch(fatal);
  window.tautline = {
    ready,
    mode: boot.mode,
    time: () => (show instanceof Live ? show.time : show.player.time),
    frame: (run = 0) => stage.shown(run)?.index ?? null,
    nodes: (run = 0) => stage.nodes(run),
    seek: (time) => show.seek(time),
    act,
    playing: () => show instanceof Recorded && show.player.playing,
    plotted: () => show.plotted,
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
