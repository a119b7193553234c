"""How a call is sent: shared by both clients, which differ only in how they wait."""

from __future__ import annotations

import random
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx

from .calls import Request
from .errors import AlmanackError, Refused, Unexpected, Unreachable

T = TypeVar("T")
#: A node gives up after 30 s by itself.
ANSWER_WITHIN_S = 35.0
CONNECT_WITHIN_S = 5.0
#: Tries of a call that may be repeated.
TRIES_MAX = 4
WAIT_FIRST_S = 0.2
#: A node that asks for more has to be asked again by the caller.
WAIT_MAX_S = 5.0


def backoff(tries: int) -> float:
    """How long to wait after so many tries: between half and all of what doubles each time."""
    most = min(WAIT_FIRST_S * float(1 << min(tries - 1, 10)), WAIT_MAX_S)
    return most * random.uniform(0.5, 1)


def settings(address: str, token: str | None, timeout: float) -> dict[str, Any]:
    """Arguments of an httpx client."""
    url = urlsplit(address)
    if url.scheme not in ("http", "https") or not url.hostname or url.username or url.password:
        # What is refused may contain a password.
        raise ValueError("not the address of a node; write scheme, host and port: https://almanack.example.org")
    headers = {"Authorization": f"Bearer {token.strip()}"} if token else {}
    waits = httpx.Timeout(timeout, connect=CONNECT_WITHIN_S)
    limits = httpx.Limits(max_connections=100)
    return {"base_url": address.rstrip("/"), "headers": headers, "timeout": waits, "limits": limits}


def prepared(client: httpx.Client | httpx.AsyncClient, request: Request[Any]) -> httpx.Request:
    """The request as httpx sends it."""
    content = request.content()
    headers = ({"Content-Type": "application/json"} if content else {}) | request.headers
    query = {name: written(it) for name, it in request.query.items() if it is not None}
    if request.timeout is None:
        return client.build_request(request.method, request.path, params=query, headers=headers, content=content)
    waits = httpx.Timeout(request.timeout, connect=CONNECT_WITHIN_S)
    return client.build_request(
        request.method, request.path, params=query, headers=headers, content=content, timeout=waits
    )


def written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def answer(request: Request[T], response: httpx.Response) -> T:
    """What the answer says, or why there is none."""
    try:
        data = response.json()
    except ValueError:
        raise Unexpected(response.status_code) from None
    if response.is_success:
        try:
            return request.read(data)
        except (KeyError, TypeError, ValueError) as error:
            raise Unexpected(response.status_code) from error
    if isinstance(data, dict) and isinstance(data.get("code"), str):
        raise Refused({"status": response.status_code, **data})
    raise Unexpected(response.status_code)


def unreachable(error: httpx.HTTPError) -> Unreachable:
    """Names the failure, never the address with its query."""
    return Unreachable(f"no answer from the node: {type(error).__name__}")


def next_wait(request: Request[Any], tries: int, error: AlmanackError, response: httpx.Response | None) -> float | None:
    """How long to wait before the next try; nothing, if there is none."""
    if not request.repeat or not error.transient or tries >= TRIES_MAX:
        return None
    asked = response.headers.get("retry-after", "") if response is not None else ""
    wait = float(asked) if asked.isdigit() else backoff(tries)
    return wait if wait <= WAIT_MAX_S else None
