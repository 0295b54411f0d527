"""Public names, each with its home."""

from tautline.analysis.bending import bending_cycles as bending_cycles
from tautline.analysis.expressions import evaluate as evaluate
from tautline.analysis.fatigue import damage as damage
from tautline.analysis.fatigue import rainflow as rainflow
from tautline.analysis.loads import motor_energy as motor_energy
from tautline.analysis.loads import slack_events as slack_events
from tautline.analysis.loads import utilization as utilization
from tautline.analysis.modes import displaced as displaced
from tautline.analysis.neighbors import lyapunov as lyapunov
from tautline.analysis.predictability import predictability_time as predictability_time
from tautline.analysis.spectra import exceedance as exceedance
from tautline.analysis.spectra import spectrum as spectrum
from tautline.ledger import kept_energy as kept_energy
from tautline.results.conservation import balance_error as balance_error
from tautline.results.conservation import conservation as conservation
