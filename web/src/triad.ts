// The axes in the corner of the scene, turned as the camera is.

import { type PerspectiveCamera, Vector3 } from "three";

// Physical axes in the renderer's: z points down.
const AXES: [string, string, Vector3][] = [
  ["x", "#e5484d", new Vector3(1, 0, 0)],
  ["y", "#30a46c", new Vector3(0, 0, 1)],
  ["z", "#4c8dff", new Vector3(0, -1, 0)],
];
const SIZE = 92;
const LENGTH = 30;

export function drawTriad(svg: SVGSVGElement, camera: PerspectiveCamera): void {
  const turn = camera.quaternion.clone().invert();
  const parts = AXES.map(([name, color, axis]) => ({ name, color, tip: axis.clone().applyQuaternion(turn) }));
  parts.sort((a, b) => a.tip.z - b.tip.z); // the ones behind first
  const middle = SIZE / 2;
  svg.setAttribute("viewBox", `0 0 ${SIZE} ${SIZE}`);
  svg.innerHTML = parts
    .map(({ name, color, tip }) => {
      const at = (reach: number) => [middle + reach * tip.x, middle - reach * tip.y].map((v) => v.toFixed(1));
      const [x, y] = at(LENGTH);
      const [u, v] = at(LENGTH + 10);
      return `<line x1="${middle}" y1="${middle}" x2="${x}" y2="${y}" stroke="${color}"/><text x="${u}" y="${v}" fill="${color}">${name}</text>`;
    })
    .join("");
}
