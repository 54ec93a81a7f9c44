"""Work on a Ray cluster. Only this package imports Ray; recipes see a `Runtime` whose tasks run elsewhere."""
