"""Wave spectra, and waves of them: one sine for every band of frequencies (docs/theory.md, equations 93 to 95)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tautline.arrays import Array

# Lowest frequency over that of the peak, and the highest one if none is given. Of Pierson and Moskowitz' spectrum 6e-5
# of the energy and 0.9 % of the second moment, the mean square of the speed, are above, and 2e-9 of the energy below.
LOWEST, HIGHEST = 0.5, 12
# Widths of the peak, below and above it.
PEAK_WIDTHS = (0.07, 0.09)
# Places of a band at which the spectrum is looked at.
PLACES_A_BAND = 32


class Terms(NamedTuple):
    """Sines of waves: angular frequencies (rad/s), amplitudes (m) and phases (rad)."""

    omega: Array
    amplitudes: Array
    phases: Array


def density(x: Array, peakedness: float) -> Array:
    """Spectrum over frequency, in parts of the peak's, to a factor (equations 93 and 94)."""
    width = np.where(x <= 1.0, *PEAK_WIDTHS)
    enhanced = peakedness ** np.exp(-0.5 * ((x - 1.0) / width) ** 2)
    shape: Array = x**-5.0 * np.exp(-1.25 * x**-4.0) * enhanced
    return shape


def waves(height: float, peak_period: float, peakedness: float, components: int, seed: int, cutoff: int) -> Terms:
    """Waves whose variance is height^2/16 exactly (equation 95).

    The frequencies between LOWEST and the cutoff are divided into bands, each wider than the one before by the same
    factor. A sine takes all energy of its band; its frequency is drawn from the spectrum within the band, so that no
    common period exists, and its phase from a circle.
    """
    edges = np.geomspace(LOWEST, cutoff, components * PLACES_A_BAND + 1)
    middles = 0.5 * (edges[1:] + edges[:-1])
    total = np.concatenate([[0.0], np.cumsum(density(middles, peakedness) * np.diff(edges))])
    total /= total[-1]
    of_bands = total[::PLACES_A_BAND]
    places, turns = uniform(seed, 2 * components).reshape(2, components)
    x = np.interp(of_bands[:-1] + places * np.diff(of_bands), total, edges)
    variance = height**2 / 16.0 * np.diff(of_bands)
    return Terms(2.0 * np.pi / peak_period * x, np.sqrt(2.0 * variance), 2.0 * np.pi * turns)


def uniform(seed: int, count: int) -> Array:
    """Numbers from 0 to 1 out of the bits of PCG64, which are the same on every machine and in every NumPy."""
    bits = np.random.PCG64(seed).random_raw(count)
    return np.asarray((bits >> np.uint64(11)) * 2.0**-53, dtype=np.float64)
