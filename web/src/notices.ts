// What the page tells its reader: a banner for a lasting state, toasts for events, one full page for what cannot be shown at all.

export function get<T extends Element = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no element “${id}”`);
  return element as unknown as T;
}

const TOAST_SECONDS = 6;
const TOASTS = 4;

type Level = "info" | "warning";

/** Banners by their cause, the most urgent one shown; a dismissed text stays away until it changes. */
export class Banner {
  private readonly texts = new Map<string, { text: string; level: Level }>();
  private dismissed = "";

  constructor() {
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

  private show(): void {
    const all = [...this.texts.values()];
    const first = all.find(({ level }) => level === "warning") ?? all[0];
    if (first?.text !== this.dismissed) this.dismissed = "";
    get("banner").hidden = !first || first.text === this.dismissed;
    get("banner").classList.toggle("warning", first?.level === "warning");
    if (first) get("banner-text").textContent = first.text;
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

export function fatal(problem: unknown): void {
  const host = get("fatal");
  const title = document.createElement("strong");
  title.textContent = "This run cannot be shown";
  const text = document.createElement("p");
  text.textContent = problem instanceof Error ? problem.message : String(problem);
  host.replaceChildren(title, text);
  host.hidden = false;
}
