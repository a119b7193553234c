"""The client against a real node."""

from __future__ import annotations

import asyncio
import inspect
from datetime import datetime, timedelta, timezone

import pytest

from almanack import AsyncClient, Client, Event, Put, Receipt, Refused, Unreachable

LATER = datetime(2100, 1, 4, 8, tzinfo=timezone.utc)
KIND = "CLIENT_PUSH"


def test_wk_08_a_task_is_put_moved_read_and_withdrawn(client: Client, subject: str) -> None:
    created = client.put(KIND, subject, LATER, payload={"n": 1}, revision=1, priority=7)
    assert (created.rule, created.execute_at) == ("created", LATER)
    moved = client.reschedule(KIND, subject, LATER + timedelta(hours=1), revision=2)
    assert (moved.rule, moved.old_execute_at) == ("updated", LATER)
    task = client.get(KIND, subject)
    assert (task.status, task.live, task.payload, task.priority) == ("INIT", True, {"n": 1}, 7)
    assert client.list(kind=KIND, subject_prefix=subject).tasks == [task]
    assert client.receipt(created.receipt).kept == "superseded"
    assert [it["rule"] for it in client.history(KIND, subject).events] == ["created", "updated"]
    assert client.cancel(KIND, subject, revision=3).rule == "cancelled"
    assert client.cancel(KIND, subject, revision=2).rule == "ignored_stale"
    assert client.get(KIND, subject).live is False
    assert client.find(KIND, f"{subject}:none") is None


def test_wk_08_many_are_put_at_once_and_each_is_answered(client: Client, subject: str) -> None:
    good = Put(KIND, subject, LATER, {"payload": [1], "revision": 1})
    bad = Put("CLIENT_UNKNOWN", subject, LATER)
    first, second = client.batch([good, bad])
    assert isinstance(first, Receipt) and first.rule == "created"
    assert isinstance(second, Refused) and second.code == "unknown_kind"
    assert second.hint and KIND in second.hint
    again = client.batch([good], key=f"key-{subject}"[:200])
    assert again == client.batch([good], key=f"key-{subject}"[:200])


def test_wk_08_changes_are_sent_as_events(client: Client, subject: str) -> None:
    put = Event("1", "/test", KIND, subject, 1, LATER, {"payload": {"n": 2}})
    cancel = Event("2", "/test", KIND, subject, 2)
    rules = [it.rule for it in client.send_events([put, cancel]) if isinstance(it, Receipt)]
    assert rules == ["created", "cancelled"]
    assert client.get(KIND, subject).origin == "event:/test"


def test_wk_08_a_schedule_is_written_paused_fired_and_removed(client: Client, subject: str) -> None:
    name = subject.replace(":", "-")[:100]
    definition = {"expression": "0 8 1 1 *", "target": {"type": "task", "kind": KIND, "subject": subject}}
    written = client.put_schedule(name, definition, revision=0)
    assert (written.state, written.revision) == ("active", 1) and written.next_at
    with pytest.raises(Refused) as exists:
        client.put_schedule(name, definition, revision=0)
    assert exists.value.code == "revision_mismatch"
    paused = client.pause_schedule(name, until=LATER, note="holidays")
    assert paused.paused and paused.paused["note"] == "holidays"
    assert client.resume_schedule(name).state == "active"
    assert client.fire_schedule(name).kind == "DISPATCH"
    assert client.schedule(name).definition
    assert name in [it.name for it in client.schedules(origin="api").schedules]
    assert client.remove_schedule(name).state == "removed"


def test_wk_08_a_refusal_says_what_and_why(client: Client, subject: str) -> None:
    with pytest.raises(Refused) as refused:
        client.put(KIND, subject, LATER, priority=11)
    assert refused.value.code == "invalid_value"
    assert "priority must be 0 to 9" in refused.value.detail
    assert client.find(KIND, subject) is None


def test_a_time_without_a_zone_is_refused(client: Client, subject: str) -> None:
    with pytest.raises(ValueError, match="zone"):
        client.put(KIND, subject, datetime(2100, 1, 1))


def test_no_answer_is_unreachable_and_shows_no_secret() -> None:
    client = Client("http://127.0.0.1:1", token="alm_secret")
    with pytest.raises(Unreachable) as unreachable:
        client.fire_schedule("nightly")
    shown = f"{unreachable.value} {unreachable.value!r} {client!r}"
    assert "alm_secret" not in shown
    with pytest.raises(ValueError) as refused:
        Client("https://me:hush@node.example")
    assert "hush" not in str(refused.value)


def test_wk_08_both_clients_have_the_same_methods(url: str, subject: str) -> None:
    def methods(of: type) -> dict[str, str]:
        public = {name: it for name, it in vars(of).items() if not name.startswith("_") and name != "as_async"}
        return {name: str(inspect.signature(it)) for name, it in public.items()}

    assert methods(Client) == methods(AsyncClient)

    async def put() -> str:
        async with AsyncClient(url) as client:
            await client.put(KIND, subject, LATER)
            return (await client.cancel(KIND, subject)).rule

    assert asyncio.run(put()) == "cancelled"
