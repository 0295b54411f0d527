"""Optimal control: values of keys that make an output of a run least within limits, by direct multiple shooting."""
