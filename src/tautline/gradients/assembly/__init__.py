"""Derivatives of runs of assemblies."""
