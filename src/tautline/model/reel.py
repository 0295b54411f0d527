"""The reel: drum and guide way."""

from __future__ import annotations

from dataclasses import dataclass

from tautline.kernels.data import LAW_DISSIPATIVE, LAW_MOMENTUM, LAW_NONE, LAW_PUBLISHED, LAW_STRETCHED
from tautline.model import checks
from tautline.model.path import Path

GUIDE_LAWS = {
    "dissipative": LAW_DISSIPATIVE,
    "published": LAW_PUBLISHED,
    "momentum": LAW_MOMENTUM,
    "stretched": LAW_STRETCHED,
    "none": LAW_NONE,
}
GUIDE_STRAINS = ("mean", "extrapolated")


@dataclass(frozen=True)
class Reel:
    """A drum with a guide way whose entrance stands still, or moves as prescribed.

    Parameters
    ----------
    drum_radius : float
        d (m).
    guide_length : float
        Length b of the string between drum and guide entrance (m).
    inertia_mass : float
        Moment of inertia of the drum divided by drum_radius**2, kappa_d (kg).
    guide_position : three floats
        Position r_p of the guide entrance (m); the third axis points down.
    guide_law : {"dissipative", "published", "momentum", "stretched", "none"}
        What becomes of the energy where the string enters or leaves the guide. "dissipative" never creates energy;
        "published" is the paper's formula, right for retrieval, but in deployment it adds energy; "momentum" keeps
        the momentum along the string, which loses energy in deployment and adds it in retrieval; "stretched" lets the
        drum keep the string as strained as it came in and return it so; "none" is the conservative limit.
    smoothing_speed : float
        Reel speed sigma_0 below which the laws "dissipative" and "stretched" fade to zero (m/s).
    guide_strain : {"mean", "extrapolated"}
        The strain just outside the guide: that of the first element, as in the paper, or extrapolated from the
        first two, of second order in the number of elements. A single element has only its own.
    wound_strain : float
        Strain of all string that is wound at the start; for the law "stretched" only.
    guide_path : Path, optional
        Where the guide entrance goes, from guide_position; nodes and their velocities are relative to it.
    """

    drum_radius: float
    guide_length: float
    inertia_mass: float
    guide_position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    guide_law: str = "dissipative"
    smoothing_speed: float = 1e-3
    guide_strain: str = "mean"
    wound_strain: float = 0.0
    guide_path: Path | None = None

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "drum_radius", checks.positive("Reel.drum_radius", self.drum_radius, "m"))
        set_(self, "guide_length", checks.non_negative("Reel.guide_length", self.guide_length, "m"))
        set_(self, "inertia_mass", checks.positive("Reel.inertia_mass", self.inertia_mass, "kg"))
        set_(self, "guide_position", checks.vector("Reel.guide_position", self.guide_position, "m"))
        checks.choice("Reel.guide_law", self.guide_law, GUIDE_LAWS)
        speed = checks.positive("Reel.smoothing_speed", self.smoothing_speed, "m/s")
        set_(self, "smoothing_speed", speed)
        checks.choice("Reel.guide_strain", self.guide_strain, GUIDE_STRAINS)
        strain = checks.number("Reel.wound_strain", self.wound_strain)
        if strain <= -1.0:
            checks.refuse("Reel.wound_strain", "a finite number above -1", self.wound_strain)
        if strain != 0.0 and self.guide_law != "stretched":
            checks.refuse("Reel.wound_strain", "0 unless guide_law is 'stretched'", self.wound_strain)
        set_(self, "wound_strain", strain)
        if self.guide_path is not None:
            checks.instance("Reel.guide_path", self.guide_path, Path)
