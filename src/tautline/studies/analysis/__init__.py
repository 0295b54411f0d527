"""Analysis of an opened study: sensitivity, uncertainty, summary, remarks."""
