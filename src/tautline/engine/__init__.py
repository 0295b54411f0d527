"""From a described system to numbers and back: lowering, Simulation, ensembles, checkpoints."""
