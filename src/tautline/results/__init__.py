"""What a run delivers: schema, labelled values, summary, conservation."""
