"""States of rest: forces, stiffness, and the search for them."""
