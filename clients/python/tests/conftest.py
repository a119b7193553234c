"""One node for all tests: `dev/clients` starts it and names it in ALMANACK_TEST_URL."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest

from almanack import Client

T = TypeVar("T")
DEADLINE_S = 60


@pytest.fixture(scope="session")
def url() -> str:
    address = os.environ.get("ALMANACK_TEST_URL")
    assert address, "run dev/clients, or set ALMANACK_TEST_URL to a node started as it does"
    return address


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    with Client(url) as client:
        yield client


@pytest.fixture
def subject(request: pytest.FixtureRequest) -> str:
    """A subject that no other test, and no earlier run, has."""
    return f"{request.node.name}:{time.time_ns()}"


def eventually(look: Callable[[], T | None], within_s: float = DEADLINE_S) -> T:
    """Waits until something is found."""
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        if (found := look()) is not None:
            return found
        time.sleep(0.02)
    raise AssertionError(f"did not happen within {within_s} s")
