"""Texts and models at addresses such as s3://bucket/corpus.txt: streams, downloads and uploads, through fsspec."""
