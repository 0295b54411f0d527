"""Commands of the drum, one file each."""
