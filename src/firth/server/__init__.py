"""The server: models over HTTP. `firth serve` starts it.

`batching.py` runs concurrent requests together, `work.py` says what is computed, `served.py` holds the models,
`service.py` joins requests and models, `application.py` has the addresses, `json_route.py` reads and writes bodies, and
`gate.py` stands in front of them.
"""
