"""Reverse mode: adjoints of the steps, from the derivative of one number by samples to that by all parameters.

docs/theory.md, "Adjoint of a step". A name with `_bar` is the derivative of that number by what the name says.
"""
