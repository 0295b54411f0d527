"""Derivatives of runs of chains, by kernels of their own: an accelerator of what gradients/network does."""
