"""Alerts in a web service: a `Matcher` in an ASGI app. Any ASGI server runs `alerts:app`.

POST /alerts  {"id": "bargain", "filter": "price < 10"}    201, or 400 with what is wrong
POST /events  {"title": "Dune", "price": 8.5}              200 {"alerts": ["bargain"]}
"""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

import boolcast
from boolcast.model.events import Event

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
JSON = [(b"content-type", b"application/json")]
NO_ALERT = (msgspec.MsgspecError, UnicodeError, RecursionError)  # from msgspec.json.decode
matcher = boolcast.Matcher()


class Alert(msgspec.Struct):
    """What POST /alerts takes."""

    id: str
    filter: str


async def app(scope: Message, receive: Receive, send: Send) -> None:
    """Answer one request; at start-up, compile before the first one arrives."""
    if scope["type"] == "lifespan":
        while (await receive())["type"] == "lifespan.startup":
            matcher.warm_up()
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})
        return
    status, answer = handle(f"{scope['method']} {scope['path']}", await body_of(receive))
    await send({"type": "http.response.start", "status": status, "headers": JSON})
    await send({"type": "http.response.body", "body": msgspec.json.encode(answer)})


async def body_of(receive: Receive) -> bytes:
    """All chunks of the request's body."""
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    return body


def handle(request: str, body: bytes) -> tuple[int, Message]:
    """The status and the answer to a request."""
    try:
        if request == "POST /alerts":
            alert = msgspec.json.decode(body, type=Alert)
            matcher.add(alert.id, alert.filter)
            return 201, {"id": alert.id}
        if request == "POST /events":
            return 200, {"alerts": sorted(matcher.match(Event.from_json(body)))}
    except (boolcast.errors.BoolcastError, *NO_ALERT) as error:
        return 400, {"error": str(error)}
    return 404, {"error": f"no {request}"}


if __name__ == "__main__":
    for request, body in [
        ("POST /alerts", b'{"id": "bargain", "filter": "price < 10"}'),
        ("POST /alerts", b'{"id": "typo", "filter": "price betwen 5 and 10"}'),
        ("POST /events", b'{"title": "Dune", "price": 8.5}'),
    ]:
        print(request, body.decode(), *handle(request, body)[1].values(), sep="\n  ")
