// The bar at the bottom: time, play, step, speed, loop.

import { get } from "./notices";
import { SPEEDS } from "./player";

export interface TransportEvents {
  toggle(): void;
  step(samples: number): void;
  seek(time: number): void;
  speed(value: number): void;
  loop(): void;
  newest(): void;
}

export interface TransportState {
  time: number;
  start: number;
  end: number;
  playing: boolean;
  decimals: number;
  waiting: boolean;
  speed?: number;
  loop?: boolean;
  newest?: boolean;
}

export class Transport {
  private readonly slider = get<HTMLInputElement>("time");
  private readonly select = get<HTMLSelectElement>("speed");
  private last = "";

  constructor(live: boolean, events: TransportEvents) {
    for (const speed of SPEEDS) this.select.append(new Option(`${speed}×`, String(speed)));
    for (const id of ["speed-box", "loop"]) get(id).hidden = live;
    get("newest").hidden = !live;
    get("play").addEventListener("click", events.toggle);
    get("back").addEventListener("click", () => events.step(-1));
    get("forward").addEventListener("click", () => events.step(1));
    get("loop").addEventListener("click", events.loop);
    get("newest").addEventListener("click", events.newest);
    this.slider.addEventListener("input", () => events.seek(Number(this.slider.value)));
    this.select.addEventListener("change", () => {
      events.speed(Number(this.select.value));
      this.select.blur(); // or the keys would go on choosing speeds
    });
  }

  /** Called for every picture; the page is touched only where something changed. */
  update(state: TransportState): void {
    const key = JSON.stringify(state);
    if (key === this.last) return;
    this.last = key;
    const { time, start, end, playing, decimals } = state;
    this.slider.min = String(start);
    this.slider.max = String(end);
    this.slider.value = String(time);
    const text = `${time.toFixed(decimals)} s`;
    this.slider.setAttribute("aria-valuetext", text);
    get("clock").textContent = `${text} / ${end.toFixed(decimals)} s`;
    get("play").setAttribute("aria-pressed", String(playing));
    get("play").setAttribute("aria-label", playing ? "Pause" : "Play");
    get("loading").hidden = !state.waiting;
    get("loop").setAttribute("aria-pressed", String(state.loop ?? false));
    get("newest").setAttribute("aria-pressed", String(state.newest ?? false));
    if (state.speed !== undefined) this.select.value = String(state.speed);
  }
}
