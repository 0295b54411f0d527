"""Derivatives of runs of any system."""
