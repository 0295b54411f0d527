// How curves are told apart: colors that also differ for the color-blind, and dashes.

export const LETTERS = ["A", "B", "C", "D"]; // of runs
export const COLORS = 6;
export const DASHES: number[][] = [[], [7, 4], [2, 3], [9, 3, 2, 3]];

export interface Style {
  color: string; // name in the style sheet
  dash: number;
}

/** Of the curves of one chart, by the numbers of curve and run. Several runs have a color each, as in the scene, and their curves dashes; in a single one no two of 24 curves look alike. */
export function styleOf(curve: number, run: number, runs: number): Style {
  const round = Math.floor(curve / COLORS);
  if (runs > 1) return { color: `run-${run}`, dash: curve % DASHES.length };
  return { color: `series-${curve % COLORS}`, dash: (curve + round) % DASHES.length };
}

/** A short piece of such a line. */
export function swatch({ color, dash }: Style): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", "0 0 22 6");
  svg.setAttribute("class", "swatch");
  svg.setAttribute("aria-hidden", "true");
  line.setAttribute("d", "M0 3H22");
  line.setAttribute("stroke-dasharray", DASHES[dash].join(" "));
  line.style.stroke = `var(--${color})`;
  svg.append(line);
  return svg;
}
