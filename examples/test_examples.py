"""Every example is run, against a node and the simulated outside of the binary under test.

`dev/clients` runs this, with ALMANACK_BIN and the installed packages.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import httpx
import pytest

HERE = Path(__file__).parent
BINARY = Path(os.environ["ALMANACK_BIN"])
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
DEADLINE_S = 60
T = TypeVar("T")


def free_address() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{taken.getsockname()[1]}"


def eventually(look: Callable[[], T | None]) -> T:
    until = time.monotonic() + DEADLINE_S
    while time.monotonic() < until:
        try:
            if (found := look()) is not None:
                return found
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    raise AssertionError(f"did not happen within {DEADLINE_S} s")


@contextmanager
def process(*command: str | Path, env: dict[str, str], cwd: Path) -> Iterator[subprocess.Popen[bytes]]:
    running = subprocess.Popen(command, env={**os.environ, **env}, cwd=cwd)
    try:
        yield running
    finally:
        running.terminate()
        running.wait(30)


@pytest.fixture(params=["sqlite", "postgres"])
def node(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A node that signs its calls."""
    database = os.environ["EXAMPLES_POSTGRES"] if request.param == "postgres" else "sqlite:almanack.db"
    listen, env = free_address(), {"ALMANACK_WEBHOOK_SECRET": SECRET}
    settings = ["outbound.allow=127.0.0.1", "callback.secret=env:ALMANACK_WEBHOOK_SECRET", "server.shutdown_delay=0s"]
    settings = [it for setting in settings for it in ("--set", setting)]
    with process(BINARY, "serve", "--database", database, "--listen", listen, *settings, env=env, cwd=tmp_path):
        eventually(lambda: httpx.get(f"http://{listen}/healthz").is_success or None)
        yield f"http://{listen}"


SERVICES = {
    "python": [sys.executable, HERE / "publish-python/service.py"],
    "rust": [Path(os.environ.get("EXAMPLE_PUBLISH_BIN", BINARY.parent / "example-publish"))],
    "typescript": ["node", "service.mjs"],
}


@pytest.mark.parametrize("language", SERVICES)
def test_wk_08_articles_are_published_at_their_time_and_once(language: str, node: str, tmp_path: Path) -> None:
    listen = free_address()
    env = {"LISTEN": listen, "ALMANACK_SERVER": node, "ALMANACK_WEBHOOK_SECRET": SECRET}
    # Where packages of Node are found; nothing is installed beside the sources.
    folder = Path(os.environ["EXAMPLES_NODE"]) if language == "typescript" else tmp_path
    if language == "typescript":
        shutil.copy(HERE / "publish-typescript/service.mjs", folder)
    with process(*SERVICES[language], env=env, cwd=folder), httpx.Client(base_url=f"http://{listen}") as service:
        number = time.time_ns()
        article = f"/articles/{number}"
        eventually(lambda: service.get(article).status_code == 404 or None)
        first = service.put(article, json={"publish_at": "2100-01-04T08:00:00Z"})
        assert first.json() == {"rule": "created"}, first.text
        assert service.get(article).json()["state"] == "WAITING"
        assert service.put(article, json={"publish_at": "2020-01-01T00:00:00Z"}).json() == {"rule": "updated"}

        def published() -> bool | None:
            return service.get(article).json()["state"] == "PUBLISHED" or None

        eventually(published)
        task = httpx.get(f"{node}/api/v1/tasks/ARTICLE_PUBLISH/article:{number}")
        eventually(lambda: httpx.get(task.url).json()["status"] == "SUCCESS" or None)
        # A call that is not Almanack's has no effect.
        assert service.post("/callbacks/publish", json={"subject": f"article:{number}"}).status_code == 401
        assert service.get(article).json()["published"] == 1


def run(example: str, **env: str) -> str:
    """What an example prints."""
    path = f"{BINARY.parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        [HERE / example / "run.sh"], env={**os.environ, **env, "PATH": path}, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
    return ran.stdout


def test_a_crontab_is_kept_by_a_node() -> None:
    printed = run("crontab", LISTEN=free_address())
    assert "copied 3 files" in printed, printed


def test_a_digest_reaches_its_telegram_channel() -> None:
    printed = run("digest-telegram", NEWS_LISTEN=free_address(), TELEGRAM_LISTEN=free_address())
    assert "published" in printed, printed
    assert '"text"' in printed, printed


def test_two_chains_start_workflows_once() -> None:
    printed = run("workflow-chain", GITHUB_LISTEN=free_address())
    summary = printed.splitlines()[-1].split()
    started, locks = int(summary[4]), int(summary[7])
    assert started >= 3 and locks >= started, printed
