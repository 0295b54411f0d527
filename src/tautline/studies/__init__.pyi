"""Public names, each with its home."""

from tautline.studies.analysis.sensitivity import sensitivity as sensitivity
from tautline.studies.analysis.uncertainty import bands as bands
from tautline.studies.analysis.uncertainty import quantiles as quantiles
from tautline.studies.execution.run import resume_study as resume_study
