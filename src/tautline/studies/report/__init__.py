"""Pictures of a study, and the page around them."""
