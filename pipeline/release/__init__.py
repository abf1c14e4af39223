"""Published versions: finding them, what is in them, checking and installing them."""
