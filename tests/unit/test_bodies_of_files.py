"""Bodies of STL, OBJ, URDF and MJCF files: closed forms, MuJoCo's own reading of the same files, and refusals."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
import trimesh

import tautline as tl
from tautline.errors import InputError
from tautline.extras import MissingLibraryError
from tautline.model.mesh_files import MOST_DRAWN
from tautline.model.shapes import body_mesh

FILES = Path(__file__).parents[1] / "e2e" / "every_key"
# From the axes of a file whose third one points up to those of the body: half a turn about the first.
HALF_TURN = np.diag([1.0, -1.0, -1.0])
ROUNDING = 1e-12  # of the integrals over a few triangles


def written(mesh: Any, path: Path) -> Path:
    mesh.export(path)
    return path


@pytest.mark.parametrize("suffix", ["stl", "obj"])
def test_a_box_of_a_file_is_the_box(suffix: str, tmp_path: Path) -> None:
    """Also far away from the origin of the file, in millimeters, and with all triangles turned inside out."""
    box = trimesh.creation.box((300.0, 200.0, 100.0))
    box.apply_translation((5050.0, 20.0, -80.0))
    expected = tl.RigidBody.box(6.0, (0.3, 0.2, 0.1), (0.05, -0.02, 0.08))
    for inverted in (False, True):
        if inverted:
            box.invert()
        path = written(box, tmp_path / f"box.{suffix}")
        for amount in ({"mass": 6.0}, {"density": "1 t/m^3"}):
            body = tl.RigidBody.from_mesh(path, unit="1 mm", attachment=("5 m", 0, 0), **amount)
            # STL has single precision, of 5 m
            np.testing.assert_allclose(body.mass, expected.mass, rtol=1e-5)
            np.testing.assert_allclose(body.inertia, expected.inertia, rtol=0, atol=1e-5)
            np.testing.assert_allclose(body.center_of_mass, expected.center_of_mass, rtol=0, atol=1e-6)
            points, _ = body_mesh(body)
            np.testing.assert_allclose(points.min(axis=0), [-0.1, -0.12, 0.03], atol=1e-6)
            np.testing.assert_allclose(points.max(axis=0), [0.2, 0.08, 0.13], atol=1e-6)


def test_inertia_of_a_sphere_converges_with_the_square_of_the_edges(tmp_path: Path) -> None:
    exact = tl.RigidBody.sphere(4.0 / 3.0 * math.pi * 0.3**3 * 2000.0, 0.3)
    errors = []
    for level in (2, 3, 4):
        path = written(trimesh.creation.icosphere(subdivisions=level, radius=0.3), tmp_path / "ball.obj")
        body = tl.RigidBody.from_mesh(path, density=2000.0)
        errors.append([1 - body.mass / exact.mass, 1 - body.inertia[0][0] / exact.inertia[0][0]])
    orders = np.log2(np.array(errors)[:-1] / np.array(errors)[1:])
    np.testing.assert_allclose(orders, 2.0, atol=0.1)  # edges are halved by each level, to a few percent
    _, faces = body_mesh(body)
    assert 0.2 * MOST_DRAWN < len(faces) <= MOST_DRAWN, "5120 triangles are drawn coarser"


def test_a_mesh_is_that_of_mujoco(tmp_path: Path) -> None:
    """MuJoCo computes mass, center and inertia of a mesh by itself."""
    part = trimesh.creation.annulus(0.1, 0.2, 0.3)
    part.apply_transform(trimesh.transformations.rotation_matrix(0.7, [1.0, 2.0, 3.0], [0.1, 0.2, 0.3]))
    path = written(part, tmp_path / "part.stl")
    xml = f"""<mujoco><asset><mesh name="part" file="{path}" inertia="exact"/></asset>
    <worldbody><body name="part"><freejoint/><geom type="mesh" mesh="part" density="700"/></body></worldbody>
    </mujoco>"""
    mass, center, inertia = of_mujoco(xml, "part")
    body = tl.RigidBody.from_mesh(path, density=700.0, up=(0, 0, -1))
    # single precision of the file, which both read, and of MuJoCo's meshes
    np.testing.assert_allclose(body.mass, mass, rtol=1e-6)
    np.testing.assert_allclose(body.center_of_mass, center, atol=1e-6)
    np.testing.assert_allclose(body.central_inertia(), inertia, atol=1e-6 * np.abs(inertia).max())


@pytest.mark.parametrize(
    ("up", "rows"),
    [
        ((0, 0, 1), HALF_TURN),
        ((0, 0, -2), np.eye(3)),
        ((0, 1, 0), [[1, 0, 0], [0, 0, 1], [0, -1, 0]]),
        ((1, 0, 0), [[0, 1, 0], [0, 0, -1], [-1, 0, 0]]),
        ((-1, 0, 0), [[0, 1, 0], [0, 0, 1], [1, 0, 0]]),
    ],
)
def test_axes_of_the_file(up: Any, rows: Any) -> None:
    """The attitude is the identity where the upward direction of the file points up, against the third axis."""
    rows = np.array(rows, dtype=float)
    assert np.linalg.det(rows) == pytest.approx(1.0)
    plain = tl.RigidBody.from_urdf(FILES / "gripper.urdf", up=(0, 0, -1))
    turned = tl.RigidBody.from_urdf(FILES / "gripper.urdf", link="jaw", up=up)
    np.testing.assert_allclose(turned.center_of_mass, rows @ plain.center_of_mass, atol=ROUNDING)
    np.testing.assert_allclose(turned.inertia, rows @ np.array(plain.inertia) @ rows.T, atol=ROUNDING)
    z_up = np.array(up) / np.linalg.norm(up)
    np.testing.assert_allclose(rows @ z_up, [0, 0, -1], atol=ROUNDING)


# -- URDF and MJCF, as MuJoCo reads them ---------------------------------------------------------------------


def of_mujoco(xml: str, name: str) -> tuple[float, Any, Any]:
    """Mass, center and inertia about it in the frame of the body."""
    model = mujoco.MjModel.from_xml_string(xml)
    k = model.body(name).id
    flat = np.zeros(9)
    mujoco.mju_quat2Mat(flat, model.body_iquat[k])
    R = flat.reshape(3, 3)
    return float(model.body_mass[k]), model.body_ipos[k], R @ np.diag(model.body_inertia[k]) @ R.T


def check_against_mujoco(body: tl.RigidBody, xml: str, name: str) -> None:
    mass, center, inertia = of_mujoco(xml, name)
    assert body.mass == pytest.approx(mass, rel=ROUNDING)
    np.testing.assert_allclose(body.center_of_mass, center, atol=ROUNDING)
    # MuJoCo finds principal axes by iteration, to its tolerance of 1e-12 for angles
    np.testing.assert_allclose(body.central_inertia(), inertia, atol=1e-9)


ORIENTATIONS = [
    "",
    'quat="0.5 -1 2 0.3"',
    'axisangle="1 2 -1 40"',
    'xyaxes="1 2 0 -1 1 1"',
    'zaxis="1 -2 0.5"',
    'zaxis="0 0 -1"',
    'euler="20 -40 100"',
]
COMPILERS = ["", '<compiler angle="radian"/>', '<compiler eulerseq="zYx"/>']


@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_inertials_of_mjcf(orientation: str, compiler: str, tmp_path: Path) -> None:
    xml = f"""<mujoco>{compiler}<worldbody><body name="arm" pos="1 2 3" euler="10 20 30"><freejoint/>
    <geom size="0.1"/><inertial pos="0.1 0.2 -0.3" mass="1.5" diaginertia="0.02 0.03 0.04" {orientation}/>
    <body name="hand"><joint/>
    <inertial pos="0 0 0.1" mass="0.5" fullinertia="0.02 0.03 0.04 0.003 -0.004 0.005"/></body>
    </body></worldbody></mujoco>"""
    path = tmp_path / "robot.xml"
    path.write_text(xml, encoding="utf-8")
    for name in ("arm", "hand"):
        check_against_mujoco(tl.RigidBody.from_mjcf(path, body=name, up=(0, 0, -1)), xml, name)


def test_inertials_of_urdf() -> None:
    text = (FILES / "gripper.urdf").read_text(encoding="utf-8")
    joint = '<joint name="j" type="floating"><parent link="world"/><child link="jaw"/></joint></robot>'
    body = tl.RigidBody.from_urdf(FILES / "gripper.urdf", link="jaw", up=(0, 0, -1))
    check_against_mujoco(body, text.replace("</robot>", joint), "jaw")


# -- in scenarios, and refusals ------------------------------------------------------------------------------


def test_the_file_is_a_part_of_the_case(tmp_path: Path) -> None:
    """A run file, a copy in text and a change of the density do without the file itself; so do pictures."""
    scenario = tmp_path / "crate.toml"
    scenario.write_text((FILES / "speed-sines.toml").read_text(encoding="utf-8"), encoding="utf-8")
    mesh = tmp_path / "crate.stl"
    mesh.write_bytes((FILES / "crate.stl").read_bytes())
    case = tl.load(scenario)
    mesh.unlink()
    body: Any = case.system.bodies["body"]
    assert body.mass == pytest.approx(90.0 * 0.3 * 0.2 * 0.4)
    heavy: Any = case.with_({"body.density": "180 kg/m^3"}).system.bodies["body"]
    assert heavy.mass == pytest.approx(2.0 * body.mass) and heavy.shape == body.shape
    tl.run_to_file(tmp_path / "run.nc", case)
    found: Any = tl.case_of(tl.open_run(tmp_path / "run.nc")).system.bodies["body"]
    assert found == body and hash(found) == hash(body)
    assert tl.Case.from_dict(json.loads(json.dumps(case.to_dict()))) == case
    of_objects = tl.Case(case.system, case.start, case.commands, case.run)
    assert of_objects == case and tl.Case.from_dict(of_objects.to_dict()).system.bodies["body"] == body


def refusal(*args: Any, make: str = "from_mesh", **others: Any) -> str:
    with pytest.raises(InputError) as caught:
        getattr(tl.RigidBody, make)(*args, **others)
    return str(caught.value)


def test_refusals_of_meshes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crate = FILES / "crate.obj"
    assert refusal(crate) == "density: expected either it, or mass, got neither"
    assert refusal(crate, mass=1, density=2) == "density: expected either it, or mass, got both"
    assert refusal(crate, mass=1, up=(0, 0, 0)).startswith("up: expected a vector that is not zero")
    assert "cannot be read: No such file" in refusal(tmp_path / "none.stl", mass=1)
    assert "is a folder, expected a file" in refusal(tmp_path, mass=1)
    assert "expected .stl or .obj at the end of the name" in refusal(FILES / "load.xml", mass=1)
    assert refusal(3, mass=1).startswith("file: expected a path")
    wrong = tmp_path / "wrong.stl"
    for content in (b"", b"\x00\xff" * 300, b"solid x\nendsolid x\n", b"solid x\n vertex nan 0 0\nendsolid x"):
        wrong.write_bytes(content)
        assert "expected triangles of finite points" in refusal(wrong, mass=1)
    box = trimesh.creation.box((1, 1, 1))
    box.update_faces(np.arange(11))
    assert "expected a closed surface, got one with holes" in refusal(written(box, tmp_path / "open.obj"), mass=1)
    monkeypatch.setitem(__import__("sys").modules, "trimesh", None)
    with pytest.raises(MissingLibraryError, match=r'needs trimesh; pip install "tautline\[mesh\]"'):
        tl.RigidBody.from_mesh(crate, mass=1)


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("<robot><link name='a'/></robot>", "expected an <inertial> with a name above it, got none"),
        ("<mujoco/>", "expected <robot> as its root"),
        ("<robot", "expected XML without a DOCTYPE"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><robot/>", "expected XML without a DOCTYPE"),
        (
            "<robot><link name='a'><inertial><mass value='x'/></inertial></link></robot>",
            "inertial of link 'a': expected a finite number for value, got 'x'",
        ),
        (
            "<robot><link name='a'><inertial><mass value='1'/><inertia ixx='1'/></inertial></link></robot>",
            "inertial of link 'a': expected a finite number for iyy, got none",
        ),
    ],
)
def test_refusals_of_urdf(inside: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "x.urdf"
    path.write_text(inside, encoding="utf-8")
    assert expected in refusal(path, make="from_urdf")


def test_names_of_links_and_what_mujoco_would_infer(tmp_path: Path) -> None:
    assert refusal(FILES / "gripper.urdf", make="from_urdf", link="jar").startswith("link: expected 'jaw', which have")
    path = tmp_path / "x.xml"
    text = (FILES / "load.xml").read_text(encoding="utf-8")
    path.write_text(text.replace("<mujoco>", '<mujoco><compiler inertiafromgeom="true"/>'), encoding="utf-8")
    assert "compiler: expected inertiafromgeom = 'auto', got 'true'" in refusal(path, make="from_mjcf")
    path.write_text(text.replace("euler=", 'quat="1 0 0 0" euler='), encoding="utf-8")
    assert "expected one orientation, got quat and euler" in refusal(path, make="from_mjcf")
    # an inertia that no body has is refused as that of any other body
    path.write_text(text.replace("0.02 0.03 0.025", "0.02 0.03 0.9"), encoding="utf-8")
    assert "no distribution of mass has these" in refusal(path, make="from_mjcf")


def test_triangles_are_shown_in_exports_and_pages(tmp_path: Path) -> None:
    body = tl.RigidBody.from_mesh(FILES / "crate.obj", mass=1.0, up=(0, 1, 0))
    points, faces = body_mesh(body)
    solid = trimesh.Trimesh(points, faces)
    assert solid.is_watertight and abs(solid.volume) == pytest.approx(0.3 * 0.2 * 0.4)
    run = tl.simulate(
        tl.pendulum(tl.String(2.0, 0.1, 1e4, law="linear"), tl.Reel(0.1, 0.1, 1.0), body, elements=2),
        tl.Hanging(1.0),
        duration=0.02,
    )
    tl.view(run).save(tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    boot = json.loads(page.split('<script id="boot" type="application/json">')[1].split("</script>")[0])
    shown = boot["runs"][0]["bodies"][0]
    assert len(shown["faces"]) == 12 and np.abs(np.array(shown["points"]) - points).max() < 1e-9
