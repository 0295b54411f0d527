"""The page of a study's report: what it was, how its members ended, and what was found."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import numpy as np

from tautline.figures import cover
from tautline.figures import page as pages
from tautline.figures.cover import Cover
from tautline.model.picture.inputs import in_words
from tautline.model.system.case import Case
from tautline.quantities import number, prefixed, unit_text, value
from tautline.studies.analysis.reading import Opened
from tautline.studies.analysis.warnings import counted
from tautline.studies.definition import work
from tautline.studies.definition.outputs import HEALTH
from tautline.studies.report.report import Section

# Messages that are shown of every way to end early.
MESSAGES = 3
# Words of a list that are shown.
LISTED = 8
_STYLE = """
h3 { margin: 2rem 0 0.5rem; }
"""
_DESIGNS = {
    "grid": "every combination of the values (grid)",
    "random": "random, independent draws",
    "latin-hypercube": "Latin hypercube",
    "sobol": "Sobol' points",
    "sobol-indices": "table for Sobol' indices",
    "morris": "walks for elementary effects (Morris)",
    "table": "a table of the user's",
}


def render(
    opened: Opened, store: str, sections: list[Section], left_out: dict[str, int], folder: Path, project: str = ""
) -> str:
    """The whole page; pictures are taken from the folder."""
    attrs = opened.dataset.attrs
    head = Cover("Report of a study", attrs["title"], attrs["description"], project, Path(store).name, attrs["version"])
    body = _verdict(opened)
    if attrs["status"] != "completed":
        body += (
            f'<p class="note">This study is not finished: {attrs["members_done"]} of {opened.members} members are '
            f"computed, and what follows is of these. <code>tautline study --resume {html.escape(store)}</code> goes "
            "on with it.</p>"
        )
    body += f"{_warnings(opened)}<h2>What was found</h2>{_found(opened, sections)}"
    body += f"<h2>What was computed</h2>{_facts(opened)}<h3>Parameters</h3>{_parameters(opened)}"
    body += f"<h3>How members ended</h3>{_endings(opened)}{_system(opened)}<h2>Pictures</h2>"
    body += "".join(_output(section, folder) for section in sections)
    for name, count in left_out.items():
        body += f'<p class="small">{html.escape(name)}: {count} more components are in the store, without pictures.</p>'
    plan = html.escape(json.dumps(opened.plan, indent=2))
    body += f'<details class="screen"><summary>The study in full, in SI units</summary><pre>{plan}</pre></details>'
    return cover.page(head, body, _STYLE)


def _system(opened: Opened) -> str:
    """The system that the study varies, as its scenario has it, and how accurate its members are."""
    case = Case.from_dict(opened.plan["scenario"])
    usable = {name: opened.dataset[name].values[opened.usable] for name in ("steps", *HEALTH)}
    accuracy = cover.accuracy({"order": case.run.order, "scheme": case.run.scheme, **usable}, case)
    system = cover.system(case, varied=opened.plan["places"].values())
    return f"{system}<h2>Model and accuracy, least and greatest of all members</h2>{accuracy}"


def _verdict(opened: Opened) -> str:
    """How many members have a result, and how the others ended; never better than their warnings."""
    status, used = opened.dataset.status.values, int(opened.usable.sum())
    if used == opened.members:
        warned = counted(opened.dataset).members
        if warned:
            return cover.verdict("unsure", f"All {used} members have a result, {warned} of them with warnings.")
        return cover.verdict("yes", f"All {used} members have a result.")
    others = {name: int(np.sum((status == code) & ~opened.usable)) for code, name in work.STATUS_NAMES.items()}
    listed = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in others.items() if count)
    return cover.verdict("no", f"{used} of {opened.members} members have a result; {listed}.")


def _found(opened: Opened, sections: list[Section]) -> str:
    """Range of every output, and the parameter that it depends on the most."""
    rows = []
    for section in sections:
        component, strongest = section.component, section.strongest
        label, units = html.escape(component.label), html.escape(unit_text(component.units))
        cells = ["over time, below", "", ""]
        if component.output not in opened.series:
            y = opened.values(component)
            there = y[np.isfinite(y)]
            found = (there.min(), np.median(there), there.max()) if len(there) else ()
            size, units = prefixed(float(np.abs(there).max()) if len(there) else 0.0, units)
            cells = [number(float(x) / size) for x in found] or ["none", "", ""]
        most = f"{strongest.key} ({strongest.words})" if strongest else ""
        rows.append((f'<a href="#{label}">{label}</a>{f" ({units})" if units else ""}', *cells, html.escape(most)))
    return pages.table_of_html(("output", "least", "median", "largest", "depends most on"), rows)


def _facts(opened: Opened) -> str:
    kind, settings = opened.design
    listed = ", ".join(f"{name} {x}" for name, x in settings.items())
    size = " by ".join(str(n) for n in opened.shape)
    members = f"{opened.members}" + (f" ({size})" if len(opened.shape) > 1 else "")
    used = int(opened.usable.sum())
    rows = [
        ("design", _DESIGNS[kind] + (f"; {listed}" if listed else "")),
        ("members", members),
        ("with a result", f"{used} ({100 * used / opened.members:.3g} %)"),
    ]
    return pages.table((), rows)


def _parameters(opened: Opened) -> str:
    plan = opened.plan
    rows = [(key, _described(plan["vary"][key], unit_text(plan["units"][key]))) for key in opened.keys]
    return pages.table(("key of the scenario", "values"), rows)


def _described(varied: dict[str, Any], unit: str) -> str:
    if "values" in varied:
        shown = [in_words(x, unit) for x in varied["values"]]
        return ", ".join(shown[:LISTED]) + (f" ... ({len(shown)} values)" if len(shown) > LISTED else "")
    if "sha256" in varied:
        return "from the table"
    numbers = ", ".join(f"{name} {value(x, unit, 6)}" for name, x in varied.items() if isinstance(x, (int, float)))
    scale = ", logarithmic" if varied.get("scale") == "log" else ""
    return f"{varied['distribution']}: {numbers}{scale}"


def _endings(opened: Opened) -> str:
    """Counts by status, and the first messages of those that ended early or failed."""
    status = opened.dataset.status.values.ravel()
    rows = []
    for code, name in work.STATUS_NAMES.items():
        members = np.flatnonzero(status == code)
        if not len(members):
            continue
        rows.append(
            (name.replace("_", " "), str(len(members)), "" if name == "completed" else _messages(opened, members))
        )
    return pages.table(("ending", "members", "for example"), rows)


def _warnings(opened: Opened) -> str:
    """Number of members with warnings, and how many there are of each kind."""
    found = counted(opened.dataset)
    if not found.members:
        return "<p>No member has a warning.</p>"
    items = "".join(f"<li>{html.escape(str(x))}</li>" for x in found.kinds)
    return (
        f'<div class="note">{found.members} of {opened.members} members have warnings '
        f"(<code>warnings</code> in the store):<ul>{items}</ul></div>"
    )


def _messages(opened: Opened, members: Any) -> str:
    return " ‖ ".join(
        f"{', '.join(f'{key} = {_short(x)}' for key, x in values.items())}: {message}"
        for values, message in opened.messages(members[:MESSAGES])
        if message
    )


def _short(x: Any) -> str:
    return f"{x:.4g}" if isinstance(x, float) else str(x)


def _output(section: Section, folder: Path) -> str:
    label = html.escape(section.component.label)
    pictures = "".join(pages.figure(folder / f"{name}.png", caption) for name, caption in section.pictures)
    notes = "".join(f"<p>{html.escape(text)}</p>" for text in section.notes)
    words = html.escape(section.component.long_name)
    return f'<h3 id="{label}">{label}</h3><p class="small">{words}</p>{notes}<div class="panels">{pictures}</div>'
