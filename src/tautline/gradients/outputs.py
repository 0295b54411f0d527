"""Variables of results with their derivatives, from samples and theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tautline.arrays import Array
from tautline.engine.samples import record_of_samples
from tautline.errors import InputError
from tautline.gradients.arrays import Carried
from tautline.gradients.assembly.marching import AssemblySetting
from tautline.gradients.leaves import leaves, with_leaves
from tautline.gradients.marching import Setting
from tautline.kernels import data
from tautline.model import checks
from tautline.model.assembly.case import AssemblyCase
from tautline.model.case import Case
from tautline.model.command import Command, Locked, PrescribedMotion
from tautline.model.pendulum import Pendulum, Weights
from tautline.model.string import String
from tautline.model.wording import near
from tautline.results.values import values_of
from tautline.schema import ASSEMBLY_SCHEMA, SCHEMA, Variable

T = TypeVar("T")


class CarriedValues(dict[str, Carried]):
    """Variables by name; a sentence where there is none of a name."""

    def __missing__(self, name: object) -> Carried:
        known = near(name, self) if isinstance(name, str) else ""
        raise InputError(f"objective: expected a variable of the run, got {name!r}{known}; there are {', '.join(self)}")


class _String(String):
    """A string whose numbers carry derivatives."""

    _table: tuple[Any, Any]

    def pieces(self) -> tuple[Any, Any]:
        """Tension of a table, from the energy's coefficients that the kernels have."""
        return self._table


class _Pendulum(Pendulum):
    """A pendulum whose numbers carry derivatives."""

    _weight: Any

    def weights(self) -> Weights:
        """The weight of the string, which alone is asked for."""
        return Weights(self._weight, np.nan, (np.nan, np.nan, np.nan))


def carried_setting(setting: Setting | AssemblySetting, tangents: list[Array]) -> Any:
    """A setting whose numbers carry derivatives; all are copies, so that it stays while the setting is marched on."""
    return with_leaves(
        setting, [Carried(np.copy(x), np.copy(t)) for x, t in zip(leaves(setting), tangents, strict=True)]
    )


def carried_pendulum(pendulum: Pendulum, par: Any) -> Pendulum:
    """A pendulum with the numbers that results take from it in place of its own."""
    table = par.tension_table
    powers = np.arange(1.0, len(table) - 1.0)
    string = changed(
        _String,
        pendulum.string,
        length=par.L,
        stiffness=par.EA,
        viscosity=pendulum.string.viscosity and par.viscosity,
        _table=(table[0], table[2:] * powers[:, None]),
    )
    reel = changed(
        type(pendulum.reel),
        pendulum.reel,
        drum_radius=par.d,
        guide_length=par.b,
        layer_growth=par.growth,
        guide_position=par.r_p,
    )
    return changed(_Pendulum, pendulum, string=string, reel=reel, _weight=par.mu_g)


def changed(cls: type[T], thing: Any, **fields: Any) -> T:
    """A copy of a thing with other fields, which are not checked."""
    other = object.__new__(cls)
    vars(other).update(vars(thing), **fields)
    return other


def variables_of(case: Case | AssemblyCase) -> Mapping[str, Variable]:
    """Variables of the results of a case."""
    return ASSEMBLY_SCHEMA if isinstance(case, AssemblyCase) else SCHEMA


def check_names(names: str | Sequence[str], known: Mapping[str, Variable] | None = None) -> list[str]:
    """Names of variables, of a pendulum or an assembly where nothing is said of it."""
    known = SCHEMA | ASSEMBLY_SCHEMA if known is None else known
    wanted = checks.names("outputs", names)
    for name in wanted:
        if name not in known:
            raise InputError(f"outputs: expected variables of a result, got {name!r}{near(name, known)}")
    return wanted


def carried_values(
    pendulum: Pendulum, setting: Any, counts: Array, samples: Any, names: Sequence[str]
) -> CarriedValues:
    """Variables by name, and the time.

    Parameters
    ----------
    pendulum : Pendulum
    setting : Setting
        Carries derivatives, as at the start.
    counts : array
        Steps made before each sample.
    samples : Samples
        Carry derivatives.
    names : sequence of str
        The wanted variables.
    """
    times = setting.motion.reel[data.T_START] + counts * setting.plan.h
    record = record_of_samples(times, samples)
    found: Any = values_of(carried_pendulum(pendulum, setting.par), record, names)
    return CarriedValues({name: found[name] for name in ("time", *names)})


class Unknown(NamedTuple):
    """Why the derivatives of a variable are not known, and of which of its components."""

    why: str
    components: Any = Ellipsis


def unknown_outputs(pendulum: Pendulum, command: Command, elements: int) -> dict[str, Unknown]:
    """Variables whose derivatives are not known."""
    found: dict[str, Unknown] = {}
    if isinstance(command, Locked | PrescribedMotion):
        why = "torques that hold a lock or a prescribed motion are found afterwards, and carry no derivatives"
        found |= dict.fromkeys(("torque", "power"), Unknown(why))
    if elements == 1 and pendulum.fluid is not None and pendulum.fluid.surface is not None:
        why = "tensions at the ends of a single element at a free surface carry no derivatives"
        found |= dict.fromkeys(("guide_tension", "body_tension"), Unknown(why))
    return found


def forget_unknown(values: CarriedValues, unknown: Mapping[str, Unknown]) -> list[str]:
    """Make derivatives NaN that are not known, and say why."""
    there = [name for name in unknown if name in values]
    for name in there:
        tangent = values[name].tangent.copy()
        tangent[:, unknown[name].components] = np.nan
        values[name] = Carried(values[name].value, tangent)
    return [f"{name}: {unknown[name].why}" for name in there]
