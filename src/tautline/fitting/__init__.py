"""Identification: values of a case that explain measured series, by least squares with derivatives of the runs."""
