"""Keys of a scenario file by the names that the model gives to its arguments."""

from __future__ import annotations

from pydantic import BaseModel

# Sections by the classes of the model.
_SECTIONS = {
    "String": "string",
    "Reel": "reel",
    "RigidBody": "body",
    "Fluid": "fluid",
    "AppliedForce": "applied_force",
    "GuidePath": "guide",
    "State": "initial",
    **dict.fromkeys(("Torque", "Brake", "Length", "Speed", "Impedance"), "command"),
}
# Where the name of an argument is not the name of the key.
_OTHERS = {
    "Pendulum.gravity": ["gravity"],
    "Reel.guide_path": ["guide"],
    "String.tension_table[0] (strains)": ["string", "strains"],
    "String.tension_table[1] (tensions)": ["string", "tensions"],
    "Fluid.flow[0] (depths)": ["fluid", "depths"],
    "Fluid.flow[1]": ["fluid", "flows"],
    "AppliedForce.force[0] (times)": ["applied_force", "times"],
    "AppliedForce.force[1]": ["applied_force", "forces"],
    "AppliedForce.moment[0] (times)": ["applied_force", "times"],
    "AppliedForce.moment[1]": ["applied_force", "moments"],
    "GuidePath.velocities[0]": ["guide", "start_velocity"],
    "GuidePath.velocities[1]": ["guide", "end_velocity"],
    "Torque.moment[0] (times)": ["command", "times"],
    "Torque.moment[1] (values)": ["command", "moments"],
    "Brake.moment[0] (times)": ["command", "times"],
    "Brake.moment[1] (values)": ["command", "moments"],
    "Length.table[0] (times)": ["command", "times"],
    "Length.table[1] (values)": ["command", "lengths"],
    "Length.velocities[0]": ["command", "start_velocity"],
    "Length.velocities[1]": ["command", "end_velocity"],
    "Speed.payout[0] (times)": ["command", "times"],
    "Speed.payout[1] (values)": ["command", "payouts"],
    "Speed.retrieval[0] (times)": ["command", "times"],
    "Speed.retrieval[1] (values)": ["command", "retrievals"],
}


def key_of(name: str, scenario: BaseModel, section: str) -> list[str]:
    """GuidePath of the key that an argument of the model was read from; as far as it is known.

    Parameters
    ----------
    name : str
        As errors of the model begin: "Reel.drum_radius", "deployed", "State.nodes[0]".
    scenario : Scenario
        The scenario that was read.
    section : str
        Where to look for a name without a class.
    """
    if name in _OTHERS:
        return _OTHERS[name]
    owner, _, rest = name.rpartition(".")
    plain = (rest or name).partition("[")[0]
    place = _SECTIONS.get(owner or name, section)
    for candidate in (place, "run"):  # settings of a run are asked for wherever things are put together
        fields = type(getattr(scenario, candidate)).model_fields
        if plain in fields:
            values = getattr(scenario, candidate)
            of_inertia = plain == "inertia_mass" and getattr(values, "inertia", None) is not None
            return [candidate, "inertia" if of_inertia else plain]
    return [place]
