"""Objects that the user builds: frozen, validated, in SI units."""
