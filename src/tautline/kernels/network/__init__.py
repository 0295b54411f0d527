"""Networks: several bodies, lines between them, reels on any of them, uniform gravity or an orbit."""
