"""The system, its state and its case."""
