// What can be shown to others: a picture, a film, a link; and the whole screen.

import { get, toast } from "./notices";
import { paintChart } from "./paint";
import { css } from "./palette";
import { type Plots } from "./plots";
import { type SceneStage } from "./stage";

const TIMES = 2; // as fine as the screen
const HEAD = 30; // px above the scene in a picture
const RATE = 30; // pictures a second of a film
const BITS = 8e6; // a second
const TYPES = ["video/mp4;codecs=avc1.64002A", "video/mp4;codecs=avc1.42E01E", "video/mp4;codecs=avc1", "video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"];
const BESIDE = 0.36; // of a film's width, for charts
const CHART_HEIGHT = 200; // px in a film, at least

/** Give the reader a file. */
function save(blob: Blob, name: string): void {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const plain = (title: string) => title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "tautline";

export class Share {
  private recorder: MediaRecorder | null = null;
  private readonly menu = get<HTMLDetailsElement>("share");

  /** `time` in view, and `clock`, the same as text; `link`: to this view. */
  constructor(
    private readonly stage: SceneStage,
    private readonly plots: () => Plots,
    private readonly title: string,
    private readonly time: () => number,
    private readonly clock: () => string,
    private readonly link: () => string,
    private readonly filming: (on: boolean) => void,
  ) {
    for (const [id, act] of [["picture", () => this.picture()], ["csv", () => this.csv()], ["film", () => this.film()], ["link", () => this.copyLink()], ["whole", () => this.whole()]] as const)
      get(id).addEventListener("click", () => {
        this.menu.open = false;
        void act();
      });
    document.addEventListener("click", ({ target }) => {
      if (target === get("page") || !this.menu.contains(target as Node)) this.menu.open = false;
    });
    get("film").hidden = typeof MediaRecorder === "undefined";
    get("film-size").hidden = get("film").hidden;
    document.addEventListener("fullscreenchange", () => get("whole").setAttribute("aria-pressed", String(document.fullscreenElement !== null)));
  }

  // -- pictures ---------------------------------------------------------------------------------------

  /** Scene and charts as they are, on one picture twice as fine as the screen. */
  async picture(): Promise<void> {
    const { scene } = this.stage;
    const host = get("scene");
    const [width, height] = [host.clientWidth, host.clientHeight];
    const beside = get("plots").clientWidth > 0 && this.plots().pictures.length > 0 ? Math.min(get("plots").clientWidth, 0.6 * width) : 0;
    const canvas = Object.assign(document.createElement("canvas"), { width: TIMES * (width + beside), height: TIMES * (height + HEAD) });
    const brush = canvas.getContext("2d");
    if (!brush) return;
    brush.scale(TIMES, TIMES);
    this.paintBack(brush, width + beside, height + HEAD, HEAD);
    this.paintTitle(brush, width + beside, 20);
    if (scene) brush.drawImage(await scene.picture(TIMES), 0, HEAD, width, height);
    this.paintLegend(brush, width, height + HEAD);
    if (beside > 0) this.paintCharts(brush, width, HEAD, beside, height, 120);
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
    if (blob) save(blob, `${plain(this.title)}.png`);
  }

  /** As many charts as fit, from the first one on. */
  private paintCharts(brush: CanvasRenderingContext2D, left: number, top: number, width: number, height: number, least: number): void {
    const charts = this.plots().pictures.slice(0, Math.max(1, Math.floor(height / least)));
    brush.fillStyle = css("panel");
    brush.fillRect(left, top, width, height);
    const tall = height / Math.max(1, charts.length);
    charts.forEach((chart, i) => paintChart(brush, chart, this.time(), { left, top: top + i * tall, width, height: tall }));
  }

  private paintBack(brush: CanvasRenderingContext2D, width: number, height: number, top: number): void {
    brush.fillStyle = css("panel");
    brush.fillRect(0, 0, width, height);
    const fade = brush.createLinearGradient(0, top, 0, height);
    fade.addColorStop(0, css("scene-top"));
    fade.addColorStop(1, css("scene-bottom"));
    brush.fillStyle = fade;
    brush.fillRect(0, top, width, height - top);
  }

  /** Title and time, on a line (px from the top). */
  private paintTitle(brush: CanvasRenderingContext2D, width: number, line: number): void {
    brush.fillStyle = css("text");
    brush.font = "600 15px system-ui, sans-serif";
    brush.fillText(this.title, 12, line);
    brush.textAlign = "right";
    brush.fillText(this.clock(), width - 12, line);
    brush.textAlign = "left";
  }

  private paintLegend(brush: CanvasRenderingContext2D, right: number, bottom: number): void {
    const [name, ...numbers] = this.stage.legend.caption;
    const [left, wide] = [right - 192, 180];
    brush.drawImage(get<HTMLCanvasElement>("legend-bar"), left, bottom - 32, wide, 9);
    brush.fillStyle = css("text");
    brush.font = "12px system-ui, sans-serif";
    brush.fillText(name, left, bottom - 38);
    numbers.forEach((text, i) => {
      brush.textAlign = i === 0 ? "left" : i === numbers.length - 1 ? "right" : "center";
      brush.fillText(text, left + (wide * i) / Math.max(1, numbers.length - 1), bottom - 9);
    });
    brush.textAlign = "left";
  }

  /** The curves that are shown, over the time in view. */
  csv(): void {
    save(new Blob([this.plots().csv], { type: "text/csv" }), `${plain(this.title)}.csv`);
  }

  // -- films ------------------------------------------------------------------------------------------

  /** Film the scene at the chosen size until this is asked for again, or the run is over. */
  film(): void {
    const { scene } = this.stage;
    if (this.recorder) return this.cut();
    if (!scene || get("film").hidden) return;
    const [width, height] = get<HTMLSelectElement>("film-size").value.split("x").map(Number);
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    const brush = canvas.getContext("2d");
    if (!brush) return;
    const beside = get("plots").clientWidth > 0 && width > height ? Math.round(BESIDE * width) : 0;
    scene.setPictureSize([width - beside, height]);
    const pieces: Blob[] = [];
    const type = TYPES.find((candidate) => MediaRecorder.isTypeSupported(candidate));
    const recorder = new MediaRecorder(canvas.captureStream(RATE), { ...(type ? { mimeType: type } : {}), videoBitsPerSecond: BITS });
    const draw = () => {
      if (this.recorder !== recorder) return;
      this.paintBack(brush, width - beside, height, 0);
      scene.touch();
      scene.render();
      brush.drawImage(scene.renderer.domElement, 0, 0, width - beside, height);
      this.paintTitle(brush, width - beside, 26);
      this.paintLegend(brush, width - beside, height);
      if (beside > 0) this.paintCharts(brush, width - beside, 0, beside, height, CHART_HEIGHT);
      requestAnimationFrame(draw);
    };
    recorder.addEventListener("dataavailable", ({ data }) => data.size > 0 && pieces.push(data));
    recorder.addEventListener("stop", () => {
      if (pieces.length > 0) save(new Blob(pieces, { type: recorder.mimeType }), `${plain(this.title)}.${recorder.mimeType.startsWith("video/mp4") ? "mp4" : "webm"}`);
      else toast("This browser recorded nothing: it has no encoder for films. Another browser may.");
    });
    this.recorder = recorder;
    get("film").setAttribute("aria-pressed", "true");
    this.filming(true);
    recorder.start(500);
    draw();
  }

  /** The film is over. */
  cut(): void {
    if (!this.recorder) return;
    const { recorder } = this;
    this.recorder = null;
    recorder.stop();
    this.stage.scene?.setPictureSize(null);
    get("film").setAttribute("aria-pressed", "false");
    this.filming(false);
  }

  // -- link and screen ----------------------------------------------------------------------------------

  async copyLink(): Promise<void> {
    const link = this.link();
    try {
      await navigator.clipboard.writeText(link);
      toast("The link to this view is on the clipboard.", "info");
    } catch {
      window.prompt("Copy this link:", link);
    }
  }

  async whole(): Promise<void> {
    if (document.fullscreenElement) await document.exitFullscreen();
    else await get("app").requestFullscreen().catch(() => toast("This browser does not give the whole screen to this page."));
  }
}
