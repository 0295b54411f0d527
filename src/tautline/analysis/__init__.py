"""Modes and Lyapunov exponents."""
