"""What a run delivers: schema, labeled values, summary, conservation."""
