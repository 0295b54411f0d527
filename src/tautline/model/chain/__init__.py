"""Systems that the chain kernels run: one line from a fixed or moving point to one free body."""
