// Which charts are shown, in which order and how large; remembered by the browser.

import { get } from "./notices";
import { type Panel, type Size } from "./panel";

const STORED = "tautline-charts";
const SIZES: Size[] = ["small", "normal", "large"];

interface Kept {
  order: string[];
  hidden: string[];
  sizes: Record<string, Size>;
}

export class Arrangement {
  private kept: Kept;

  constructor(
    private readonly host: HTMLElement,
    private readonly panels: Panel[],
    private readonly foot: HTMLElement,
  ) {
    this.kept = stored() ?? { order: [], hidden: [], sizes: {} };
    this.lay();
  }

  /** Names of what is shown, from above; what is named there is shown from now on, and nothing else. */
  get shown(): string[] {
    return this.ordered.map(({ plot }) => plot.name).filter((name) => !this.kept.hidden.includes(name));
  }

  set shown(names: string[]) {
    const all = this.panels.map(({ plot }) => plot.name);
    const known = names.filter((name) => all.includes(name));
    if (known.length === 0) return;
    this.kept = { ...this.kept, order: known, hidden: all.filter((name) => !known.includes(name)) };
    this.lay();
  }

  hide(name: string, on = true): void {
    this.change({ hidden: [...this.kept.hidden.filter((other) => other !== name), ...(on ? [name] : [])] });
  }

  enlarge(name: string): void {
    this.resize(name, this.kept.sizes[name] === "large" ? "normal" : "large");
  }

  private resize(name: string, size: Size): void {
    this.change({ sizes: { ...this.kept.sizes, [name]: size } });
  }

  private move(name: string, places: number): void {
    const order = this.ordered.map(({ plot }) => plot.name);
    const at = order.indexOf(name);
    const to = Math.min(Math.max(at + places, 0), order.length - 1);
    order.splice(to, 0, ...order.splice(at, 1));
    this.change({ order });
  }

  private change(change: Partial<Kept>): void {
    this.kept = { ...this.kept, ...change };
    try {
      localStorage.setItem(STORED, JSON.stringify(this.kept));
    } catch {
      // what is chosen then lasts as long as the page
    }
    this.lay();
    if (get<HTMLDialogElement>("charts").open) this.list();
  }

  private get ordered(): Panel[] {
    const place = ({ plot }: Panel) => {
      const at = this.kept.order.indexOf(plot.name);
      return at < 0 ? this.kept.order.length + this.panels.findIndex((panel) => panel.plot === plot) : at;
    };
    return [...this.panels].sort((a, b) => place(a) - place(b));
  }

  private lay(): void {
    for (const panel of this.panels) {
      panel.element.hidden = this.kept.hidden.includes(panel.plot.name);
      panel.setSize(this.kept.sizes[panel.plot.name] ?? "normal");
    }
    this.host.replaceChildren(...this.ordered.map(({ element }) => element), this.foot);
  }

  /** The dialog in which all this is chosen. */
  choose(): void {
    this.list();
    const dialog = get<HTMLDialogElement>("charts");
    if (dialog.open) dialog.close();
    else dialog.showModal();
  }

  private list(): void {
    get("chart-list").replaceChildren(
      ...this.ordered.map(({ plot: { name, label } }) => {
        const item = document.createElement("li");
        const box = Object.assign(document.createElement("input"), { type: "checkbox", checked: !this.kept.hidden.includes(name) });
        box.addEventListener("change", () => this.hide(name, !box.checked));
        const title = document.createElement("label");
        title.append(box, label);
        const size = document.createElement("select");
        size.append(...SIZES.map((text) => new Option(text, text)));
        size.value = this.kept.sizes[name] ?? "normal";
        size.setAttribute("aria-label", `Size of ${label}`);
        size.addEventListener("change", () => this.resize(name, size.value as Size));
        item.append(title, size, this.mover(name, label, "↑", -1), this.mover(name, label, "↓", 1));
        item.dataset.testid = `pick-${name}`;
        return item;
      }),
    );
  }

  private mover(name: string, label: string, text: string, places: number): HTMLElement {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "button icon", textContent: text });
    button.setAttribute("aria-label", `${label} ${places < 0 ? "up" : "down"}`);
    button.addEventListener("click", () => this.move(name, places));
    return button;
  }
}

function stored(): Kept | null {
  try {
    const kept = JSON.parse(localStorage.getItem(STORED) ?? "null") as Kept | null;
    return kept && Array.isArray(kept.order) && Array.isArray(kept.hidden) && kept.sizes ? kept : null;
  } catch {
    return null;
  }
}
