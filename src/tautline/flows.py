"""Flows over time that are added to the steady flow of a `tl.Fluid`: tables, gusts, turbulence, waves."""

from __future__ import annotations

from tautline.model.flows import FlowTable, Gust, Turbulence
from tautline.model.wave_flow import WaveFlow

__all__ = ["FlowTable", "Gust", "Turbulence", "WaveFlow"]
