"""What can be said about a finished run: a Dataset in, numbers out."""
