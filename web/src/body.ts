// The rigid body: its shape, its axes at the attachment point, its center of mass, and where the center has been.

import {
  BoxGeometry, BufferAttribute, BufferGeometry, Color, CylinderGeometry, DoubleSide, DynamicDrawUsage, Float32BufferAttribute, Group, Line, LineBasicMaterial, LineSegments,
  Matrix4, Mesh, MeshBasicMaterial, MeshLambertMaterial, SphereGeometry,
} from "three";
import { sharpEdges, triangles } from "./edges";
import { type Layout, type Row } from "./layout";
import { type BodyMeta, type Vector } from "./types";

const AXES = ["#e5484d", "#30a46c", "#4c8dff"]; // x, y, z
const TRAIL_POINTS = 240;
const LEAST_REACH = 0.01; // of the mark for what has no size of its own, over the scene's
const LEAST_CENTER = 1.8; // radius of the mark at the center, over the lines'
const GLASS = 0.45; // opacity of a body with a drum inside

export class BodyView {
  readonly group = new Group();
  readonly trail: Line;
  private readonly faces: MeshLambertMaterial;
  private readonly lines: LineBasicMaterial;
  private readonly center: Mesh<SphereGeometry, MeshBasicMaterial>;
  private readonly trailPoints = new Float32Array(3 * TRAIL_POINTS);
  private readonly trailColors = new Float32Array(4 * TRAIL_POINTS);
  private readonly trailGeometry = new BufferGeometry();
  private readonly trailColor = new Color();

  constructor(
    body: BodyMeta,
    private readonly number: number,
    private readonly layout: Layout,
    sceneSize: number,
    reeled: boolean, // whether it carries a reel
    private readonly traced: (row: Row, out: Vector) => Vector, // the point whose path is shown
  ) {
    const { points, faces, center_of_mass, held } = body;
    this.faces = new MeshLambertMaterial({ side: DoubleSide, flatShading: true, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 });
    this.lines = new LineBasicMaterial();
    const reach = Math.max(0, ...points.map((p) => Math.hypot(...p)), Math.hypot(...center_of_mass)) || LEAST_REACH * sceneSize;
    if (faces.length > 0) {
      const surface = new BufferGeometry().setAttribute("position", new Float32BufferAttribute(triangles(points, faces), 3));
      surface.computeVertexNormals();
      const edges = new BufferGeometry().setAttribute("position", new Float32BufferAttribute(sharpEdges(points, faces), 3));
      this.group.add(new Mesh(surface, this.faces), new LineSegments(edges, this.lines));
    }
    if (reeled && !held) Object.assign(this.faces, { transparent: true, depthWrite: false, opacity: GLASS, userData: { opacity: GLASS } });
    if (!held) this.group.add(axes(0.9 * reach));
    else if (!reeled && faces.length === 0) this.group.add(new Mesh(new BoxGeometry(reach, reach, reach), this.faces)); // a drum is mark enough
    // seen through the body: it lies inside
    this.center = new Mesh(new SphereGeometry(0.07 * reach, 12, 8), new MeshBasicMaterial({ transparent: true, depthTest: false }));
    this.center.position.set(...center_of_mass);
    this.center.renderOrder = 2;
    if (!held) this.group.add(this.center);
    this.group.matrixAutoUpdate = false;

    this.trailGeometry.setAttribute("position", new BufferAttribute(this.trailPoints, 3).setUsage(DynamicDrawUsage));
    this.trailGeometry.setAttribute("color", new BufferAttribute(this.trailColors, 4).setUsage(DynamicDrawUsage));
    this.trail = new Line(this.trailGeometry, new LineBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false }));
    this.trail.frustumCulled = false;
  }

  /** `radius`: of the lines, which the mark at the center is never thinner than: a body may be far too small to be seen. */
  update(row: Row, radius: number): void {
    this.center.scale.setScalar(Math.max(1, (LEAST_CENTER * radius) / this.center.geometry.parameters.radius));
    const pose = this.layout.pose(row, this.number);
    this.group.matrix.copy(turned(pose)).setPosition(pose[0], pose[1], pose[2]);
    this.group.matrixWorldNeedsUpdate = true;
  }

  /** Rows from the oldest to the newest; the path fades towards the past. */
  drawTrail(rows: Row[]): void {
    const count = Math.min(rows.length, TRAIL_POINTS);
    const skip = rows.length - count;
    const point: Vector = [0, 0, 0];
    for (let i = 0; i < count; i++) {
      this.trailPoints.set(this.traced(rows[skip + i], point), 3 * i);
      const c = this.trailColor;
      this.trailColors.set([c.r, c.g, c.b, ((i + 1) / count) ** 1.5], 4 * i);
    }
    this.trailGeometry.setDrawRange(0, count);
    this.trailGeometry.attributes.position.needsUpdate = true;
    this.trailGeometry.attributes.color.needsUpdate = true;
  }

  recolor(face: Color, edge: Color, mark: Color): void {
    this.faces.color.copy(face);
    this.lines.color.copy(edge);
    this.center.material.color.copy(mark);
    this.trailColor.copy(mark);
  }
}

/** The rotation of a body from its pose. */
export function turned([, , , ...r]: Row): Matrix4 {
  return new Matrix4().set(r[0], r[1], r[2], 0, r[3], r[4], r[5], 0, r[6], r[7], r[8], 0, 0, 0, 0, 1);
}

function axes(length: number): Group {
  const group = new Group();
  const radius = 0.018 * length;
  // drawn over the body, in which the attachment point may be hidden
  const arm = (color: string) =>
    new Mesh(new CylinderGeometry(radius, radius, length, 6).translate(0, 0.5 * length, 0), new MeshBasicMaterial({ color: color, transparent: true, depthTest: false }));
  const [x, y, z] = AXES.map(arm);
  x.rotation.z = -Math.PI / 2; // cylinders are made along y
  z.rotation.x = Math.PI / 2;
  for (const axis of [x, y, z]) axis.renderOrder = 1;
  group.add(x, y, z);
  return group;
}
