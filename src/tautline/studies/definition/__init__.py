"""Definition of a study: what is varied, how, and what is kept."""
