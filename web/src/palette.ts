// Colors of the page that canvases need; style sheets have their own in theme.css, from where these are read.

import { type Theme } from "./colors";

const STORED = "tautline-theme";
const media = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

/** What the user chose; null follows the system. Storage may be shut in a sandboxed frame. */
function chosen(): Theme | null {
  try {
    const stored = localStorage.getItem(STORED);
    return stored === "dark" || stored === "light" ? stored : null;
  } catch {
    return null;
  }
}

let choice = chosen();

export function theme(): Theme {
  return choice ?? (media.matches ? "dark" : "light");
}

export function toggleTheme(): void {
  setTheme(theme() === "dark" ? "light" : "dark");
}

export function setTheme(wanted: Theme): void {
  if (wanted === theme()) return;
  choice = wanted;
  try {
    localStorage.setItem(STORED, choice);
  } catch {
    // the choice then lasts as long as the page
  }
  apply();
}

function apply(): void {
  document.documentElement.dataset.theme = theme();
  for (const listener of listeners) listener();
}

export function onTheme(listener: () => void): void {
  listeners.add(listener);
}

/** A custom property of the style sheet, without its dashes. */
export function css(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

media.addEventListener("change", apply);
apply();
