// Numbers for people: four digits and a prefix, as in 10.63 kN. The package has the same rules (src/tautline/quantities.py).

const DIGITS = 4;
const PREFIXED = ["N", "J", "W", "Pa", "Hz", "N m", "N s", "J/m"];
const SMALL = ["m", "s"]; // prefixes for what is small alone
const KILOMETERS = 1e4;
const PREFIXES: [string, number, number][] = [["G", 1e9, 1e9], ["M", 1e6, 1e6], ["k", 1e3, 1e3], ["", 1e-2, 1], ["m", 1e-5, 1e-3], ["µ", 1e-8, 1e-6], ["n", 1e-11, 1e-9]]; // name, from which size on, size
const LARGE = 1e5;
const TINY = 1e-3;

/** Size and name of a unit. */
export type Unit = [size: number, name: string];

/** The unit that numbers up to a largest one are written in. */
export function prefixed(largest: number, unit: string): Unit {
  const size = Math.abs(Number(largest.toPrecision(DIGITS)));
  if (unit === "%") return [0.01, "%"];
  if (size === 0 || !Number.isFinite(size) || ![...PREFIXED, ...SMALL].includes(unit)) return [1, units(unit)];
  if (SMALL.includes(unit) && size >= 10 * TINY) return unit === "m" && size >= KILOMETERS ? [1e3, "km"] : [1, unit];
  const [name, , of] = PREFIXES.find(([, least]) => size >= least) ?? ["", 0, 1];
  return [of, name + unit];
}

/** A number to some significant digits, with a power of ten only where it would be long. */
export function number(x: number | null | undefined, digits = DIGITS): string {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const shown = Number(x.toPrecision(digits));
  if (shown === 0) return "0";
  const size = Math.abs(shown);
  if (size >= TINY && size < LARGE) return plain(shown.toFixed(Math.max(0, digits - 1 - Math.floor(Math.log10(size) + 1e-12))));
  const [mantissa, exponent] = shown.toExponential(digits - 1).split("e");
  return `${plain(mantissa)}e${exponent.replace("+", "").replace("-", "−")}`;
}

/** Without zeros at the end, and with a minus as it is printed. */
function plain(text: string): string {
  return (text.includes(".") ? text.replace(/\.?0+$/, "") : text).replace("-", "−");
}

/** A number with its unit: 10.63 kN, 23.4 kJ, 0.5 m/s; a share of one in percent where the unit is "%". */
export function value(x: number | null | undefined, unit = "", digits = DIGITS): string {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  const [size, name] = prefixed(x, unit);
  return `${number(x / size, digits)} ${name}`.trimEnd();
}

/** A range in one unit: 9.656 to 10.62 kN. */
export function between(low: number, high: number, unit = "", digits = DIGITS): string {
  const [size, name] = prefixed(Math.max(Math.abs(low), Math.abs(high)), unit);
  return `${number(low / size, digits)} to ${number(high / size, digits)} ${name}`.trimEnd();
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

/** How fast time passes; where that is not the rate that was asked for, so. */
export function pace(achieved: number, rate: number): string {
  const now = `${number(achieved, 3)}× real time`;
  return achieved < KEPT * rate ? `${now} instead of ${number(rate, 2)}×: the computer does not keep up` : now;
}
