"""Spectra of turbulence and their coherence, and fluctuations drawn from them (docs/theory.md, (107) to (110))."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.model.spectra import PLACES_A_BAND, uniform

# Standard deviations along, across and vertically over the first one, and length scales likewise (IEC 61400-1, B.14).
DEVIATIONS = (1.0, 0.8, 0.5)
KAIMAL_LENGTHS = (1.0, 2.7 / 8.1, 0.66 / 8.1)
# Lowest reduced frequency f L/U: 0.4 % of the variance of Kaimal's spectrum is below.
LOWEST = 1e-3
# Of the exponent of the coherence, the part that separation has at frequency 0 (IEC 61400-1, B.16).
AT_REST = 0.12
# Relative to the diagonal, so that levels at one place leave a Cholesky factor.
DISTINCT = 1e-12


def kaimal(n: Array, axis: int) -> Array:
    """S U/(sigma^2 L) over the reduced frequency n = f L/U, of a component with its own sigma and L (107)."""
    del axis
    found: Array = 4.0 / (1.0 + 6.0 * n) ** (5.0 / 3.0)
    return found


def von_karman(n: Array, axis: int) -> Array:
    """The isotropic spectrum, along the mean flow (axis 0) and across it (108)."""
    if axis == 0:
        along: Array = 4.0 / (1.0 + 70.8 * n**2) ** (5.0 / 6.0)
        return along
    across: Array = 4.0 * (1.0 + 755.2 * n**2) / (1.0 + 283.2 * n**2) ** (11.0 / 6.0)
    return across


class Spectrum(NamedTuple):
    """A spectrum, and standard deviations and length scales of its components over those along the mean flow."""

    density: Callable[[Array, int], Array]
    deviations: tuple[float, float, float]
    lengths: tuple[float, float, float]


# Von Karman's is isotropic: all components have one deviation, and those across half the integral length.
SPECTRA = {
    "kaimal": Spectrum(kaimal, DEVIATIONS, KAIMAL_LENGTHS),
    "von_karman": Spectrum(von_karman, (1.0, 1.0, 1.0), (1.0, 0.5, 0.5)),
}


def coherence(frequency: Array, separation: Array, speed: float, length: float, decay: float) -> Array:
    """exp(-decay sqrt((f r/U)^2 + (0.12 r/L)^2)): cross spectrum over spectrum (109)."""
    reduced = np.multiply.outer(frequency / speed, separation)
    found: Array = np.exp(-decay * np.sqrt(reduced**2 + (AT_REST * separation / length) ** 2))
    return found


class Fluctuations(NamedTuple):
    """Sums of sines at some levels: along, across and down in a frame of the mean flow."""

    omega: Array  # (axis, term)
    cosines: Array  # (axis, term, level)
    sines: Array

    def at(self, times: Array) -> Array:
        """Velocities (time, level, axis)."""
        found = []
        for w, c, s in zip(self.omega, self.cosines, self.sines, strict=True):
            angles = np.multiply.outer(times, w)
            found.append(np.cos(angles) @ c + np.sin(angles) @ s)
        return np.stack(found, axis=-1)


def fluctuations(
    spectrum: Spectrum,
    speed: float,
    deviation: float,
    length: float,
    highest: float,
    levels: Array,
    decay: float,
    components: int,
    seed: int,
) -> Fluctuations:
    """Sines of a spectrum at levels, coherent over their separation (equation 110).

    Frequencies up to `highest` (Hz) are divided into bands of equal ratio. In each band a sine has the band's variance;
    its frequency is drawn from the spectrum within the band, and one phase for each level, which a Cholesky factor of
    the coherence mixes.
    """
    bits = uniform(seed, 3 * components * (1 + len(levels))).reshape(3, components, 1 + len(levels))
    apart = np.abs(np.subtract.outer(levels, levels))
    omega, cosines, sines = [], [], []
    for axis in range(3):
        sigma, L = deviation * spectrum.deviations[axis], length * spectrum.lengths[axis]
        edges = np.geomspace(LOWEST * L / length, highest * L / speed, components * PLACES_A_BAND + 1)
        middles = 0.5 * (edges[1:] + edges[:-1])
        total = np.concatenate([[0.0], np.cumsum(spectrum.density(middles, axis) * np.diff(edges))])
        of_bands = total[::PLACES_A_BAND]
        own = np.diff(of_bands)
        f = np.interp(of_bands[:-1] + bits[axis, :, 0] * own, total, edges) * speed / L
        mixed = coherence(f, apart.ravel(), speed, length, decay).reshape(components, *apart.shape)
        factor = np.linalg.cholesky(mixed + DISTINCT * np.eye(len(levels)))
        turns = np.exp(2.0j * np.pi * bits[axis, :, 1:])
        amplitudes = sigma * np.sqrt(2.0 * own)[:, None] * np.einsum("fij,fj->fi", factor, turns)
        omega.append(2.0 * np.pi * f)
        cosines.append(amplitudes.real)
        sines.append(-amplitudes.imag)
    return Fluctuations(np.stack(omega), np.stack(cosines), np.stack(sines))
