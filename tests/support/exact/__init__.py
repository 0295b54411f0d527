"""Solutions in closed form, or as converging sums, that runs are compared with; each with its derivation."""
