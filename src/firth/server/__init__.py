"""The server: models over HTTP. `firth serve` starts it.

`batching.py` runs concurrent requests together, `work.py` says what is computed, `served.py` holds the models,
`service.py` joins requests and models, `application.py` has the addresses, and `guard.py` stands in front of them.
"""
