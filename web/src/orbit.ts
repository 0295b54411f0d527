// Where the center of attraction is, seen from a frame that falls along an orbit.

import { type Orbit, type Vector } from "./types";

const STEPS = 40;

export function towardCenter({ rate, eccentricity: e, mean_anomaly }: Orbit, time: number): Vector {
  const turns = (mean_anomaly + rate * time) / (2 * Math.PI);
  const mean = 2 * Math.PI * (turns - Math.round(turns));
  // Kepler's equation by Newton's method, which from the apocenter never passes the root
  let anomaly = mean < 0 ? -Math.PI : Math.PI;
  for (let k = 0; k < STEPS; k++) anomaly -= (anomaly - e * Math.sin(anomaly) - mean) / (1 - e * Math.cos(anomaly));
  const [x, y] = [Math.cos(anomaly) - e, Math.sqrt(1 - e * e) * Math.sin(anomaly)];
  const far = Math.hypot(x, y);
  return [-x / far, -y / far, 0];
}
