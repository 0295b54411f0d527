"""Scenarios that are changed at random: `tautline check` answers every one of them, in time and without a traceback.

`python -m tests.mutations --count 5000` looks at so many; `--first 1234 --count 1` shows one again.
"""
