// A body that is pulled with the mouse or a finger: grab it in the scene and drag.

import { type Scene } from "./scene";
import { throttle } from "./throttle";
import { type Vector } from "./types";

const SEND_EVERY = 30; // ms, while the hand moves
const AGAIN = 250; // ms; a pull that is not asked for again ends

export type Pull = (body: number, to: Vector | null) => void;

export class Grab {
  private body: number | null = null;
  private to: Vector = [0, 0, 0];
  private timer = 0;
  private readonly send: (to: Vector) => void;

  constructor(
    private readonly scene: Scene,
    private readonly canvas: HTMLCanvasElement,
    private readonly pull: Pull,
  ) {
    this.send = throttle<Vector>(SEND_EVERY, (to) => this.body !== null && this.pull(this.body, to));
    // before the camera's own listener, which must not turn the scene meanwhile
    canvas.addEventListener("pointerdown", (event) => this.begin(event), { capture: true });
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"] as const) canvas.addEventListener(name, () => this.end());
  }

  private begin(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.body = this.scene.sight.bodyAt(event.offsetX, event.offsetY);
    if (this.body === null) return;
    event.stopImmediatePropagation();
    this.canvas.setPointerCapture(event.pointerId);
    this.timer = window.setInterval(() => this.send(this.to), AGAIN);
    this.move(event);
  }

  private move(event: PointerEvent): void {
    if (this.body === null) {
      this.canvas.style.cursor = this.scene.sight.bodyAt(event.offsetX, event.offsetY) === null ? "" : "grab";
      return;
    }
    this.canvas.style.cursor = "grabbing";
    this.to = this.scene.sight.placeAt(event.offsetX, event.offsetY, this.body);
    this.scene.setLeash(this.body, this.to);
    this.send(this.to);
  }

  private end(): void {
    if (this.body === null) return;
    window.clearInterval(this.timer);
    this.pull(this.body, null);
    this.scene.setLeash(null);
    this.body = null;
  }
}
