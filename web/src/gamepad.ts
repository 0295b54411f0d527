// A gamepad as a crane driver's levers: the right stick winds the reel, the left one pulls or steers the body, buttons lock and free.

import { type Vector } from "./types";

const DEAD = 0.15; // of a stick's way, in which it rests
const AGAIN = 200; // ms after which a stick that is held is told again

export interface Levers {
  wind(part: number): void; // -1 pays out, 1 retrieves
  move(direction: Vector): void; // x, y, down; each from -1 to 1
  press(action: "lock" | "free" | "toggle" | "next"): void;
}

const BUTTONS: ["lock", "free", "next", "toggle"] = ["lock", "free", "next", "toggle"]; // of the right thumb, from below

export class Gamepads {
  private wound = 0;
  private moved = "0,0,0";
  private toldAt = 0;
  private pressed: boolean[] = [];

  constructor(private readonly levers: Levers) {}

  /** Called for every picture; does nothing where no gamepad is connected. */
  poll(now: number): void {
    const pad = connected();
    if (!pad) return;
    const [x, y, , wind] = pad.axes.map((part) => (Math.abs(part) < DEAD ? 0 : part));
    const again = now - this.toldAt >= AGAIN;
    // a stick is told when it moves, while it is held, and once when it comes to rest
    if (wind !== this.wound || (wind !== 0 && again)) this.levers.wind(-wind);
    const direction: Vector = [x, y, (pad.buttons[7]?.value ?? 0) - (pad.buttons[6]?.value ?? 0)];
    if (direction.join() !== this.moved || (direction.some((part) => part !== 0) && again)) this.levers.move(direction);
    if (again) this.toldAt = now;
    [this.wound, this.moved] = [wind, direction.join()];
    BUTTONS.forEach((action, i) => {
      const down = pad.buttons[i]?.pressed ?? false;
      if (down && !this.pressed[i]) this.levers.press(action);
      this.pressed[i] = down;
    });
  }
}

let allowed = true;

/** The first gamepad with two sticks; none where the page that this one stands in does not allow any. */
function connected(): Gamepad | null {
  if (!allowed) return null;
  try {
    return navigator.getGamepads?.().find((found) => found?.connected && found.axes.length >= 4) ?? null;
  } catch {
    allowed = false;
    return null;
  }
}
