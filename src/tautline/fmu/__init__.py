"""Functional mock-up units: a case as a co-simulation slave of other programs (FMI 2.0 and 3.0)."""
