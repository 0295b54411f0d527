"""What an opened study says."""
