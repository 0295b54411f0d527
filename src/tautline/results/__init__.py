"""Results of a run: schema, labeled values, summary, conservation."""
