"""What is repeated while a node is away, and what is not; against a node that answers as the test wants."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from almanack import ClaimedTask, Client, Put, Refused, Worker

NOW = datetime(2026, 1, 5, 8, tzinfo=timezone.utc)
AWAY = 503, {"status": 503, "code": "busy", "detail": "try again", "title": "Busy"}
RECEIPT = 201, {
    "receipt": "1.0", "rule": "created", "kind": "K", "subject": "s", "task_id": 1,
    "execute_at": "2026-01-05T08:00:00Z", "revision": 0, "said_by_a_newer_node": True,
}  # fmt: skip
Answer = tuple[int, dict[str, Any]]


class Node:
    def __init__(self, answer: Callable[[str, Any], Answer]) -> None:
        self.asked: list[tuple[str, Any, str | None]] = []
        node = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or "null")
                node.asked.append((self.path, body, self.headers.get("idempotency-key")))
                status, data = answer(self.path, body)
                content = json.dumps(data).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_PUT = do_DELETE = do_GET = do_POST

            def log_message(self, format: str, *arguments: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.client = Client(f"http://127.0.0.1:{self.server.server_port}", token="alm_secret")


@pytest.fixture
def node_of() -> Iterator[Callable[[Callable[[str, Any], Answer]], Node]]:
    started: list[Node] = []

    def start(answer: Callable[[str, Any], Answer]) -> Node:
        started.append(Node(answer))
        return started[-1]

    yield start
    for node in started:
        node.server.shutdown()


def in_turn(*answers: Answer) -> Callable[[str, Any], Answer]:
    left = list(answers)
    return lambda path, body: left.pop(0) if len(left) > 1 else left[0]


def test_a_change_is_repeated_under_one_key_until_the_node_is_back(node_of: Callable[..., Node]) -> None:
    node = node_of(in_turn(AWAY, AWAY, RECEIPT))
    assert node.client.put("K", "a/b c", NOW).rule == "created"
    assert [path for path, _, _ in node.asked] == ["/api/v1/tasks/K/a%2Fb%20c"] * 3
    keys = {key for _, _, key in node.asked}
    assert len(keys) == 1 and None not in keys


def test_what_would_take_effect_twice_is_tried_once(node_of: Callable[..., Node]) -> None:
    node = node_of(in_turn(AWAY))
    with pytest.raises(Refused):
        node.client.fire_schedule("nightly")
    with pytest.raises(Refused):
        node.client.batch([Put("K", "s", NOW)])
    assert len(node.asked) == 2
    with pytest.raises(Refused) as refused:
        node.client.batch([Put("K", "s", NOW)], key="mine")
    assert len(node.asked) == 6
    assert "alm_secret" not in f"{refused.value!r} {node.client!r}"


def test_wk_08_a_worker_waits_for_the_node_and_drops_no_ending(node_of: Callable[..., Node]) -> None:
    task = {
        "task_id": 7, "term": 1, "kind": "MAIL_SEND", "subject": "user:9", "attempt": 1, "max_retry": 3,
        "execute_at": "2026-01-05T08:00:00Z", "payload": None, "revision": 1, "lease_until": "2026-01-05T08:01:00Z",
    }  # fmt: skip
    claims = in_turn(AWAY, (200, {"tasks": [task]}), (200, {"tasks": []}))
    done = (200, {"tasks": [{"task_id": 7, "term": 1, "result": "applied"}]})
    # More often than one call is repeated.
    finishes = in_turn(*[AWAY] * 5, done)

    def answer(path: str, body: Any) -> Answer:
        if path.endswith("/claim"):
            return claims(path, body)
        answered = finishes(path, body)
        if answered is done:
            worker.stop()
        return answered

    node = node_of(answer)
    worker = Worker(node.client)

    @worker.handle("MAIL_SEND")
    def handle(task: ClaimedTask) -> str:
        return "250 OK"

    worker.run()
    reports = [body["tasks"] for path, body, _ in node.asked if path.endswith("/finish")]
    assert reports == [[{"task_id": 7, "term": 1, "outcome": "done", "detail": "250 OK"}]] * 6
    assert not any(path.endswith("/release") for path, _, _ in node.asked)
