"""Motions without end and tables from CSV files: their numbers, their keys, and what is refused."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import signal
from typer.testing import CliRunner

import tautline as tl
from tautline.cli import checking
from tautline.cli.commands import app
from tautline.engine import windows
from tautline.errors import InputError
from tautline.files import scenario
from tautline.model.piecewise import evaluate
from tautline.model.spectra import HIGHEST, LOWEST, density
from tests.support import chains
from tests.support.checking import check_below, check_close

TEXT = """
[string]
length = "60 m"
density = 1
stiffness = "8 MN"
viscosity = "20 kN*s"
[reel]
drum_radius = 0.3
guide_length = 1
inertia_mass = 200
[body]
shape = "point"
mass = "2 t"
[guide]
{guide}
[initial]
kind = "hanging"
deployed = "30 m"
[command]
{command}
[run]
duration = "2 s"
elements = 2
sample = "50 ms"
"""
SINE = 'kind = "sine"\namplitude = "1 m"\nperiod = "8 s"'
CSV = 'kind = "points"\nfile = "heave.csv"'


def case(guide: str = SINE, command: str = 'kind = "locked"', folder: Path = Path()) -> tl.Case:
    case: tl.Case = scenario.parse(TEXT.format(guide=guide, command=command), str(folder / "ship.toml"))
    return case


# -- sines and waves -------------------------------------------------------------------------------------------


def test_a_sine_is_a_sine() -> None:
    t = np.linspace(0.0, 50.0, 777)
    place, velocity = tl.motions.Sine((0.5, 0.0, 2.0), 9.0, (0.5 * math.pi, 0.0, 0.1)).at(t)
    w = 2.0 * math.pi / 9.0
    check_close("surge", place[:, 0], 0.5 * np.cos(w * t), 1e-13)
    check_close("sway", place[:, 1], 0.0 * t, 0.0)
    check_close("heave", place[:, 2], 2.0 * np.sin(w * t + 0.1), 1e-13)
    check_close("velocity", velocity[:, 2], 2.0 * w * np.cos(w * t + 0.1), 1e-13)


@pytest.mark.parametrize(("degree", "parts"), [(3, (1e-11, 1e-8, 1e-5)), (5, (1e-14, 1e-12, 1e-9))])
@pytest.mark.parametrize("ramp", [0.0, 18.0])
def test_pieces_are_as_near_as_is_claimed(ramp: float, degree: int, parts: tuple[float, ...]) -> None:
    """Of amplitude, speed and acceleration; also far from the start."""
    motion = tl.motions.Sine(1.0, 9.0, 0.3, ramp=ramp).harmonics()
    for start in (0.0, 3600.0):
        t = np.linspace(start, start + 30.0, 5003)
        exact = motion.values(t, 0.0)
        knots, coefficients = motion.pieces(0.0, start, start + 30.0, degree)
        assert knots[0] <= start and knots[-1] + motion.spacing >= start + 30.0
        for derivative, part in enumerate(parts):
            scale = (2.0 * math.pi / 9.0) ** derivative
            # after an hour, times and the angles of the sine are rounded to 4.5e-13
            found = evaluate(knots, coefficients, t, derivative)
            check_close(f"derivative {derivative}", found, exact[derivative], part * scale + 1e-12)


def test_pieces_do_not_depend_on_who_asks() -> None:
    motion = tl.motions.Waves("jonswap", 2.0, 9.0).harmonics()
    whole, part = motion.pieces(0.0, 0.0, 60.0), motion.pieces(0.0, 41.0, 50.0)
    same = np.isin(whole[0], part[0])
    assert same.sum() == len(part[0]) > 1000
    assert (whole[1][:, same] == part[1]).all()


def test_a_ramp_begins_and_ends_smoothly() -> None:
    motion = tl.motions.Sine(1.0, 5.0, 1.0, ramp=4.0)
    full = tl.motions.Sine(1.0, 5.0, 1.0)
    assert (motion.harmonics().values(np.array([-1.0, 0.0]), 0.0) == 0.0).all()
    late = np.linspace(4.0, 20.0, 100)
    for ours, theirs in zip(motion.at(late), full.at(late), strict=True):
        check_close("after the ramp", ours, theirs, 1e-14)
    jump = motion.acceleration(4.0 + 1e-7) - motion.acceleration(4.0 - 1e-7)
    check_below("jump of the acceleration", float(np.abs(jump).max()), 1e-5)


@pytest.mark.parametrize(
    ("spectrum", "peakedness", "components"),
    [("jonswap", None, 200), ("jonswap", 6.0, 17), ("pierson_moskowitz", None, 500), ("pierson_moskowitz", None, 1)],
)
def test_the_variance_is_that_of_the_height(spectrum: str, peakedness: float | None, components: int) -> None:
    motion = tl.motions.Waves(spectrum, 3.2, 11.0, peakedness, components, seed=4, rao=0.5).harmonics()
    check_close("16 times the variance", 16.0 * motion.variance, 1.6**2, 1e-13)
    x = motion.omega * 11.0 / (2.0 * math.pi)
    assert ((x > LOWEST) & (x < HIGHEST)).all() and len(set(x)) == components
    shorter = tl.motions.Waves(spectrum, 3.2, 11.0, peakedness, components, seed=4, rao=0.5, cutoff=4).harmonics()
    assert shorter.omega.max() < 4.0 * 2.0 * math.pi / 11.0
    check_close("16 times the variance", 16.0 * shorter.variance, 1.6**2, 1e-13)
    apart = np.diff(x)  # a band each, so that no two are the same and no period is common
    assert components == 1 or ((apart > 0.0).all() and apart.std() > 0.2 * apart.mean())


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("gamma", [1.0, 3.3, 7.0])
def test_moments_are_those_of_the_spectrum(gamma: float, seed: int) -> None:
    """Of all frequencies, by quadrature; the second one, which speeds and zero crossings come from, lacks its tail."""
    motion = tl.motions.Waves("jonswap", 4.0, 2.0 * math.pi, gamma, seed=seed).harmonics()
    x = np.geomspace(0.1, 1e4, 200_001)

    def moment(power: int) -> float:
        return float(np.trapezoid(x**power * density(x, gamma), x))

    for power, low, high in ((-1, -5e-3, 5e-3), (1, -5e-3, 5e-3), (2, -0.012, 2e-3)):
        found = float((motion._squares * motion.omega**power).sum() / motion._squares.sum())
        assert low < found * moment(0) / moment(power) - 1.0 < high, f"moment {power}"


def test_waves_do_not_repeat_themselves() -> None:
    """Autocorrelation of the sum of sines up to an hour, beyond the first minutes; with a period it would come to 1."""
    motion = tl.motions.Waves("jonswap", 4.0, 10.0, seed=2).harmonics()
    lags = np.arange(300.0, 3600.0, 0.5)
    share = motion._squares / motion._squares.sum()
    alike = np.abs(np.cos(np.multiply.outer(lags, motion.omega)) @ share)
    check_below("autocorrelation", float(alike.max()), 0.6)


@pytest.mark.parametrize(
    ("spectrum", "gamma"), [("jonswap", 3.3), pytest.param("pierson_moskowitz", 1.0, marks=pytest.mark.long)]
)
def test_the_spectrum_is_found_again(spectrum: str, gamma: float) -> None:
    """By Welch's method from three hours of the motion itself."""
    motion = tl.motions.Waves(spectrum, 4.0, 10.0, components=600, seed=1)
    t = np.arange(0.0, 3.0 * 3600.0, 0.5)
    heave = np.concatenate([motion.at(some)[0][:, 2] for some in np.split(t, 20)])
    check_close("significant height", 4.0 * heave.std(), 4.0, 0.1)
    f, found = signal.welch(heave, fs=2.0, nperseg=512)
    x = f[1:] * 10.0
    fine = np.linspace(LOWEST, HIGHEST, 100_000)
    wanted = density(x, gamma) * 10.0 / np.trapezoid(density(fine, gamma), fine)  # m^2 s, with a variance of 1 m^2
    for low, high in ((0.7, 0.95), (0.95, 1.1), (1.1, 1.5), (1.5, 2.5)):
        inside = (x > low) & (x < high)
        # 42 segments of random waves, and a window that smears the peak
        assert found[1:][inside].sum() / wanted[inside].sum() == pytest.approx(1.0, abs=0.15)


def test_a_seed_gives_the_same_waves_everywhere() -> None:
    """Numbers of PCG64 itself, which has a stated sequence, and not of a generator on top that may change."""
    motion = tl.motions.Waves("jonswap", 2.0, 10.0, components=3, seed=7).harmonics()
    bits = np.random.PCG64(7).random_raw(6)
    assert int(bits[0]) == 11530976094092348043, "PCG64 is not PCG64"
    again = tl.motions.Waves("jonswap", 2.0, 10.0, components=3, seed=7).harmonics()
    other = tl.motions.Waves("jonswap", 2.0, 10.0, components=3, seed=8).harmonics()
    assert (motion.omega == again.omega).all() and not np.isclose(motion.omega, other.omega).any()
    check_close("frequencies", motion.omega * 10.0 / (2.0 * math.pi), [1.06609346, 2.54176835, 5.97503895], 1e-8)


# -- lengths and speeds ------------------------------------------------------------------------------------------


def simulated(command: Any, **others: Any) -> Any:
    start = tl.Straight(30.0, reel_speed=others.pop("reel_speed", 0.0))
    return chains.simulate(case().system, start, command, duration=2.0, sample=0.1, **others)


def test_a_length_sways_about_its_mean() -> None:
    run = simulated(tl.Length(motion=tl.motions.Sine(0.5, 3.0), mean=30.0), reel_speed=-math.pi / 3.0)
    check_close("length", run.unstretched_length, 30.0 + 0.5 * np.sin(2.0 * math.pi / 3.0 * run.time), 1e-10)


@pytest.mark.parametrize(("kind", "rate"), [("payout", 0.4), ("retrieval", -0.4)])
def test_a_speed_sways_about_its_mean(kind: str, rate: float) -> None:
    motion = tl.motions.Sine(0.5, 3.0, 0.4, ramp=1.0)
    speeds: dict[str, Any] = {kind: 0.4}
    run = simulated(tl.Speed(**speeds, motion=motion))
    place, velocity = motion.at(run.time.values)
    check_close("length", run.unstretched_length, 30.0 + rate * run.time.values + place[:, 2], 1e-10)
    check_close("speed", -run.reel_speed[1:], rate + velocity[1:, 2], 1e-6)


def test_the_ramp_of_a_command_begins_when_it_is_given() -> None:
    motion = tl.motions.Sine(0.5, 3.0, ramp=1.0)
    sim = tl.Simulation(case().system, tl.Hanging(30.0))
    sim.advance(10.25, tl.Locked())
    sim.advance(2.5, tl.Length(motion=motion))
    assert sim.line.deployed == pytest.approx(30.0 + 0.5 * math.sin(2.0 * math.pi / 3.0 * 12.75), abs=1e-9)


@pytest.mark.parametrize("command", [tl.Locked(), tl.Length(motion=tl.motions.Waves("jonswap", 1.0, 4.0, ramp=1.0))])
def test_tables_of_a_part_of_the_run_change_nothing(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Torques too, which are found for samples of which the tables may hold no longer."""
    read = case('kind = "sine"\namplitude = "1 m"\nperiod = "2 s"')
    runs = []
    for blocks in (windows.BLOCKS_AT_ONCE, 1):
        monkeypatch.setattr(windows, "BLOCKS_AT_ONCE", blocks)
        runs.append(chains.simulate(read.system, read.start, command, duration=5.0, sample=0.05, step=1e-3))
    assert runs[0].equals(runs[1])


def test_functions_become_tables() -> None:
    length = tl.Length.of(lambda t: 30.0 + 0.2 * math.sin(t), duration=3.0, interval=0.02)
    assert length.velocities == pytest.approx((0.2, 0.2 * math.cos(3.0)), abs=1e-8)
    run = simulated(length, reel_speed=-0.2)
    check_close("length", run.unstretched_length, 30.0 + 0.2 * np.sin(run.time), 1e-9)
    speed = tl.Speed.of(retrieval=lambda t: 0.5 * t, duration=3.0, interval=1.0)
    assert speed == tl.Speed(retrieval=((0.0, 1.0, 2.0, 3.0), (0.0, 0.5, 1.0, 1.5)))


def test_natural_ends_have_no_acceleration() -> None:
    times, points = (0.0, 1.0, 2.0, 4.0), ((0, 0, 1.0), (1, 0, 2.0), (0, 1, 0.5), (0, 0, 0))
    path = tl.motions.GuidePath(times, points, ("natural", "natural"))
    check_close("acceleration", path.acceleration([1e-12, 4.0 - 1e-12]), np.zeros((2, 3)), 1e-9)
    assert np.abs(path.at(1e-12)[1]).max() > 0.1
    one = tl.motions.GuidePath(times, points, ("natural", (0.0, 0.0, 1.0)))
    check_close("velocity at the end", one.at(4.0 - 1e-12)[1], [[0.0, 0.0, 1.0]], 1e-9)
    length = tl.Length((times, (30.0, 30.5, 30.4, 30.1)), velocities=("natural", "natural"))
    rows = length.curve(0.0, 30.0)
    assert rows[1, 3] == pytest.approx(0.0, abs=1e-12) and abs(rows[1, 2]) > 0.1
    assert tl.Length((times, (30.0, 30.5, 30.4, 30.1)), monotone=True, velocities=("natural", 0.0)).curve(0.0, 30.0)[
        1, 2
    ]


# -- from files to run files ---------------------------------------------------------------------------------------


def heave_file(folder: Path, text: str = "time,z\ns,cm\n0,0\n1,50\n2,0\n3,-50\n") -> Path:
    path = folder / "heave.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_csv_file_is_the_table(tmp_path: Path) -> None:
    heave_file(tmp_path)
    read = case(CSV, folder=tmp_path)
    expected = tl.motions.GuidePath((0.0, 1.0, 2.0, 3.0), ((0, 0, 0), (0, 0, 0.5), (0, 0, 0), (0, 0, -0.5)))
    assert read.system.bodies["guide"] == tl.Kinematic(expected)
    assert read.to_dict()["bodies"]["guide"]["path"]["file"]["name"] == "heave.csv"
    (tmp_path / "heave.csv").unlink()
    for again in (
        tl.Case.from_dict(json.loads(json.dumps(read.to_dict()))),
        scenario.parse(read.to_toml()),
        read.with_({"run.duration": 1.0}),
    ):
        assert again == read or again.run != read.run
        assert again.system.bodies["guide"] == tl.Kinematic(expected)
    other = heave_file(tmp_path, "time,x,y,z\nms,m,m,m\n0,0,0,0\n500,1,2,3\n")
    guide = read.with_({"guide.file": str(other)}).system.bodies["guide"]
    assert guide == tl.Kinematic(tl.motions.GuidePath((0.0, 0.5), ((0, 0, 0), (1, 2, 3))))


def test_an_option_takes_a_file_of_the_present_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heave_file(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "ship.toml").write_text(TEXT.format(guide=SINE, command='kind = "locked"'), encoding="utf-8")
    changed = tl.load("inner/ship.toml", {"guide": '{kind = "points", file = "heave.csv"}'})
    guide = changed.system.bodies["guide"]
    assert isinstance(guide, tl.Kinematic) and isinstance(guide.path, tl.motions.GuidePath)


@pytest.mark.parametrize("guide", [CSV, SINE, 'kind = "waves"\nspectrum = "jonswap"\nheight = 1\npeak_period = 5'])
def test_a_run_resumes_without_its_file(guide: str, tmp_path: Path) -> None:
    """Bit for bit, in chunks of other sizes, from the run file alone."""
    table = heave_file(tmp_path)
    read = case(guide, folder=tmp_path)
    whole, part = tmp_path / "whole.nc", tmp_path / "part.nc"
    tl.run_to_file(whole, read)
    tl.run_to_file(part, read, watch=lambda progress: True)
    table.unlink()
    tl.resume(part)
    assert tl.open_run(part).equals(tl.open_run(whole))
    assert tl.open_run(part).attrs["status"] == "completed"


@pytest.mark.parametrize("command", [tl.Length(motion=tl.motions.Waves("jonswap", 1.0, 4.0, ramp=1.0)), tl.Locked()])
def test_a_checkpoint_goes_on_bit_for_bit(command: Any, tmp_path: Path) -> None:
    read = case('kind = "waves"\nspectrum = "pierson_moskowitz"\nheight = 1\npeak_period = 5')

    def begun() -> tl.Simulation:
        sim = tl.Simulation(read.system, read.start, step=1e-3)
        sim.advance(3.7, command)
        return sim

    sim = begun()
    sim.save(tmp_path / "here.npz")
    other = tl.Simulation.load(tmp_path / "here.npz")
    for each in (sim, other):
        each.advance(7.3)
    ticking = begun()
    for _ in range(73):
        ticking.advance(0.1)
    for a in (other, ticking):
        assert a.time == pytest.approx(sim.time) and (a.line.nodes == sim.line.nodes).all()
        assert a.energy == sim.energy


@pytest.mark.long
def test_a_long_record_is_carried(tmp_path: Path) -> None:
    t = np.arange(0.0, 3600.0, 0.1)
    lines = "\n".join(f"{a:.1f},{b!r}" for a, b in zip(t.tolist(), np.sin(t).tolist(), strict=True))
    heave_file(tmp_path, f"time,z\ns,m\n{lines}\n")
    tl.run_to_file(tmp_path / "run.nc", case(CSV, folder=tmp_path).with_({"run.duration": 0.1}))
    run = tl.open_run(tmp_path / "run.nc")
    assert len(json.loads(run.attrs["case"])["bodies"]["guide"]["path"]["file"]["times"]) == len(t) == 36_000


def test_a_study_does_not_vary_files(tmp_path: Path) -> None:
    study = {"scenario": case(CSV, folder=heave_file(tmp_path).parent), "outputs": ["max start_tension"]}
    names = [str(tmp_path / "heave.csv")]
    with pytest.raises(InputError, match=r"vary\.guide\.file: expected single values; make a study for each file"):
        tl.study(study | {"vary": {"guide.file": names}}, tmp_path / "study.zarr", workers=1)


def test_check_says_how_fast_it_moves() -> None:
    found = checking.facts(case(command='kind = "length"\ntarget = "28 m"\nspeed = "2 m/s"\nacceleration = "3 m/s^2"'))
    w = 2.0 * math.pi / 8.0
    guide, length = found["motions"]["guide"], found["motions"]["length"]
    assert guide["peak_speed"] == pytest.approx(w, rel=1e-6)
    assert guide["peak_acceleration"] == pytest.approx(w**2, rel=1e-4)
    assert length["peak_speed"] == pytest.approx(2.0, rel=1e-6)
    assert length["peak_acceleration"] == pytest.approx(3.0, rel=1e-6)
    assert "up to 0.7854 m/s and 0.6169 m/s^2" in checking.rows(found)["motion of the guide"]
    assert "guide" not in checking.facts(tl.load("crane-hoist"))["motions"]


# -- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("guide", "expected"),
    [
        ('kind = "sine"\namplitude = 1\nperiod = -8', "guide.period: expected a positive finite number (s), got -8.0"),
        ('kind = "sine"\namplitude = 1', "guide: expected either period, or frequency, got neither"),
        ('kind = "sine"\namplitude = 1\nperiod = 8\nfrequency = 1', "expected either period, or frequency, got period"),
        ('kind = "sine"\namplitude = 1\nfrequency = "0 Hz"', "guide.frequency: expected a positive finite number (Hz)"),
        (
            'kind = "sine"\namplitude = 1\nfrequency = "3 s"',
            "guide.frequency: expected a frequency such as 3 or '3 Hz'",
        ),
        ('kind = "sine"\namplitude = [1, 2]\nperiod = 8', "guide.amplitude: expected a list of three, each a length"),
        ('kind = "sines"\namplitudes = [1]\nperiods = [8, 9]', "guide.amplitudes: expected 2, as many as there are"),
        ('kind = "sines"\namplitudes = []\nperiods = []', "guide.periods: expected at least 1 number (s), got none"),
        ('kind = "sines"\namplitudes = [1, 2]\nperiods = [8, 0]', "guide.periods: expected a positive finite number"),
        ('kind = "sines"\namplitudes = 1\nperiods = [8]', "guide.amplitudes: expected a list, each a length"),
        ('kind = "swell"', "guide.kind: expected one of 'points', 'sine', 'sines', 'waves', 'ship', got 'swell'"),
        (
            'kind = "waves"\nspectrum = "bretschneider"\nheight = 1\npeak_period = 8',
            "guide.spectrum: expected 'jonswap' or 'pierson_moskowitz', got 'bretschneider'",
        ),
        (
            'kind = "waves"\nspectrum = "pierson_moskowitz"\nheight = 1\npeak_period = 8\npeakedness = 2',
            "guide.peakedness: expected it together with spectrum = 'jonswap'",
        ),
        (
            'kind = "waves"\nspectrum = "jonswap"\nheight = 1\npeak_period = 8\nseed = -1',
            "guide.seed: expected a whole number from 0 to",
        ),
        (CSV, "heave.csv: cannot be read: No such file or directory"),
        ('kind = "points"\nfile = 3', "guide.file: expected the name of a CSV file, got 3"),
        ("times = [0, 1]", "guide.kind: missing; expected one of 'points', 'sine', 'sines', 'waves', 'ship'"),
    ],
)
def test_keys_that_are_refused(guide: str, expected: str, tmp_path: Path) -> None:
    """One sentence by the command, exit code 2, nothing written."""
    path = tmp_path / "ship.toml"
    path.write_text(TEXT.format(guide=guide, command='kind = "locked"'), encoding="utf-8")
    result = CliRunner().invoke(app, ["run", str(path), "-o", str(tmp_path / "run.nc")])
    assert result.exit_code == 2 and expected in result.output, result.output
    assert result.output.count("error:") == 1 and not (tmp_path / "run.nc").exists()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("time,z\n0,0\n1,1\n", "heave.csv:2: expected units such as s, got the number 0"),
        ("time,z\ns,kg\n0,0\n1,1\n", "heave.csv:2: expected a length such as 3 or '3 m', got '1 kg', which is a mass"),
        (
            "time,lift\ns,m\n0,0\n1,1\n",
            "heave.csv:1: expected columns time and x, y or z or surge, sway or heave, got only",
        ),
        ("t,z\ns,m\n0,0\n1,1\n", "expected columns time and x, y or z or surge, sway or heave, got only z of these"),
        ("time,z\ns,m\n0,0\n1,one\n", "heave.csv:4: expected a finite number in column 2, got 'one'"),
        ("time,z\ns,m\n0,0\n1\n", "heave.csv:4: expected a finite number in column 2, got nothing"),
        ("time,z\ns,m\n0,0\n1,nan\n", "heave.csv:4: expected a finite number in column 2, got 'nan'"),
        ("time,z\ns,m\n0,0\n1,1,5\n", "heave.csv:4: expected a number for each of 2 names, got 3 cells"),
        ("time,z\ns\n0,0\n", "expected 2 names, each once, and a unit for each, got 1 unit"),
        ("time,z,z\ns,m,m\n0,0,0\n", "expected 3 names, each once, and a unit for each, got a name again"),
        ("", "heave.csv: expected names, units and numbers below, got 0 lines"),
        ("time,z\ns,m\n1,0\n0,1\n", "guide.file: expected increasing numbers (s), got a step back or none"),
        ("time,z\ns,m\n1,0\n", "guide.file: expected at least 2 numbers, got 1"),
    ],
)
def test_files_that_are_refused(text: str, expected: str, tmp_path: Path) -> None:
    heave_file(tmp_path, text)
    with pytest.raises(InputError) as caught:
        case(CSV, folder=tmp_path)
    assert expected in str(caught.value) and "ship.toml:" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("amplitude = 1\nperiod = -3", "command.period: expected a positive finite number (s), got -3.0"),
        ("amplitude = 1", "command: expected either period, or frequency, got neither"),
        ("amplitude = 1\nperiods = [3]", "command.periods: expected no such key beside those of a Sine"),
        ("amplitude = [0, 0, 1]\nperiod = 3", "command: expected a motion given by numbers, not by vectors"),
        ("period = 3", "command: expected one of amplitude, amplitudes, spectrum, got none"),
        ("mean = 30", "command: expected one of target (with speed and acceleration), table"),
        ("mean = 30\ntimes = [0, 1]\nlengths = [30, 31]", "command.mean: expected it together with a motion, got 30.0"),
        ("amplitude = 1\nperiod = 3\nmean = 29", "command: expected the present deployed length of 30 m at t = 0 s"),
        ('file = "heave.csv"', "command.file: "),
    ],
)
def test_lengths_that_are_refused(keys: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        case(command=f'kind = "length"\n{keys}').state()
    assert expected in str(caught.value) and "\n" not in str(caught.value)


def test_arguments_that_are_refused() -> None:
    with pytest.raises(InputError, match=r"Speed\.motion: expected it together with a constant payout or retrieval"):
        tl.Speed(payout=((0.0, 1.0), (0.0, 1.0)), motion=tl.motions.Sine(1.0, 3.0))
    with pytest.raises(InputError, match=r"Length\.motion: expected a Sine, Sines or Waves, got 3"):
        tl.Length(motion=3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"Sines\.amplitudes: expected a list of numbers or vectors"):
        tl.motions.Sines(1.0, (3.0,))
    with pytest.raises(InputError, match=r"Waves\.peakedness: expected a number from 1 to 20, got 0\.5"):
        tl.motions.Waves("jonswap", 1.0, 8.0, 0.5)
    with pytest.raises(InputError, match=r"Waves\.cutoff: expected .*2 .*100"):
        tl.motions.Waves("jonswap", 1.0, 8.0, cutoff=1)
    with pytest.raises(InputError, match=r"Reel\.guide_path: expected a GuidePath or Sine or Sines or Waves, got 3"):
        tl.Reel(0.1, 0.1, 1.0, guide_path=3)
    fast = tl.Reel(0.3, 1.0, 200.0, guide_path=tl.motions.Sine(1e-6, 1e-6))
    pendulum = chains.Chain(case().system.lines["line"].string, fast, tl.RigidBody.point(1.0))
    with pytest.raises(
        InputError,
        match=r"period: expected at most 4000 periods over a step or between two samples, "
        r"got a mean period of 1e-06 s in 0\.14\d* s; use a shorter step or sample interval",
    ):
        chains.simulate(pendulum, chains.hanging(pendulum, 30.0, 2), tl.Locked(), duration=10.0, sample=1.0)


def test_roll_pitch_and_yaw_from_a_csv_file_turn_a_body(tmp_path: Path) -> None:
    """The same as the table of its numbers; the case carries them, and the body is where they turn it."""
    (tmp_path / "roll.csv").write_text("time,roll,pitch,yaw\ns,deg,rad,deg\n0,0,0,0\n0.1,2,0.01,1\n0.3,4,0.03,-1\n")
    times, degree = (0.0, 0.1, 0.3), math.pi / 180.0
    table = tl.motions.AttitudePath(times, ((0, 0, 0), (2 * degree, 0.01, degree), (4 * degree, 0.03, -degree)))
    text = (Path(__file__).parents[1] / "e2e/every_full_key/turning.toml").read_text()
    a, b = text.index("[bodies.deck.turning]"), text.index("[bodies.arm]")
    (tmp_path / "deck.toml").write_text(
        f"{text[:a]}[bodies.deck.turning]\nkind = 'points'\nfile = 'roll.csv'\n\n{text[b:]}"
    )
    case = tl.load(tmp_path / "deck.toml")
    (tmp_path / "roll.csv").unlink()
    deck = case.system.bodies["deck"]
    assert isinstance(deck, tl.Kinematic) and case.to_dict()["bodies"]["deck"]["turning"]["file"]["name"] == "roll.csv"
    run, again = tl.simulate(case), tl.simulate(tl.Case.from_dict(case.to_dict()))
    assert np.array_equal(run.attitude, again.attitude)
    bodies = dict(case.system.bodies) | {"deck": dataclasses.replace(deck, turning=table)}
    plain = tl.simulate(case.with_(system=dataclasses.replace(case.system, bodies=bodies)))
    np.testing.assert_allclose(plain.position, run.position, rtol=0, atol=1e-12)
    row = run.sel(body="deck").isel(time=30)  # 0.3 s, an entry of the table
    roll, pitch, yaw = 4 * degree, 0.03, -degree
    R = rotation(2, yaw) @ rotation(1, pitch) @ rotation(0, roll)
    np.testing.assert_allclose(row.attitude, R, rtol=0, atol=1e-9)


def rotation(axis: int, angle: float) -> Any:
    """About an axis."""
    i, j = [(1, 2), (2, 0), (0, 1)][axis]
    R = np.eye(3)
    R[i, i] = R[j, j] = math.cos(angle)
    R[j, i] = math.sin(angle)
    R[i, j] = -R[j, i]
    return R
