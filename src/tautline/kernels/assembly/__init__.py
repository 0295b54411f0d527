"""Kernels of assemblies: several rigid bodies, strings between them, and reels on bodies or fixed in space."""
