"""Pull workers against a real node."""

from __future__ import annotations

import asyncio
import threading
from datetime import datetime, timedelta, timezone

import pytest

from almanack import (
    Again,
    AsyncClient,
    AsyncWorker,
    ClaimedTask,
    Client,
    GiveUp,
    Refused,
    Retry,
    Worker,
)

from .conftest import eventually

NOW = datetime(2020, 1, 1, tzinfo=timezone.utc)
LATER = datetime(2100, 1, 1, tzinfo=timezone.utc)
SYNC, ASYNC, SLOW = "PY_SYNC", "PY_ASYNC", "PY_SLOW"


def ended(client: Client, kind: str, subject: str, status: str, detail: str | None = None) -> object:
    def look() -> object:
        task = client.get(kind, subject)
        fits = task.status == status and (detail is None or task.detail == detail)
        return task if fits else None

    return eventually(look)


def test_wk_08_a_worker_ends_tasks_in_every_way(client: Client, subject: str) -> None:
    worker = Worker(client, slots=4, name="python")

    @worker.handle(SYNC)
    def handle(task: ClaimedTask) -> str | None:
        match task.payload:
            case "done":
                return "250 OK"
            case "give up":
                raise GiveUp("no address")
            case "again" if task.execute_at < LATER:
                raise Again(LATER)
            case "retry":
                raise Retry("greylisted", after_s=3600)
        return None

    payloads = ["done", "give up", "again", "retry"]
    for payload in payloads:
        client.put(SYNC, f"{subject}:{payload}", NOW, payload=payload)
    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        ended(client, SYNC, f"{subject}:done", "SUCCESS", "250 OK")
        ended(client, SYNC, f"{subject}:give up", "FAIL", "no address")
        ended(client, SYNC, f"{subject}:retry", "FAIL", "greylisted")
        eventually(lambda: client.get(SYNC, f"{subject}:again").execute_at == LATER or None)
        assert client.get(SYNC, f"{subject}:retry").live
        assert client.get(SYNC, f"{subject}:done").node == "python"
    finally:
        worker.stop()
        thread.join(30)
    assert not thread.is_alive()


def test_wk_08_an_async_worker_gives_back_what_does_not_end(url: str, client: Client, subject: str) -> None:
    client.put(ASYNC, subject, NOW)

    async def work() -> None:
        stop, attempts = asyncio.Event(), []
        async with AsyncClient(url) as almanack:
            worker = AsyncWorker(almanack, drain_s=0.05)

            @worker.handle(ASYNC)
            async def handle(task: ClaimedTask) -> None:
                attempts.append(task.attempt)
                stop.set()
                await asyncio.Event().wait()

            await worker.run(stop)
        assert attempts == [1]

    asyncio.run(work())
    task = client.get(ASYNC, subject)
    assert (task.status, task.attempt) == ("INIT", 0), "released, and no attempt was counted"


def test_wk_08_a_worker_extends_the_lease_while_a_handler_runs(client: Client, subject: str) -> None:
    client.put(SLOW, subject, NOW)
    worker = Worker(client, lease_s=5)

    @worker.handle(SLOW)
    def handle(task: ClaimedTask) -> str:
        def extended() -> bool | None:
            until = client.get(SLOW, subject).lease_until
            return (until is not None and until > task.lease_until) or None

        eventually(extended, within_s=20)
        return "extended"

    thread = threading.Thread(target=worker.run)
    thread.start()
    try:
        ended(client, SLOW, subject, "SUCCESS", "extended")
    finally:
        worker.stop()
        thread.join(30)


def test_wk_08_a_kind_that_is_pushed_ends_the_worker_with_a_reason(client: Client) -> None:
    worker = Worker(client)
    worker.handle("CLIENT_PUSH")(lambda task: None)
    with pytest.raises(Refused) as refused:
        worker.run()
    assert refused.value.status == 409


def test_wk_08_an_ending_under_an_old_term_changes_nothing(client: Client, subject: str) -> None:
    client.put("PY_FENCED", subject, NOW)
    (task,) = client.claim(["PY_FENCED"], wait_s=5, lease_s=5)
    (released,) = client.release([task.held])
    assert released.result == "applied"
    (late,) = client.finish([{**task.held, "outcome": "done"}])
    assert late.result == "late"
    assert client.get("PY_FENCED", subject).status == "INIT"
    client.cancel("PY_FENCED", subject)


def test_wk_08_kinds_are_held_and_tasks_changed_in_bulk(client: Client, subject: str) -> None:
    assert client.pause_kind("PY_HELD", note="deploy").paused
    assert "PY_HELD" in [it.kind for it in client.kinds()]
    assert not client.resume_kind("PY_HELD").paused
    for number in range(3):
        client.put("PY_BULK", f"{subject}:{number}", LATER, tags=["nightly"])
    plan = client.plan_bulk("move", {"kind": "PY_BULK", "subject_prefix": subject}, by_s=3600)
    assert plan.would_change == 3
    started = client.start_bulk(
        "move", {"kind": "PY_BULK", "subject_prefix": subject}, by_s=3600, through=plan.through_task_id
    )
    moved = LATER + timedelta(hours=1)
    eventually(lambda: client.get("PY_BULK", f"{subject}:2").execute_at == moved or None)
    assert client.bulk(started.bulk_id).bulk_id == started.bulk_id
    assert client.get("PY_BULK", f"{subject}:0").tags == ["nightly"]
