"""Scenario text, run files, exports."""
