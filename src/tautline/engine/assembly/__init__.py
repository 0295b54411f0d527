"""Assemblies in motion."""
