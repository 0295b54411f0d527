// The colour scale of the string: even steps of lightness along a path through OKLab, so that equal steps of a value look like
// equal steps of colour and the order survives any kind of colour blindness and printing in grey.

import { type Range } from "./types";

export type Rgb = [number, number, number];

// hue (degrees) and chroma from the low to the high end: violet, blue, teal, green, yellow
const HUES = [303, 264, 214, 160, 106];
const CHROMAS = [0.15, 0.14, 0.1, 0.15, 0.16];
// Ends of lightness: neither end may sink into the background.
const LIGHTNESS = { dark: [0.48, 0.93], light: [0.33, 0.8] } as const;
export type Theme = keyof typeof LIGHTNESS;

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

/** The colour at x in [0, 1], linear: what the renderer wants for vertices. */
export function linearColour(x: number, theme: Theme): Rgb {
  const [low, high] = LIGHTNESS[theme];
  const at = Math.min(Math.max(x, 0), 1);
  const hue = (bend(HUES, at) * Math.PI) / 180;
  const chroma = bend(CHROMAS, at);
  return linearRgb(low + (high - low) * at, chroma * Math.cos(hue), chroma * Math.sin(hue));
}

/** The same colour for style sheets. */
export function cssColour(x: number, theme: Theme): string {
  return `rgb(${linearColour(x, theme)
    .map((v) => Math.round(255 * encode(v)))
    .join(" ")})`;
}

/** A table of the scale, three numbers a step: computing powers for every element of every frame would be waste. */
export class Scale {
  private readonly table = new Float32Array(3 * STEPS);

  constructor(
    readonly range: Range,
    readonly theme: Theme,
  ) {
    for (let i = 0; i < STEPS; i++) this.table.set(linearColour(i / (STEPS - 1), theme), 3 * i);
  }

  /** Offset in [0, 1] of a value; a range without width shows its middle. */
  position(value: number): number {
    const [low, high] = this.range;
    if (!(high > low) || !Number.isFinite(value)) return 0.5;
    return Math.min(Math.max((value - low) / (high - low), 0), 1);
  }

  write(value: number, shade: number, out: Float32Array, at: number): void {
    const i = 3 * Math.round(this.position(value) * (STEPS - 1));
    out[at] = this.table[i] * shade;
    out[at + 1] = this.table[i + 1] * shade;
    out[at + 2] = this.table[i + 2] * shade;
  }
}

/** The least range that holds both. */
export function union(a: Range, b: Range): Range {
  return [Math.min(a[0], b[0]), Math.max(a[1], b[1])];
}
