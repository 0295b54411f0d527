"""The network backend: every system."""
