"""Installing data sets from folders, archives, packages and addresses."""
