"""Maps of words: a layout in the plane, its clusters, and the scatter plot that shows them."""
