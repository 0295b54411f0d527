// What the package sends, as docs/viewer-protocol.md says.

export type Mode = "replay" | "offline" | "live";
export type Vector = [number, number, number];
export type Range = [number, number];

export interface Series {
  name: string;
  label: string;
  units: string;
  plot: string;
}

export interface Plot {
  name: string;
  label: string;
  units: string;
}

export interface Limits {
  torque: Range;
  speed: Range;
  impulse: number;
  rate: Range;
}

export interface Meta {
  title: string;
  status: string;
  message: string;
  remarks: string[];
  version: string;
  samples: number;
  start: number;
  end: number;
  elements: number;
  string: { length: number; density: number; stiffness: number };
  reel: { drum_radius: number; guide_length: number; guide_position: Vector };
  gravity: number;
  body: { points: Vector[]; faces: number[][]; center_of_mass: Vector };
  bounds: [Vector, Vector];
  ranges: { strain: Range; tension: Range; energy_density: Range };
  series: Series[];
  plots: Plot[];
  limits?: Limits;
}

export interface Boot {
  mode: Mode;
  token?: string;
  runs: Meta[];
}

export interface Status {
  running: boolean;
  paused: boolean;
  ended: boolean;
  mode: "locked" | "free" | "torque" | "brake" | "length" | "speed" | "impedance";
  torque: number;
  speed: number;
  rate: number;
  achieved: number;
  recording: string | null;
  message: string;
  level: "info" | "warning";
}
