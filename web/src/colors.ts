// The color scale of the string: even steps of lightness along a path through OKLab, so that equal steps of a value look like
// equal steps of color and the order survives any kind of color blindness and printing in gray.

import { type Range } from "./types";

export type Rgb = [number, number, number];

// hue (degrees) and chroma from the low to the high end: violet, blue, teal, green, yellow
const HUES = [303, 264, 214, 160, 106];
const CHROMAS = [0.15, 0.14, 0.1, 0.15, 0.16];
// Ends of lightness: neither end may sink into the background.
const LIGHTNESS = { dark: [0.48, 0.93], light: [0.33, 0.8] } as const;
export type Theme = keyof typeof LIGHTNESS;
// Where values have both signs: blue below zero, gray at it, orange above; also told apart without red or green.
const SIGNED = { hues: [255, 60], chroma: 0.16, dark: [0.6, 0.93, 0.64], light: [0.45, 0.78, 0.55] } as const;
const SIGN_MATTERS = 0.02; // of the range: less below zero is no sign of its own

/** Of what hangs loose: a gray that no value has. */
const SLACK: Record<Theme, number> = { dark: 0.55, light: 0.68 }; // lightness

const STEPS = 256;

function bend(values: number[], x: number): number {
  const at = Math.min(Math.max(x, 0), 1) * (values.length - 1);
  const i = Math.min(Math.floor(at), values.length - 2);
  return values[i] + (values[i + 1] - values[i]) * (at - i);
}

/** OKLab to linear sRGB (Ottosson 2020). */
function linearRgb(lightness: number, a: number, b: number): Rgb {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const clip = (x: number) => Math.min(Math.max(x, 0), 1);
  return [
    clip(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    clip(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    clip(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

const encode = (x: number) => (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055);

/** The color at x in [0, 1], linear: what the renderer wants for vertices. `zero`: where the sign changes, if it does. */
export function linearColor(x: number, theme: Theme, zero: number | null = null): Rgb {
  const at = Math.min(Math.max(x, 0), 1);
  if (zero !== null) return signedColor(at, theme, zero);
  const [low, high] = LIGHTNESS[theme];
  const hue = (bend(HUES, at) * Math.PI) / 180;
  const chroma = bend(CHROMAS, at);
  return linearRgb(low + (high - low) * at, chroma * Math.cos(hue), chroma * Math.sin(hue));
}

/** As far from gray as the value is from zero, in parts of the greater side: equal sizes look equally strong. */
function signedColor(x: number, theme: Theme, zero: number): Rgb {
  const size = Math.abs(x - zero) / Math.max(zero, 1 - zero);
  const side = x < zero ? 0 : 1;
  const hue = (SIGNED.hues[side] * Math.PI) / 180;
  const [below, middle, above] = SIGNED[theme];
  const lightness = middle + (side === 0 ? below - middle : above - middle) * size;
  return linearRgb(lightness, SIGNED.chroma * size * Math.cos(hue), SIGNED.chroma * size * Math.sin(hue));
}

/** The same color for style sheets. */
export function cssColor(x: number, theme: Theme, zero: number | null = null): string {
  return `rgb(${linearColor(x, theme, zero)
    .map((v) => Math.round(255 * encode(v)))
    .join(" ")})`;
}

export function slackColor(theme: Theme): string {
  return `rgb(${linearRgb(SLACK[theme], 0, 0).map((v) => Math.round(255 * encode(v))).join(" ")})`;
}

/** A table of the scale, three numbers a step: computing powers for every element of every frame would be waste. */
export class Scale {
  readonly zero: number | null; // its place in [0, 1] where values have both signs
  private readonly table = new Float32Array(3 * STEPS);
  private readonly slack: Rgb;

  constructor(
    readonly range: Range,
    readonly theme: Theme,
  ) {
    const [low, high] = range;
    this.slack = linearRgb(SLACK[theme], 0, 0);
    this.zero = low < -SIGN_MATTERS * (high - low) && high > SIGN_MATTERS * (high - low) ? -low / (high - low) : null;
    for (let i = 0; i < STEPS; i++) this.table.set(linearColor(i / (STEPS - 1), theme, this.zero), 3 * i);
  }

  css(value: number | null): string {
    if (value === null) return slackColor(this.theme);
    return cssColor(this.position(value), this.theme, this.zero);
  }

  /** Offset in [0, 1] of a value; a range without width shows its middle. */
  position(value: number): number {
    const [low, high] = this.range;
    if (!(high > low) || !Number.isFinite(value)) return 0.5;
    return Math.min(Math.max((value - low) / (high - low), 0), 1);
  }

  /** `null`: slack. */
  write(value: number | null, shade: number, out: Float32Array, at: number): void {
    if (value === null) return out.set(this.slack.map((x) => x * shade), at);
    const i = 3 * Math.round(this.position(value) * (STEPS - 1));
    out[at] = this.table[i] * shade;
    out[at + 1] = this.table[i + 1] * shade;
    out[at + 2] = this.table[i + 2] * shade;
  }
}

/** A range that colors show: from zero, unless the values differ by less than they are away from it. */
export function shownRange([low, high]: Range): Range {
  if (low > 0 && low < 0.5 * high) return [0, high];
  if (high < 0 && high > 0.5 * low) return [low, 0];
  return [low, high];
}

/** The least range that holds both. */
export function union(a: Range, b: Range): Range {
  return [Math.min(a[0], b[0]), Math.max(a[1], b[1])];
}
