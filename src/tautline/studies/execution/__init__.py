"""Members computed, in this process or in others."""
