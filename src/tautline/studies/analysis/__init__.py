"""Analysis of an opened study: sensitivity, uncertainty, summary, warnings."""
