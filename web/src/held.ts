// What goes on while a button or a key is held: it is told again and again, so that it ends where the page is gone.

const AGAIN = 250; // ms

export class Held {
  private timer = 0;

  /** `tell` whether it goes on. */
  constructor(private readonly tell: (on: boolean) => void) {}

  begin(): void {
    if (this.timer) return;
    this.tell(true);
    this.timer = window.setInterval(() => this.tell(true), AGAIN);
  }

  end(): void {
    if (!this.timer) return;
    window.clearInterval(this.timer);
    this.timer = 0;
    this.tell(false);
  }

  set(on: boolean): void {
    if (on) this.begin();
    else this.end();
  }

  /** While a button is held, by a pointer or by Enter or the space bar. */
  by(button: HTMLElement): this {
    const press = (event: KeyboardEvent) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      this.set(event.type === "keydown");
    };
    button.addEventListener("pointerdown", () => this.begin());
    for (const name of ["keydown", "keyup"] as const) button.addEventListener(name, press);
    for (const name of ["pointerup", "pointerleave", "pointercancel", "blur"]) button.addEventListener(name, () => this.end());
    button.addEventListener("contextmenu", (event) => event.preventDefault()); // of a long touch
    return this;
  }
}
