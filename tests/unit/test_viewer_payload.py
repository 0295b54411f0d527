"""Messages to the viewer's page, decoded by the protocol (docs/viewer-protocol.md) and held against the Dataset."""

from __future__ import annotations

import dataclasses
import json
import math
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import tautline as tl
from tautline.errors import InputError
from tautline.files.runs import Reader
from tautline.paper import examples
from tautline.results.network import layout
from tautline.viewer import curves, page, payload
from tautline.viewer.subject import of_system as subject_of_system
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_below, check_close
from tests.support.crane import ELEMENTS, crane
from tests.support.crane import STIFFNESS as ROPE
from tests.support.over_sheaves import over_sheaves
from tests.support.packed import summed, unpacked

N = 4
LENGTH = 12.0
STIFFNESS = 150.0


def pendulum() -> chains.Chain:
    return chains.Chain(
        string=tl.String(length=LENGTH, density=0.05, stiffness=STIFFNESS, law="linear"),
        reel=tl.Reel(drum_radius=0.3, guide_length=0.4, inertia_mass=0.8, guide_position=(1.0, -2.0, 0.5)),
        body=tl.RigidBody.box(0.5, (0.2, 0.3, 0.8), (0.1, 0.0, 0.4)),
    )


def arguments() -> tuple[Any, ...]:
    start = chains.straight(pendulum(), 5.0, N, (1.0, 0.0, 1.0), end_velocity=(0.0, 1.0, 0.0))
    return pendulum(), start, tl.Torque(([0.0, 2.0, 4.0], [1.2, 4.0, 2.0]))


TIMES: dict[str, Any] = {"duration": 4.0, "sample": 0.002, "order": 4}


@pytest.fixture(scope="module")
def run() -> xr.Dataset:
    """2001 samples in which the reel turns both ways."""
    made = chains.simulate(*arguments(), **TIMES)
    assert made.attrs["status"] == "completed" and made.sizes["time"] == 2001
    assert made.reel_speed.min() < 0.0 < made.reel_speed.max()
    return made


def decoded_frames(raw: bytes, elements: int = N) -> dict[str, np.ndarray]:
    """By the protocol's sentence, without the code under test."""
    widths = {"time": 1, "kept": 1, "reeled_length": 1, "position": 3 * (elements + 1), "origin": 3, "attitude": 9}
    return split(raw, widths | {"tension": elements, "energy_density": elements})


def split(raw: bytes, widths: dict[str, int]) -> dict[str, np.ndarray]:
    """Frames as columns by their names and widths."""
    rows = np.frombuffer(raw, "<f4").reshape(-1, sum(widths.values()))
    return dict(zip(widths, np.split(rows, np.cumsum(list(widths.values()))[:-1], axis=1), strict=True))


CURVES = [curve.name for curve in curves.curves_of(chains.as_system(*arguments()[:2])[0])[1]]


def decoded_plots(raw: bytes) -> dict[str, np.ndarray]:
    names = ["time", *CURVES]
    columns = np.frombuffer(raw, "<f8").reshape(len(names), -1)
    return dict(zip(names, columns, strict=True))


# -- frames ------------------------------------------------------------------------------------------


def test_attitude_is_row_by_row_from_body_to_inertial(run: xr.Dataset) -> None:
    """R^T dR/dt is the cross product with the angular velocity in the body frame; of the transpose it would not be."""
    found = decoded_frames(payload.frames(payload.InMemory(run), 0, 2001))
    R = found["attitude"].reshape(-1, 3, 3).astype(float)
    rate = (R[2:] - R[:-2]) / (2 * 0.002)
    turning = np.swapaxes(R[1:-1], 1, 2) @ rate
    spin = np.stack([turning[:, 2, 1], turning[:, 0, 2], turning[:, 1, 0]], axis=1)
    size = float(np.abs(run.angular_velocity.values).max())
    assert size > 1.0
    # the error of a central difference, (turning between samples)^2 / 6, with room for the angular acceleration
    check_close("angular velocity", spin, run.angular_velocity.values[1:-1], 0.01 * size)


@pytest.mark.parametrize(
    ("first", "count", "every"), [(0, 1, 1), (7, 20, 3), (1990, 256, 1), (0, 256, 1000), (2000, 5, 9)]
)
def test_first_count_every(first: int, count: int, every: int, run: xr.Dataset) -> None:
    found = decoded_frames(payload.frames(payload.InMemory(run), first, count, every))
    wanted = run.time.values[first::every][:count]
    np.testing.assert_array_equal(found["time"][:, 0], wanted.astype(np.float32))


def test_an_answer_has_a_limit(run: xr.Dataset) -> None:
    many = run.isel(time=np.zeros(payload.MOST_FRAMES + 10, dtype=int))
    found = decoded_frames(payload.frames(payload.InMemory(many), 0, 10**9))
    assert len(found["time"]) == payload.MOST_FRAMES


# -- plots -------------------------------------------------------------------------------------------


NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=32)


@given(st.lists(NUMBERS, min_size=1, max_size=200), st.integers(1, 40))
def test_thinning_any_series(values: list[float], size: int) -> None:
    """Least and greatest of each group, in the order of their occurrence, and nothing that was not there."""
    x = np.array(values)
    thin = payload.thinned(x, size)
    if size == 1:
        np.testing.assert_array_equal(thin, x)
        return
    assert len(thin) == 2 * -(-len(x) // size)
    assert (thin.min(), thin.max()) == (x.min(), x.max())
    for k, (a, b) in enumerate(thin.reshape(-1, 2)):
        group = x[k * size : (k + 1) * size]
        assert {a, b} == {group.min(), group.max()}
        if a != b:
            assert (a < b) == (group.argmin() < group.argmax())


@given(st.lists(st.one_of(NUMBERS, st.just(float("nan"))), min_size=2, max_size=60), st.integers(2, 20))
def test_what_is_no_number_hides_no_peak(values: list[float], size: int) -> None:
    x = np.array(values)
    if np.isnan(x).all():
        assert np.isnan(payload.thinned(x, size)).all()
        return
    thin = payload.thinned(x, size)
    assert (np.nanmin(thin), np.nanmax(thin)) == (np.nanmin(x), np.nanmax(x))


RETRIEVAL = tl.load("retrieval")
OF_RETRIEVAL = layout(RETRIEVAL.meshed().system)


@given(st.floats(0.0, 4.0), st.floats(0.001, 4.0))
def test_a_range_is_covered_and_no_more(start: float, width: float) -> None:
    """One sample on either side at most, so that the curve reaches the edges of the plot."""
    time = np.arange(2001) * 0.002

    class Times:
        attrs: ClassVar[dict[str, Any]] = {"case": json.dumps(RETRIEVAL.to_dict())}
        rows = 2001

        def read(self, name: str, rows: slice) -> np.ndarray:
            return (time if name == "time" else np.zeros(OF_RETRIEVAL.shape(name, 2001)))[rows]

    end = start + width
    found = decoded_plots(payload.plots(Times(), start, end, 5000))["time"]
    assert found[0] <= start and (found[-1] >= end or found[-1] == time[-1])
    assert (found < start).sum() <= 1 and (found > end).sum() <= 1


def test_ranges_outside_the_run_and_backwards(run: xr.Dataset) -> None:
    recording = payload.InMemory(run)
    for start, end in ((-5.0, -1.0), (100.0, 200.0)):
        assert len(decoded_plots(payload.plots(recording, start, end, 100))["time"]) <= 2
    for start, end in ((2.1, 2.0), (3.0, 1.0), (float("nan"), 1.0)):
        with pytest.raises(InputError, match=r"^from: expected at most to"):
            payload.plots(recording, start, end, 100)


def test_energy_balance_starts_at_zero_and_a_later_range_does_not(run: xr.Dataset) -> None:
    """The change is since the start of the run, not since the start of the plot."""
    recording = payload.InMemory(run)
    whole = decoded_plots(payload.plots(recording, 0.0, 4.0, 5000))
    later = decoded_plots(payload.plots(recording, 2.0, 4.0, 5000))
    assert whole["balance"][0] == 0.0
    at = np.searchsorted(whole["time"], later["time"][0])
    np.testing.assert_array_equal(later["balance"], whole["balance"][at:])


# -- the description ---------------------------------------------------------------------------------


def test_bounds_hold_the_end_of_a_run_that_is_only_surveyed(run: xr.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a run ends by an event, its last sample is the one to see."""
    monkeypatch.setattr(payload, "SURVEYED", 1000)
    thrown = run.isel(time=slice(0, 2000)).copy(deep=True)
    thrown["position"].values[-1] += 100.0
    low, high = np.array(payload.meta(payload.InMemory(thrown), "x")["bounds"])
    assert (high > 90.0).all() and (low < 10.0).all()


def test_every_plot_says_what_is_rounding_in_it(run: xr.Dataset) -> None:
    """A body that does not turn has spins of rounding alone; nothing that moves here is that small."""
    about = payload.meta(payload.InMemory(run), "x")
    floors = {plot["name"]: plot["floor"] for plot in about["plots"]}
    assert all(0.0 < floor < 1e-6 for floor in floors.values()), floors
    largest = {"spin": run.angular_velocity, "energies": run.kinetic_energy, "reel": run.reel_speed}
    for name, values in largest.items():
        assert floors[name] < 1e-6 * float(np.abs(values).max())
    hanging = chains.hanging(pendulum(), 5.0, N)
    still = chains.simulate(pendulum(), hanging, tl.Locked(), duration=0.5, sample=0.1)
    assert float(np.abs(still.angular_velocity).max()) < floors["spin"]


def test_a_run_that_does_not_explain_itself_is_refused(run: xr.Dataset) -> None:
    with pytest.raises(InputError, match=r"run: expected a run of simulate.*without its case"):
        tl.view(run.drop_attrs())


def test_what_is_no_run_is_refused(run: xr.Dataset) -> None:
    for wrong, words in (
        (run.isel(time=slice(0, 0)), "at least one sample"),
        (run.isel(time=0), "samples over time"),
        (run.drop_vars(["tension", "attitude"]), "without attitude, tension"),
        ("run.nc", "run: expected a Dataset"),
    ):
        with pytest.raises(InputError, match=words):
            tl.view(wrong)  # type: ignore[arg-type]


# -- several lines and bodies ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def crane_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("crane") / "crane.nc"
    tl.run_to_file(path, crane())
    return path


@pytest.fixture(scope="module")
def lifted(crane_file: Path) -> xr.Dataset:
    found = tl.open_run(crane_file)
    assert found.attrs["status"] == "completed" and found.sizes["time"] == 101
    return found


def crane_frames(raw: bytes) -> dict[str, np.ndarray]:
    """By the protocol's sentence: of three lines, two of them with drums, and three bodies."""
    elements = sum(ELEMENTS.values())
    widths = {"time": 1, "reeled_length": 3, "turned": 2, "position": 3 * (elements + 3), "bodies": 3 * 12}
    return split(raw, widths | {"tension": elements, "energy_density": elements})


def test_frames_of_several_lines_and_bodies(lifted: xr.Dataset) -> None:
    n = lifted.sizes["time"]
    found = crane_frames(payload.frames(payload.InMemory(lifted), 0, n))
    for name in ("time", "reeled_length", "position", "tension"):
        np.testing.assert_array_equal(found[name], lifted[name].values.reshape(n, -1).astype(np.float32), err_msg=name)
    drums = lifted.reeled_length.sel(line=["hoist", "sling"]).values
    np.testing.assert_array_equal(found["turned"], drums.astype(np.float32))
    bodies = found["bodies"].reshape(n, 3, 12)
    np.testing.assert_array_equal(bodies[..., 3:], lifted.attitude.values.reshape(n, 3, 9).astype(np.float32))
    # where the frame's origin is, the lines say: the hoist and the sling end there
    ends = lifted.position.values[:, [ELEMENTS["hoist"], ELEMENTS["hoist"] + 1 + ELEMENTS["sling"]]]
    check_close("origins of hook and load", bodies[:, :2, :3], ends, 1e-5)
    check_close("origin of the jib", bodies[:, 2, :3], lifted.position.values[:, 0], 1e-5)
    density = np.maximum(lifted.tension.values, 0.0) ** 2 / (2.0 * ROPE)
    np.testing.assert_allclose(found["energy_density"], density, rtol=1e-5, atol=1e-9)


def test_curves_of_several_lines_and_bodies_have_their_names(lifted: xr.Dataset) -> None:
    recording = payload.InMemory(lifted)
    about = payload.meta(recording, "x")
    names = [series["name"] for series in about["series"]]
    columns = np.frombuffer(payload.plots(recording, 0.0, 1.0, 500), "<f8").reshape(1 + len(names), -1)
    found = dict(zip(names, columns[1:], strict=True))
    wanted = {name: lifted[name].values for name in ("energy", "kinetic_energy", "gravity_energy", "elastic_energy")}
    for variable, lines in (
        ("unstretched_length", ELEMENTS),
        ("start_tension", ELEMENTS),
        ("end_tension", ELEMENTS),
        ("reel_speed", ["hoist", "sling"]),
        ("torque", ["hoist", "sling"]),
        ("power", ["hoist", "sling"]),
    ):
        wanted |= {f"{variable}.{name}": lifted[variable].sel(line=name).values for name in lines}
    for variable, bodies in (("body_velocity", ["hook", "load", "jib"]), ("angular_velocity", ["hook", "load"])):
        size = np.linalg.norm(lifted[variable].values, axis=2)
        wanted |= {f"{variable}.{name}": size[:, list(lifted.body.values).index(name)] for name in bodies}
    for name in ("hook", "load"):
        wanted[f"orthogonality_error.{name}"] = lifted.orthogonality_error.sel(body=name).values
    for variable in ("linear_momentum", "angular_momentum"):
        wanted |= {f"{variable}.{axis}": lifted[variable].sel(axis=axis).values for axis in "xyz"}
    assert found.keys() == wanted.keys() | {"balance"}
    for name, values in wanted.items():
        check_close(name, found[name], values, 1e-12 * max(1.0, float(np.abs(values).max())))
    assert found["balance"][0] == 0.0
    check_below("error of the energy balance (J)", float(np.abs(found["balance"]).max()), 0.5)
    units = {plot["name"]: plot["units"] for plot in about["plots"]}
    assert {series["plot"] for series in about["series"]} == units.keys()
    assert [series["label"] for series in about["series"] if series["plot"] == "tension"] == list(ELEMENTS)


def test_meta_of_several_lines_and_bodies(lifted: xr.Dataset, crane_file: Path) -> None:
    about = payload.meta(payload.InMemory(lifted), "x")
    lines = {string["name"]: string for string in about["lines"]}
    bodies = {body["name"]: body for body in about["bodies"]}
    assert {name: string["elements"] for name, string in lines.items()} == ELEMENTS
    assert [string["ends"] for string in lines.values()] == [(2, 0), (0, 1), (None, 0)]
    assert [body["held"] for body in bodies.values()] == [False, False, True]
    assert len(bodies["hook"]["points"]) == 8 and bodies["jib"]["points"] == []
    assert lines["stay"]["reel"] is None and lines["hoist"]["reel"]["axis"] == [0.0, -1.0, 0.0]
    assert lines["hoist"]["reel"]["position"] == lifted.position.values[0, 0].tolist()
    # on a free body: as the model has it, of unit length; the guide leads outwards, at right angles to it
    reel = lines["sling"]["reel"]
    outwards = np.array([0.2, 0.1, 0.6]) - crane().system.bodies["hook"].center_of_mass
    outwards[1] = 0.0
    assert reel["axis"] == [0.0, 1.0, 0.0]
    check_close("guide", reel["guide"], outwards / np.linalg.norm(outwards), 1e-12)
    low, high = np.array(about["bounds"])
    for name in ("hook", "load"):
        R = lifted.attitude.sel(body=name).values
        points = np.array(bodies[name]["points"]) - bodies[name]["center_of_mass"]
        corners = lifted.body_position.sel(body=name).values[:, None] + np.einsum("tij,pj->tpi", R, points)
        assert (corners >= low - 1e-9).all() and (corners <= high + 1e-9).all(), name
    reader = Reader(crane_file)
    assert payload.meta(reader, "x") == about
    assert payload.frames(reader, 0, 50, 2) == payload.frames(payload.InMemory(lifted), 0, 50, 2)
    reader.close()


def test_the_surface_of_a_fluid_is_told_of_every_system() -> None:
    sea = tl.Fluid(density=1025.0, surface=9.0, density_above=1.2)
    wet = dataclasses.replace(crane(), system=dataclasses.replace(crane().system, fluid=sea))
    cable = tl.load("sea-cable")
    for case in (wet, cable):
        run = tl.simulate(case, duration=0.02, sample=0.01)
        assert case.system.fluid is not None
        assert payload.meta(payload.InMemory(run), "x")["surface"] == case.system.fluid.surface


def test_lines_that_were_left_out_are_missed(lifted: xr.Dataset) -> None:
    with pytest.raises(InputError, match=r"run: expected all lines and bodies of its case, got others in .*torque"):
        tl.view(lifted.isel(line=[0]))


# -- lines over sheaves ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reeved() -> xr.Dataset:
    made = tl.simulate(over_sheaves())
    assert made.attrs["status"] == "completed"
    assert abs(float((made.rim_travel - made.passed).sel(sheave="lift.groove")[-1])) > 0.01
    return made


def test_frames_of_spans_and_wheels(reeved: xr.Dataset) -> None:
    """Wheels turn with their rims, drums with what they wind; strains follow from the lengths of spans."""
    n, spans, elements = reeved.sizes["time"], 5, 10
    widths = {"time": 1, "kept": spans, "turned": 3, "position": 3 * (elements + spans), "bodies": 36}
    raw = payload.frames(payload.InMemory(reeved), 0, n)
    found = split(raw, widths | {"tension": elements, "energy_density": elements})
    np.testing.assert_array_equal(found["turned"][:, :2], reeved.rim_travel.values[:, :2].astype(np.float32))
    wound = 40.0 - reeved.span_length.sel(span=["falls.0", "falls.1", "falls.2"]).sum("span").values
    wound -= math.pi * 0.2 + 0.05  # wraps
    np.testing.assert_allclose(found["turned"][:, 2], wound, rtol=1e-6)
    assert np.ptp(found["turned"], axis=0).min() > 1e-3
    lengths = np.array([20.0, 20.0, 40.0, 40.0, 40.0]) - found["kept"]
    places = found["position"].reshape(n, spans, 3, 3)
    strain = np.linalg.norm(np.diff(places, axis=2), axis=3) * 2.0 / lengths[:, :, None] - 1.0
    check_close("strain", strain.reshape(n, -1), reeved.strain.values, 1e-5)


def test_meta_of_spans_and_wheels(reeved: xr.Dataset) -> None:
    about = payload.meta(payload.InMemory(reeved), "x")
    lines = {line["name"]: line for line in about["lines"]}
    assert list(lines) == ["lift", "lift.groove", "falls", "falls.lower", "falls.eye"]
    assert [line["reel"] is not None for line in about["lines"]] == [False, True, False, True, False]
    assert [line["end_reel"] is not None for line in about["lines"]] == [False, False, False, False, True]
    groove, lower, drum = lines["lift.groove"]["reel"], lines["falls.lower"]["reel"], lines["falls.eye"]["end_reel"]
    assert (groove["drum_radius"], groove["drop"], groove["guide_length"]) == (0.3, 0.3, 0.0)
    assert groove["axis"] == [0.0, 1.0, 0.0] and groove["position"] == pytest.approx([0.3, 0.0, 0.0])
    # the center, drop above where the rope leaves it as the page draws it: up is the guide's direction times the axis
    up = np.cross(groove["guide"], groove["axis"])
    check_close("center", np.array(groove["position"]) + groove["drop"] * up, np.zeros(3), 1e-12)
    assert (lower["drum_radius"], lower["drop"]) == (0.2, 0.0)  # on a point mass the spans meet at its center
    assert lower["position"] == pytest.approx([3.5, 0.0, 6.0])
    assert (drum["drum_radius"], drum["guide_length"]) == (0.25, 0.4) and drum["position"] == [5.0, 0.0, 0.0]


# -- the page ----------------------------------------------------------------------------------------


class Scripts(HTMLParser):
    """Scripts with an id, the title, and all tags, as a browser would find them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts: dict[str, str] = {}
        self.title = ""
        self.tags: list[str] = []
        self._inside: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        name = dict(attrs).get("id") if tag == "script" else None
        self._inside = name or tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = None

    def handle_data(self, data: str) -> None:
        if self._inside == "title":
            self.title += data
        elif self._inside:
            self.scripts[self._inside] = self.scripts.get(self._inside, "") + data


def strict(text: str) -> Any:
    """JSON as browsers read it: no NaN, no Infinity."""

    def refuse(name: str) -> NoReturn:
        raise AssertionError(f"{name} in JSON")

    return json.loads(text, parse_constant=refuse)


def frames_inside(found: Scripts, k: int = 0) -> bytes:
    about = strict(found.scripts["boot"])["runs"][k]
    return summed(found.scripts[f"frames-{k}"], "<u4", payload.frame_length(about)).T.tobytes()


def plots_inside(found: Scripts, k: int = 0) -> bytes:
    about = strict(found.scripts["boot"])["runs"][k]
    return summed(found.scripts[f"plots-{k}"], "<u8", 1 + len(about["series"])).tobytes()


@pytest.mark.parametrize(
    "title",
    [
        "</script><b>",
        "<!-- <script>",
        "<!--boot-->",
        "<!--title-->",
        "]]> & &lt; \" '",
        "</TITLE><b>",
        "\u2028\\ Ünïcode",
    ],
)
def test_no_title_breaks_out_of_the_page(title: str) -> None:
    plain = Scripts(page.fill({"mode": "offline", "runs": [{"title": "plain"}]}, "plain"))
    found = Scripts(page.fill({"mode": "offline", "runs": [{"title": title}]}, title, [("frames-0", b"data")]))
    assert strict(found.scripts["boot"])["runs"][0]["title"] == title
    assert found.title == title
    assert (
        found.tags.count("b") == plain.tags.count("b") and found.tags.count("script") == plain.tags.count("script") + 1
    )
    assert unpacked(found.scripts["frames-0"]) == b"data"


def test_the_offline_page_of_the_paper_is_small(report: Report) -> None:
    """Under 1.5 MB, with every sample inside; the page itself under 1 MB."""
    run = examples.run(3)
    text = page.offline(("run", payload.InMemory(run)))
    check_below("megabytes of the empty page", len(page.template().encode()) / 1e6, 1.0)
    size = check_below("megabytes of the page", len(text.encode()) / 1e6, 1.5)
    report("offline page of example 3 (MB)", size, "< 1.5")
    found = Scripts(text)
    about = strict(found.scripts["boot"])["runs"][0]
    assert about["samples"] == run.sizes["time"]
    frames = decoded_frames(frames_inside(found), examples.ELEMENTS)
    np.testing.assert_array_equal(frames["position"], run.position.values.reshape(-1, 63).astype(np.float32))
    plots = decoded_plots(plots_inside(found))
    np.testing.assert_array_equal(plots["kinetic_energy"], run.kinetic_energy.values)


def test_offline_page_of_a_larger_run_is_thinned_out(run: xr.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "BYTES_INSIDE", 30_000)
    two = (("a", payload.InMemory(run)), ("b", payload.InMemory(run)))
    found = Scripts(page.offline(*two))
    whole = strict(Scripts(page.offline(*two, full=True)).scripts["boot"])["runs"]
    assert [about["thinned"] for about in whole] == 2 * [{"samples": 2001, "frames": 1, "curves": 1}]
    for k, about in enumerate(strict(found.scripts["boot"])["runs"]):
        frames = decoded_frames(frames_inside(found, k))
        assert about["samples"] == len(frames["time"]) <= 30_000 / 4 / 38
        assert about["thinned"] == {"samples": 2001, "frames": 11, "curves": 3}
        assert len(decoded_plots(plots_inside(found, k))["energy"]) == 2 * -(-2001 // 3)
        np.testing.assert_allclose(np.diff(frames["time"][:, 0]), frames["time"][1, 0], atol=1e-5)


def test_a_run_that_blew_up_still_makes_a_page(run: xr.Dataset) -> None:
    """Rows without numbers at the end, or nothing else at all: the description stays JSON that a browser reads."""
    for rows in (slice(1500, None), slice(None)):
        broken = run.copy(deep=True)
        for name in ("position", "strain", "tension", "energy", "attitude", "reel_speed"):
            broken[name].values[rows] = np.nan
        broken["tension"].values[-1] = np.inf
        about = strict(Scripts(page.offline(("broken", payload.InMemory(broken)))).scripts["boot"])["runs"][0]
        box = np.array(about["bounds"], dtype=float)
        assert np.isfinite(box).all() and (box[1] > box[0]).all()
        assert all(np.isfinite([low, high]).all() and low < high for low, high in about["ranges"].values())


def test_a_view_saves_what_it_shows(run: xr.Dataset, tmp_path: Path) -> None:
    shown = tl.view(run, run, height=321)
    path = shown.save(tmp_path / "run.html")
    found = Scripts(path.read_text(encoding="utf-8"))
    assert [about["title"] for about in strict(found.scripts["boot"])["runs"]] == ["run 1", "run 2"]
    assert "height: 321px" in shown._repr_html_()
    with pytest.raises(InputError, match="expected one to 4, got 5"):
        tl.view(*5 * [run])
    assert repr(shown).startswith("View of a run") and len(repr(shown)) < 200


@pytest.mark.parametrize(
    "tip", [(-15.0, 9.0, -38.0), (-40.0, 0.0, -5.0), (30.0, -12.0, -20.0), (0.0, 0.0, -10.0)], ids=str
)
def test_a_ship_is_drawn_in_its_sea(tip: tuple[float, float, float]) -> None:
    """Its hull is closed, half in the water; a rope hangs clear of it unless its tip is above the middle."""
    case = tl.load("ship-crane", {"lines.hoist.start_point": tip})
    about = payload.scene(subject_of_system(case.system), np.zeros((7, 3)), np.zeros((2, 3)), {})
    ship = about["bodies"][0]
    points = np.array(ship["points"])
    assert about["surface"] == 0.0 and about["orbit"] is None and ship["held"]
    deck, water, bottom = points[:30].reshape(3, 10, 3)  # rings of the hull
    assert tip[2] < deck[0, 2] < 0.0 < bottom[0, 2] and not water[:, 2].any()
    edges = [tuple(sorted(pair)) for face in ship["faces"] for pair in zip(face, [*face[1:], face[0]], strict=True)]
    assert all(edges.count(edge) == 2 for edge in set(edges)), "a surface with holes"
    clear = np.abs(tip[:2]) > 0.97 * np.abs(deck[:, :2]).max(axis=0)
    assert clear.any() == any(tip[:2])


def test_an_orbit_says_where_the_earth_is() -> None:
    system = tl.load("tethered-satellites").system
    about = payload.scene(subject_of_system(system), np.zeros((11, 3)), np.zeros((2, 3)), {})
    assert system.orbit is not None and about["surface"] is None
    assert about["orbit"] == {"center": "Earth", "rate": system.orbit.rate, "eccentricity": 0.0, "mean_anomaly": 0.0}


def test_a_balloon_that_is_a_point_is_drawn_as_large_as_it_is() -> None:
    system = tl.load("aerostat").system
    about = payload.scene(subject_of_system(system), np.zeros((11, 3)), np.zeros((2, 3)), {})
    radius = np.linalg.norm(about["bodies"][0]["points"], axis=1)
    np.testing.assert_allclose(4.0 / 3.0 * np.pi * radius**3, 300.0, rtol=1e-6)
