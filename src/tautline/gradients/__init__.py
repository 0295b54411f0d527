"""Exact derivatives of runs by parameters, initial states and controls."""
