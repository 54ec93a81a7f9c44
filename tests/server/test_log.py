from __future__ import annotations

import json
from datetime import datetime
from io import StringIO

from firth.server.log import EventLog


def test_an_event_is_a_line_of_json_with_its_time() -> None:
    stream = StringIO()
    log = EventLog(stream)
    log.write(event="request", status=200)
    log.write(event="reload", model="a\nb")
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert (first["event"], first["status"], second["model"]) == ("request", 200, "a\nb")
    assert datetime.fromisoformat(first["time"]).tzinfo is not None


def test_without_a_stream_nothing_is_written() -> None:
    EventLog().write(event="request")


def test_a_log_that_nobody_reads_any_more_stops_no_request() -> None:
    class Closed(StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    EventLog(Closed()).write(event="request")
