"""Assemblies: several bodies, strings between them, reels on any of them, uniform gravity or an orbit."""
