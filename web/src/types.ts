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
  floor: number; // what is smaller is rounding
}

/** Of an offline page: every how many samples there are frames, and how many samples each pair of a curve's points stands for. */
export interface Thinned {
  samples: number; // of the run
  frames: number;
  curves: number;
}

/** By the names of lines with a reel, and of bodies that are free. */
export interface ReelLimits {
  torque: Range;
  speed: Range;
  length: Range; // deployed, between the ends of the rope
  cruise: number; // speed while a button is held, at first
  acceleration: number;
}

export interface Limits {
  reels: Record<string, ReelLimits>;
  impulses: Record<string, number>;
  steered: Record<string, number>; // greatest speeds (m/s)
  carried: Record<string, number>; // the same, of bodies whose motion is given
  rate: Range;
}

export interface ReelStatus {
  mode: "locked" | "free" | "torque" | "brake" | "length" | "speed" | "impedance";
  program: boolean; // the scenario's own command
  torque: number;
  speed: number;
  target: number; // speed that was asked for
  deployed: number;
  length: number | null; // to be reached
  end: "" | "in" | "out"; // of the rope, at which it was stopped
  hold: number; // torque that would hold the drum
}

/** Directions are in the frame of the body that carries it, or in space: along the guide to its entrance, and the axis about which the drum turns in retrieval. */
export interface ReelMeta {
  drum_radius: number;
  guide_length: number;
  drop: number; // from its axis to where the string leaves it
  position: Vector; // of the guide's entrance, at the start
  guide: Vector;
  axis: Vector;
}

/** `ends`: the numbers of the bodies that hold it, null for a point in space. */
export interface LineMeta {
  name: string;
  elements: number;
  length: number;
  density: number;
  stiffness: number;
  ends: [number | null, number | null];
  slackens: boolean; // it carries no compression
  reel: ReelMeta | null; // at its start: a drum, or a wheel that it runs over
  end_reel: ReelMeta | null; // a drum at its end
}

/** Points are in the body's frame. Of those that are held only a ship has a shape. */
export interface BodyMeta {
  name: string;
  held: boolean;
  mass: number; // 0 of one that is held
  points: Vector[];
  faces: number[][];
  center_of_mass: Vector;
}

/** A frame that falls along an orbit: its first axis points from the center of attraction to the pericenter. */
export interface Orbit {
  center: string; // what is there
  rate: number; // mean motion (rad/s)
  eccentricity: number;
  mean_anomaly: number; // at time 0
}

export interface Meta {
  title: string;
  label?: string; // among several runs, what differs
  status: string;
  message: string;
  warnings: string[];
  version: string;
  samples: number;
  start: number;
  end: number;
  gravity: number;
  orbit: Orbit | null;
  surface: number | null; // depth of the water's
  lines: LineMeta[];
  bodies: BodyMeta[];
  bounds: [Vector, Vector];
  ranges: { strain: Range; tension: Range; energy_density: Range };
  series: Series[];
  plots: Plot[];
  thinned?: Thinned;
  limits?: Limits;
  interval?: number; // s between two samples of a live run
}

export interface Boot {
  mode: Mode;
  title?: string; // of several runs
  token?: string;
  runs: Meta[];
}

export interface Alarm {
  limit: number | null; // N
  excess: { tension: number; line: string; time: number } | null;
}

export interface Status {
  running: boolean;
  paused: boolean;
  ended: boolean;
  waiting: boolean; // for somebody to begin the program
  alarm: Alarm;
  reels: Record<string, ReelStatus>;
  ranges: Meta["ranges"];
  rate: number;
  achieved: number;
  recording: string | null;
  message: string;
  level: "info" | "warning";
}
