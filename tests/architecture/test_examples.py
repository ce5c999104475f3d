"""What the programs in `examples/` do, beyond running to their end."""

import asyncio
import json
import runpy
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import pytest

from tests.architecture.tree import ROOT

EXAMPLES = ROOT / "examples"


class TestAlerts:
    """The ASGI app, driven by the messages that a server would send."""

    @pytest.fixture
    def app(self) -> dict[str, Any]:
        """The names of a freshly run module: every test has a matcher of its own."""
        return runpy.run_path(str(EXAMPLES / "alerts.py"))

    def exchange(
        self, app: dict[str, Any], scope: dict[str, Any], messages: Iterable[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Hand the messages to the app and return what it sent."""
        incoming, sent = iter(messages), []

        async def receive() -> dict[str, Any]:
            return next(incoming)

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        asyncio.run(app["app"](scope, receive, send))
        return sent

    def post(self, app: dict[str, Any], path: str, *chunks: bytes) -> tuple[int, Any]:
        """The status and the JSON answer of a request whose body comes in chunks."""
        scope = {"type": "http", "method": "POST", "path": path}
        messages = [
            {"type": "http.request", "body": chunk, "more_body": number < len(chunks)}
            for number, chunk in enumerate(chunks, 1)
        ]
        start, body = self.exchange(app, scope, messages)
        return start["status"], json.loads(body["body"])

    def test_an_event_sets_off_the_alerts_that_accept_it(self, app):
        for name, bound in [("cheap", 10), ("fair", 25)]:
            alert = json.dumps({"id": name, "filter": f"price < {bound}"}).encode()
            assert self.post(app, "/alerts", alert) == (201, {"id": name})
        assert self.post(app, "/events", b'{"price"', b": 8.5}") == (
            200,
            {"alerts": ["cheap", "fair"]},
        )
        assert self.post(app, "/events", b'{"price": 20}') == (200, {"alerts": ["fair"]})

    @pytest.mark.parametrize(
        ("path", "body", "reason"),
        [
            ("/alerts", b'{"id": "a", "filter": "price betwen 5"}', "did you mean `between`?"),
            ("/alerts", b'{"id": "a"}', "missing required field `filter`"),
            ("/alerts", b"{", "truncated"),
            ("/events", b'{"price": 1, "price.x": 2, "price": {"x": 3}}', "given twice"),
            ("/events", b"[1]", "event"),
            ("/alerts", b'{"id": "\xff"}', "can't decode byte 0xff"),
            ("/events", b'{"a": "\xff"}', "not valid UTF-8"),
            ("/alerts", b'{"a":' * 5_000, "recursion"),
            ("/events", b'{"a":' * 5_000, "nests deeper than 64 levels"),
        ],
    )
    def test_bad_input_is_answered_with_the_reason(self, app, path, body, reason):
        status, answer = self.post(app, path, body)
        assert status == 400
        assert reason in answer["error"]

    def test_other_paths_are_not_found(self, app):
        assert self.post(app, "/", b"")[0] == 404

    def test_the_matcher_is_warm_when_the_server_starts(self, app, monkeypatch):
        warmed = []
        monkeypatch.setattr(app["matcher"], "warm_up", lambda: warmed.append("once"))
        messages = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]
        sent = self.exchange(app, {"type": "lifespan"}, messages)
        assert warmed == ["once"]
        assert [message["type"] for message in sent] == [
            "lifespan.startup.complete",
            "lifespan.shutdown.complete",
        ]


def test_entitlements_show_what_a_request_asks_beyond_its_grant():
    run = subprocess.run(
        [sys.executable, EXAMPLES / "entitlements.py"], capture_output=True, text=True, check=True
    )
    answers = [block.splitlines()[1].strip() for block in run.stdout.strip().split("\n\n")]
    assert answers == [
        "allowed",
        "refused: it would show them {'region': 'FR', 'amount': 100000}",
        "refused: it would show them {'region': 'D', 'amount': 10}",
        "allowed",
    ]
