"""Where a library's functions lie, how hot they are, and whether that is what layouts/ asks for."""
