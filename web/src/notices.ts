// What the page tells its reader: a banner for a lasting state, toasts for events, one full page for what cannot be shown at all.

export function get<T extends Element = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no element “${id}”`);
  return element as unknown as T;
}

const TOAST_SECONDS = 6;
const TOASTS = 4;

const LEVELS = ["info", "warning", "alarm"] as const; // the most urgent last
type Level = (typeof LEVELS)[number];

/** Banners by their cause, the most urgent one shown; a dismissed text stays away until it changes. */
export class Banner {
  private readonly texts = new Map<string, { text: string; level: Level }>();
  private dismissed = "";

  constructor() {
    get("banner-more").addEventListener("click", () => this.open(get("banner-more").ariaExpanded !== "true"));
    new ResizeObserver(() => this.fit()).observe(get("banner"));
    get("banner-close").addEventListener("click", () => {
      this.dismissed = get("banner-text").textContent ?? "";
      this.show();
    });
  }

  set(cause: string, text: string | null, level: Level = "info"): void {
    if (this.texts.get(cause)?.text === (text ?? undefined)) return;
    if (text) this.texts.set(cause, { text, level });
    else this.texts.delete(cause);
    this.show();
  }

  /** Long texts are cut, until they are asked for. */
  private open(on: boolean): void {
    get("banner").classList.toggle("open", on);
    get("banner-more").ariaExpanded = String(on);
    get("banner-more").textContent = on ? "Less" : "More";
  }

  private fit(): void {
    const text = get("banner-text");
    get("banner-more").hidden = !get("banner").classList.contains("open") && text.scrollHeight <= text.clientHeight + 1;
  }

  private show(): void {
    const all = [...this.texts.values()];
    const urgency = ({ level }: { level: Level }) => LEVELS.indexOf(level);
    const first = all.sort((a, b) => urgency(b) - urgency(a))[0]; // of several as urgent the oldest
    if (first?.text !== this.dismissed) this.dismissed = "";
    get("banner").hidden = !first || first.text === this.dismissed;
    for (const level of LEVELS) get("banner").classList.toggle(level, first?.level === level);
    if (first && get("banner-text").textContent !== first.text) {
      get("banner-text").textContent = first.text;
      this.open(false);
    }
    this.fit();
  }
}

export function toast(text: string, level: Level = "warning"): void {
  const host = get("toasts");
  if (host.lastElementChild?.textContent === text) return;
  const element = document.createElement("div");
  element.className = `toast ${level}`;
  element.textContent = text;
  host.append(element);
  if (host.childElementCount > TOASTS) host.firstElementChild?.remove();
  setTimeout(() => element.remove(), 1000 * TOAST_SECONDS);
}

/** A script of its own in index.html, which is there before this one. */
declare function cannotShow(message: string): void;

export function fatal(problem: unknown): void {
  cannotShow(problem instanceof Error ? problem.message : String(problem));
}
