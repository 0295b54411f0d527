// Numbers for people.

/** A few digits, with a power of ten only where the number would be long. */
export function number(x: number | null | undefined, digits = 4): string {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  if (x === 0) return "0";
  const size = Math.abs(x);
  const text = size >= 1e5 || size < 1e-3 ? power(x, digits - 2) : x.toFixed(Math.max(0, digits - 1 - Math.floor(Math.log10(size))));
  return text.replaceAll("-", "−");
}

function power(x: number, decimals: number): string {
  const [mantissa, exponent] = x.toExponential(decimals).split("e");
  return `${mantissa}e${exponent.replace("+", "")}`;
}

/** Decimals of a time readout that tell neighboring samples apart. */
export function timeDecimals(interval: number): number {
  if (!(interval > 0)) return 2;
  return Math.min(Math.max(Math.ceil(-Math.log10(interval) - 1e-9), 0), 6);
}

/** 1, 2 or 5 times a power of ten, at or above x. */
export function roundUp(x: number): number {
  const decade = 10 ** Math.floor(Math.log10(x));
  for (const step of [1, 2, 5]) if (step * decade >= x * (1 - 1e-12)) return step * decade;
  return 10 * decade;
}

/** "kg m2 s-1" as "kg m² s⁻¹"; a pure number has no units to show. */
export function units(text: string): string {
  if (text === "1") return "";
  const raised: Record<string, string> = { "-": "⁻", "0": "⁰", "1": "¹", "2": "²", "3": "³", "4": "⁴", "6": "⁶", "9": "⁹" };
  return text.replace(/(?<=[A-Za-z])-?\d+/g, (power) => [...power].map((c) => raised[c] ?? c).join(""));
}

const KEPT = 0.9; // of a rate: what is slower is told

/** How fast time passes; where that is not the rate that was asked for, why. */
export function pace(achieved: number, rate: number): string {
  const now = `${number(achieved, 3)}× real time`;
  return achieved < KEPT * rate ? `${now} instead of ${number(rate, 2)}×: computing this takes longer` : now;
}
