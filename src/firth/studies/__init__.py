"""Studies that anyone can repeat: `firth study NAME` writes a table, a picture and all values as JSON."""
