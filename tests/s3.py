"""An S3 on this machine: moto's, made atomic, with faults on demand.

moto looks for a name and puts it in two steps, and its server has a thread for each request: of
several conditional writes at once more than one may succeed. Here they take turns.
"""

from collections import deque
from collections.abc import Callable, Iterable
from itertools import count
from socket import SHUT_RDWR
from threading import Lock, Thread
from typing import Any
from urllib.request import Request, urlopen

from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from werkzeug.serving import make_server

Environment = dict[str, Any]
Application = Callable[[Environment, Callable[..., Any]], Iterable[bytes]]
Fault = Callable[[Application, Environment, Callable[..., Any]], Iterable[bytes]]


def lose_answer(serve: Application, environment: Environment, start: Callable[..., Any]) -> Any:
    """Do what is asked and break the connection."""
    list(serve(environment, lambda *_: None))
    environment["werkzeug.socket"].shutdown(SHUT_RDWR)
    raise ConnectionResetError


def refuse(status: str, code: str) -> Fault:
    """Do nothing and answer with an error of S3."""

    def fault(serve: Application, environment: Environment, start: Callable[..., Any]) -> Any:
        environment["wsgi.input"].read(int(environment["CONTENT_LENGTH"]))
        start(status, [("Content-Type", "application/xml")])
        return [f"<Error><Code>{code}</Code><Message>on purpose</Message></Error>".encode()]

    return fault


def ignore_condition(
    serve: Application, environment: Environment, start: Callable[..., Any]
) -> Any:
    """Like a store that does not know conditional writes."""
    del environment["HTTP_IF_NONE_MATCH"]
    return serve(environment, start)


class _QuietHandler(MotoRequestHandler):
    def log_request(self, code: object = "-", size: object = "-") -> None:
        return


class S3Server:
    """Serves from the start to `stop`; `faults` befall the next conditional writes in turn."""

    def __init__(self, *, atomic: bool = True) -> None:
        self.faults: deque[Fault] = deque()
        self.requests: list[str] = []
        self._atomic = Lock() if atomic else None
        self._buckets = count()
        self._moto: Application = DomainDispatcherApplication(create_backend_app)
        self._server = make_server(
            "127.0.0.1", 0, self._serve, threaded=True, request_handler=_QuietHandler
        )
        self.url = f"http://127.0.0.1:{self._server.port}"
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def options(self) -> dict[str, Any]:
        """What fsspec needs to come here."""
        client = {"endpoint_url": self.url, "region_name": "us-east-1"}
        return {"key": "key", "secret": "secret", "client_kwargs": client}

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs in its environment to come here."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
        }

    def new_bucket(self, name: str | None = None) -> str:
        """The URL of an empty bucket."""
        name = name or f"bucket-{next(self._buckets)}-{self._server.port}"
        with urlopen(Request(f"{self.url}/{name}", method="PUT")):  # moto asks for no signature
            return f"s3://{name}"

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _serve(self, environment: Environment, start: Callable[..., Any]) -> Iterable[bytes]:
        self.requests.append(f"{environment['REQUEST_METHOD']} {environment['PATH_INFO']}")
        if "HTTP_IF_NONE_MATCH" not in environment or self._atomic is None:
            return self._moto(environment, start)
        with self._atomic:
            if self.faults:
                return self.faults.popleft()(self._moto, environment, start)
            return list(self._moto(environment, start))
