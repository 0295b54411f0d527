"""How cases look to people: sketches with names, tables of inputs, cards of notebooks."""
