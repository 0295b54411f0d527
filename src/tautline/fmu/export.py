"""`export_fmu`: a case as a functional mock-up unit."""

from __future__ import annotations

import hashlib
import html
import os
import re
import uuid
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from tautline._version import __version__
from tautline.durable import replacing
from tautline.engine.choose import backend_for
from tautline.errors import EngineError, InputError
from tautline.fmu import build, layout, parameters
from tautline.fmu.description import Model, description
from tautline.fmu.exported import Export, with_guides
from tautline.fmu.lowering import Lowered, lower
from tautline.fmu.variables import Variable
from tautline.kernels.machine import library, targets
from tautline.model import checks, refusals
from tautline.model.command import Command
from tautline.model.kinds import AUTO
from tautline.model.sequence import Sequence
from tautline.model.system.case import Case
from tautline.model.system.commands import SHEAVE, drives
from tautline.model.system.parts import ANCHOR, GUIDE, Kinematic
from tautline.model.system.state import BodyState, State

COMMANDS = ("torque", "speed", "length", "case")
VERSIONS = (2, 3)
# Folders of binaries, by version of the standard and kind of processor.
PLATFORMS = {(2, "x86_64"): "linux64", (3, "x86_64"): "x86_64-linux"}
# Time of files in an FMU, so that the same case gives the same bytes.
EPOCH = (1980, 1, 1, 0, 0, 0)


def export_fmu(
    case: Case,
    path: str | os.PathLike[str],
    *,
    fmi: int = 2,
    commands: Mapping[str, str] | None = None,
    velocities: Iterable[str] = (),
) -> list[str]:
    """Write a case as an FMU for co-simulation; returns the names of its variables.

    Parameters
    ----------
    case : Case
        What `tl.load` gives.
    path : path
        The file to write, such as "crane.fmu".
    fmi : int
        Version of the standard, 2 or 3.
    commands : dict
        What the input of a reel or sheave is, by the name of its command ("hoist", "hoist.end_reel", "hoist.lower"):
        "torque", "speed", "length", or "case" for the command of the case, without an input. By default what the case
        commands; the speed of a reel that is locked, and none for brakes, impedances and sheaves that turn freely.
    velocities : names
        Kinematic bodies on a path that get their velocity as an input instead, and lines whose guide is fixed in space
        and is to move. Kinematic bodies without a path always do.
    """
    return [x.name for x in write_fmu(case, path, fmi, dict(commands or {}), list(velocities))]


def write_fmu(
    case: Case, path: str | os.PathLike[str], fmi: int, commands: dict[str, str], velocities: list[str]
) -> list[Variable]:
    """`export_fmu`; its variables."""
    checks.instance("case", case, Case)
    checks.choice("fmi", fmi, VERSIONS)
    what = exported(case, commands, velocities)
    with case.naming_keys():
        found, changed, fixed = parameters.find(what, case)
        lowered = lower(what, found, changed)
    target = Path(path)
    if target.suffix != ".fmu":
        raise InputError(f"path: expected a file whose name ends in .fmu, got {str(path)!r}")
    identifier = re.sub(r"\W", "_", target.stem, flags=re.ASCII)
    identifier = identifier if re.match(r"[A-Za-z]", identifier) else f"m{identifier}"
    files = _files(case, what, lowered, fixed, identifier, fmi)
    with replacing(target, "wb") as file, zipfile.ZipFile(file, "w") as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, content, compresslevel=1)  # a fifth of the time, a tenth larger
    return lowered.variables


def exported(case: Case, commands: dict[str, str], velocities: list[str]) -> Export:
    """Choice of what is exported of a case, and how; InputError for what cannot be."""
    backend_for(case)
    for name, line in case.system.lines.items():
        if line.string.law not in layout.LAWS:
            raise InputError(f"lines.{name}.law: expected {', '.join(layout.LAWS)} in an FMU, got {line.string.law!r}")
    driven = drives(case.system)
    for name, word in commands.items():
        if name not in driven:
            checks.refuse("commands", f"names of reels and sheaves ({', '.join(driven) or 'none'})", name)
        checks.choice(f"commands[{name!r}]", word, COMMANDS)
    modes = {name: commands.get(name) or _mode_of(case.commands.get(name), kind) for name, kind in driven.items()}
    for name, mode in modes.items():
        command = case.commands.get(name)
        if mode == "case" and command is not None and command.is_function:
            raise InputError(f"commands[{name!r}]: expected a command by numbers in an FMU, got a function")
        if mode == "case" and isinstance(command, Sequence):
            raise refusals.SEQUENCE_FMU.error("one", at=f"lines.{name}: ")
    guides: dict[str, str] = {}
    for name in velocities:
        guides |= _guide(case, name)
    system = with_guides(case.system, guides)
    state = case.state()
    if guides:
        added = {guide: BodyState(case.system.lines[name].start_point) for name, guide in guides.items()}
        state = State(added | dict(state.bodies), dict(state.lines))
    bodies = system.bodies.items()
    moved = [name for name, x in bodies if isinstance(x, Kinematic) and (x.path is None or name in velocities)]
    for name in moved:
        body = system.bodies[name]
        if isinstance(body, Kinematic) and body.rotation is not None:
            raise refusals.FMU_TURNING.error("one that turns", at=f"bodies.{name}")
    interval = case.run.interval()
    return Export(
        system,
        state,
        case.run.method() | {"stop": ()},
        case.commands,
        modes,
        tuple(moved),
        case.run.duration,
        interval,
        guides,
    )


def _mode_of(command: Command | None, kind: str) -> str:
    """Kind of input of a reel or sheave with a command; a sheave without a command has none."""
    if command is None:
        return "case" if kind == SHEAVE else "speed"
    if command.prescribes:
        return "speed" if command.relative else "length"
    if command.kernel != "torque":
        return "case"
    return "speed" if command.holds else "torque"


def _guide(case: Case, name: str) -> dict[str, str]:
    """Name of a new kinematic body that carries a line; nothing for a kinematic body that is there."""
    if name in case.system.bodies:
        if not isinstance(case.system.bodies[name], Kinematic):
            raise InputError(f"velocities: expected kinematic bodies or lines, got the free body {name!r}")
        return {}
    line = case.system.lines.get(name)
    if line is None:
        known = [*(x for x, body in case.system.bodies.items() if isinstance(body, Kinematic)), *case.system.lines]
        checks.refuse("velocities", f"names of kinematic bodies or lines ({', '.join(known)})", name)
    if line.start != ANCHOR:
        raise InputError(f"velocities: expected a line whose start is fixed in space, got {name!r} on {line.start!r}")
    return {name: GUIDE if len(case.system.lines) == 1 else f"{name}_{GUIDE}"}


def _libraries() -> dict[str, tuple[bytes, str]]:
    """Libraries for the kinds of processors that they were made for: contents, and the line of the list."""
    found = {}
    for target in targets.all_targets():
        try:
            path = library.check(target)
        except EngineError:
            continue
        found[path.name] = (path.read_bytes(), " ".join([path.name, *sorted(target.needs)]))
    if not found:
        raise EngineError(
            "libtautline was not made when tautline was installed; an FMU needs it. `tautline doctor` says why"
        )
    return found


def _files(case: Case, what: Export, lowered: Lowered, fixed: list[str], identifier: str, fmi: int) -> dict[str, bytes]:
    """Files of an FMU by name."""
    libraries = _libraries()
    block = np.concatenate([lowered.words, np.array(lowered.relocations, dtype=np.int64)]).astype("<i8").tobytes()
    digest = hashlib.sha256(block + repr(lowered.variables).encode() + f"{fmi} {__version__}".encode())
    token = f"{{{uuid.UUID(bytes=digest.digest()[:16])}}}"
    padded = token.encode().ljust(40, b"\0")
    tokens = {
        f"token{f'_{k}' if k else ''}": int.from_bytes(padded[8 * k : 8 * k + 8], "little", signed=True)
        for k in range(5)
    }
    header = lowered.header | tokens
    words = np.array([header[name] for name in layout.HEADER], dtype="<i8").tobytes()
    title = case.title or identifier
    times = float(case.run.duration), float(what.interval), case.run.step == AUTO
    model = Model(title, identifier, case.description, token, *times)
    page = _page(model, lowered.variables, fixed, what).encode()
    licence = _licence()
    platform = PLATFORMS.get((fmi, targets.machine()), f"{targets.machine()}-linux")
    found = {
        "modelDescription.xml": description(model, lowered.variables, fmi),
        f"binaries/{platform}/{identifier}.so": build.wrapper().read_bytes(),
        "resources/system.bin": words + block,
        "resources/libraries.txt": "".join(f"{line}\n" for _, line in libraries.values()).encode(),
        "resources/case.toml": case.to_toml().encode(),
        "documentation/index.html": page,
        "documentation/licenses/license.txt": licence,
    }
    return found | {f"resources/{name}": content for name, (content, _) in libraries.items()}


def _licence() -> bytes:
    """Text of tautline's license, from the sources or from the installed package."""
    beside = Path(__file__).parents[3] / "LICENSE"
    if beside.is_file():
        return beside.read_bytes()
    from importlib.metadata import PackageNotFoundError, files

    try:
        listed = [x for x in files("tautline") or [] if x.name == "LICENSE"]
        return Path(str(listed[0].locate())).read_bytes()
    except (PackageNotFoundError, OSError, IndexError):
        return b"MIT License\n"


def _page(model: Model, variables: list[Variable], fixed: list[str], what: Export) -> str:
    """Documentation of an FMU."""

    def table(causality: str) -> str:
        rows = "".join(
            f"<tr><td><code>{html.escape(x.name)}</code><td>{html.escape(x.unit.replace('*', ' '))}"
            f"<td>{'' if x.start is None else f'{x.start:.9g}'}<td>{html.escape(x.sentence)}\n"
            for x in variables
            if x.causality == causality
        )
        return f"<table><tr><th>name<th>unit<th>start<th>\n{rows}</table>\n" if rows else "<p>None.\n"

    kept = [name for name, mode in what.modes.items() if mode == "case" and name in what.commands]
    paths = [n for n, x in what.system.bodies.items() if isinstance(x, Kinematic) and x.path and n not in what.moved]
    left = [f"the command of {x!r}" for x in kept] + [f"the path of body {x!r}" for x in paths]
    others = f" As in the case, without an input: {html.escape(', '.join(left))}." if left else ""
    return f"""<!DOCTYPE html>
<meta charset="utf-8"><title>{html.escape(model.name)}</title>
<style>body {{ font: 15px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }}
td, th {{ text-align: left; padding: 0 1em 0 0; vertical-align: top }}</style>
<h1>{html.escape(model.name)}</h1>
<p>{html.escape(model.description)}
<p>Made by tautline {__version__} from the case in <code>resources/case.toml</code>. All numbers are SI; the third axis
points down. Time 0 of the case is the start time of the host.
<h2>Inputs</h2>
<p>Inputs hold over a communication step. A change of a body's velocity is a jump.{others}
{table("input")}
<h2>Outputs</h2>
{table("output")}
<h2>Parameters</h2>
<p>They can be set until the initialization ends. They change the system; the start stays where it was exported, so that
a line that hung at rest bounces under another mass.
{table("parameter")}
<p>Fixed: {html.escape(", ".join(fixed) or "no other key with numbers")}, and all of the start and the run.
"""
