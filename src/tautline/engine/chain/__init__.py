"""The chain backend: one line and one body, alone, in lanes and in families."""
