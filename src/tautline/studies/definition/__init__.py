"""What is varied, how, and what is kept."""
