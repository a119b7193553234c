"""The clients: the same methods, one to be awaited.

The operations are in :mod:`almanack.calls`; a test compares the two classes with each other.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, TypeVar

import httpx
from typing_extensions import Self, Unpack

from . import calls, transport
from . import types as t
from .errors import AlmanackError, Refused

T = TypeVar("T")


class Client:
    """A client of one node, or of several behind one address. Safe to share between threads."""

    def __init__(self, address: str, *, token: str | None = None, timeout: float = transport.ANSWER_WITHIN_S) -> None:
        self._http = httpx.Client(**transport.settings(address, token, timeout))
        self._address = address
        self._settings: dict[str, Any] = {"token": token, "timeout": timeout}

    def __repr__(self) -> str:
        return f"Client({self._address!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes its connections."""
        self._http.close()

    def as_async(self) -> AsyncClient:
        """The same node, with methods to be awaited."""
        return AsyncClient(self._address, **self._settings)

    def send(self, request: calls.Request[T]) -> T:
        """Sends it, again if that is harmless and may help."""
        tries = 1
        while True:
            response: httpx.Response | None = None
            try:
                response = self._http.send(transport.prepared(self._http, request))
                return transport.answer(request, response)
            except httpx.HTTPError as broken:
                error: AlmanackError = transport.unreachable(broken)
            except AlmanackError as refused:
                error = refused
            wait = transport.next_wait(request, tries, error, response)
            if wait is None:
                raise error
            time.sleep(wait)
            tries += 1

    def put(
        self, kind: str, subject: str, execute_at: datetime, *, key: str | None = None, **options: Unpack[t.PutOptions]
    ) -> t.Receipt:
        """Creates a task or changes it; a time in the past means now."""
        return self.send(calls.put(kind, subject, execute_at, key, options))

    def reschedule(
        self, kind: str, subject: str, execute_at: datetime, *, revision: int | None = None, key: str | None = None
    ) -> t.Receipt:
        """Moves a task to another time and leaves the rest as it is."""
        options: t.PutOptions = {} if revision is None else {"revision": revision}
        return self.send(calls.put(kind, subject, execute_at, key, options))

    def cancel(self, kind: str, subject: str, *, revision: int | None = None, key: str | None = None) -> t.Receipt:
        """Withdraws a task."""
        return self.send(calls.cancel(kind, subject, revision, key))

    def retry(self, kind: str, subject: str) -> t.Receipt:
        """Tries a task again now, with the payload it had."""
        return self.send(calls.retry(kind, subject))

    def get(self, kind: str, subject: str) -> t.Task:
        """The current task of an identity."""
        return self.send(calls.get(kind, subject))

    def find(self, kind: str, subject: str) -> t.Task | None:
        """The current task of an identity, if there is one."""
        try:
            return self.get(kind, subject)
        except Refused as refused:
            if refused.code == "no_such_task":
                return None
            raise

    def list(
        self, *, limit: int | None = None, cursor: str | None = None, **filter: Unpack[t.TaskFilter]
    ) -> t.TasksPage:
        """A page of tasks, newest first; an empty page may still lead to another one."""
        return self.send(calls.listed(limit, cursor, filter))

    def history(self, kind: str, subject: str, *, cursor: str | None = None) -> t.HistoryPage:
        """The newest decisions and attempts of a task, in order."""
        return self.send(calls.history(kind, subject, cursor))

    def batch(self, puts: Iterable[t.Put], *, key: str | None = None) -> calls.BatchAnswer:
        """Creates or changes many, each answered in its place. With a key: all or none."""
        return self.send(calls.batch(puts, key))

    def receipt(self, receipt: str) -> t.KeptReceipt:
        """What became of a decision."""
        return self.send(calls.receipt(receipt))

    def send_events(self, events: Iterable[t.Event]) -> calls.BatchAnswer:
        """Sends changes as CloudEvents, each answered in its place."""
        return self.send(calls.events(events))

    def put_schedule(self, name: str, definition: Mapping[str, Any], *, revision: int | None = None) -> t.Schedule:
        """Writes a schedule; with a revision only if it is still at that one, 0: only if it is new."""
        return self.send(calls.put_schedule(name, definition, revision))

    def schedule(self, name: str) -> t.Schedule:
        """One schedule."""
        return self.send(calls.schedule("GET", name))

    def schedules(self, *, cursor: str | None = None, **filter: Unpack[t.ScheduleFilter]) -> t.SchedulesPage:
        """A page of schedules, by name."""
        return self.send(calls.schedules(cursor, filter))

    def pause_schedule(self, name: str, *, until: datetime | None = None, note: str | None = None) -> t.Schedule:
        """Stops it from firing."""
        return self.send(calls.schedule("POST", name, "/pause", calls.pause(until, note)))

    def resume_schedule(self, name: str) -> t.Schedule:
        """Lets it fire again."""
        return self.send(calls.schedule("POST", name, "/resume"))

    def fire_schedule(self, name: str) -> t.Fired:
        """Fires it now, beside its slots. Never repeated: it would fire twice."""
        return self.send(calls.fire_schedule(name))

    def remove_schedule(self, name: str) -> t.Schedule:
        """Takes it away; its history stays."""
        return self.send(calls.schedule("DELETE", name))

    def kinds(self) -> Sequence[t.KindStatus]:
        """All kinds that are configured or have tasks."""
        return self.send(calls.kinds())

    def pause_kind(self, kind: str, *, until: datetime | None = None, note: str | None = None) -> t.KindStatus:
        """Holds a kind: its waiting tasks stay, running ones end."""
        return self.send(calls.kind(kind, "/pause", calls.pause(until, note)))

    def resume_kind(self, kind: str) -> t.KindStatus:
        """Lets its tasks run again."""
        return self.send(calls.kind(kind, "/resume"))

    def plan_bulk(
        self, action: calls.BulkAction, filter: t.TaskFilter, *, by_s: int | None = None, to: datetime | None = None
    ) -> t.BulkPlan:
        """Counts what a bulk change would change. Changes nothing."""
        return self.send(calls.plan_bulk(calls.bulk_body(action, filter, by_s, to)))

    def start_bulk(
        self,
        action: calls.BulkAction,
        filter: t.TaskFilter,
        *,
        by_s: int | None = None,
        to: datetime | None = None,
        through: int | None = None,
    ) -> t.Bulk:
        """Starts a bulk change, of tasks up to ``through`` of its plan. Never repeated: ask :meth:`bulk`."""
        return self.send(calls.start_bulk(calls.bulk_body(action, filter, by_s, to), through))

    def bulk(self, bulk_id: int) -> t.Bulk:
        """How far a bulk change is."""
        return self.send(calls.bulk(bulk_id))

    def claim(
        self, kinds: Sequence[str], *, max: int = 1, wait_s: int = 0, lease_s: int = 60, worker: str | None = None
    ) -> Sequence[t.ClaimedTask]:
        """Takes due tasks, waiting for some."""
        return self.send(calls.claim(kinds, max, wait_s, lease_s, worker))

    def extend(self, tasks: Sequence[Mapping[str, Any]], *, lease_s: int) -> Sequence[t.Ended]:
        """Holds tasks for longer, from now on."""
        return self.send(calls.work("extend", tasks, lease_s))

    def finish(self, endings: Sequence[Mapping[str, Any]]) -> Sequence[t.Ended]:
        """Reports endings: ``{"task_id": 7, "term": 1, "outcome": "done"}``."""
        return self.send(calls.work("finish", endings))

    def release(self, tasks: Sequence[Mapping[str, Any]]) -> Sequence[t.Ended]:
        """Gives tasks back; they do not count as attempts."""
        return self.send(calls.work("release", tasks))


class AsyncClient:
    """The same, to be awaited."""

    def __init__(self, address: str, *, token: str | None = None, timeout: float = transport.ANSWER_WITHIN_S) -> None:
        self._http = httpx.AsyncClient(**transport.settings(address, token, timeout))
        self._address = address

    def __repr__(self) -> str:
        return f"AsyncClient({self._address!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes its connections."""
        await self._http.aclose()

    async def send(self, request: calls.Request[T]) -> T:
        """Sends it, again if that is harmless and may help."""
        tries = 1
        while True:
            response: httpx.Response | None = None
            try:
                response = await self._http.send(transport.prepared(self._http, request))
                return transport.answer(request, response)
            except httpx.HTTPError as broken:
                error: AlmanackError = transport.unreachable(broken)
            except AlmanackError as refused:
                error = refused
            wait = transport.next_wait(request, tries, error, response)
            if wait is None:
                raise error
            await asyncio.sleep(wait)
            tries += 1

    async def put(
        self, kind: str, subject: str, execute_at: datetime, *, key: str | None = None, **options: Unpack[t.PutOptions]
    ) -> t.Receipt:
        """Creates a task or changes it; a time in the past means now."""
        return await self.send(calls.put(kind, subject, execute_at, key, options))

    async def reschedule(
        self, kind: str, subject: str, execute_at: datetime, *, revision: int | None = None, key: str | None = None
    ) -> t.Receipt:
        """Moves a task to another time and leaves the rest as it is."""
        options: t.PutOptions = {} if revision is None else {"revision": revision}
        return await self.send(calls.put(kind, subject, execute_at, key, options))

    async def cancel(
        self, kind: str, subject: str, *, revision: int | None = None, key: str | None = None
    ) -> t.Receipt:
        """Withdraws a task."""
        return await self.send(calls.cancel(kind, subject, revision, key))

    async def retry(self, kind: str, subject: str) -> t.Receipt:
        """Tries a task again now, with the payload it had."""
        return await self.send(calls.retry(kind, subject))

    async def get(self, kind: str, subject: str) -> t.Task:
        """The current task of an identity."""
        return await self.send(calls.get(kind, subject))

    async def find(self, kind: str, subject: str) -> t.Task | None:
        """The current task of an identity, if there is one."""
        try:
            return await self.get(kind, subject)
        except Refused as refused:
            if refused.code == "no_such_task":
                return None
            raise

    async def list(
        self, *, limit: int | None = None, cursor: str | None = None, **filter: Unpack[t.TaskFilter]
    ) -> t.TasksPage:
        """A page of tasks, newest first; an empty page may still lead to another one."""
        return await self.send(calls.listed(limit, cursor, filter))

    async def history(self, kind: str, subject: str, *, cursor: str | None = None) -> t.HistoryPage:
        """The newest decisions and attempts of a task, in order."""
        return await self.send(calls.history(kind, subject, cursor))

    async def batch(self, puts: Iterable[t.Put], *, key: str | None = None) -> calls.BatchAnswer:
        """Creates or changes many, each answered in its place. With a key: all or none."""
        return await self.send(calls.batch(puts, key))

    async def receipt(self, receipt: str) -> t.KeptReceipt:
        """What became of a decision."""
        return await self.send(calls.receipt(receipt))

    async def send_events(self, events: Iterable[t.Event]) -> calls.BatchAnswer:
        """Sends changes as CloudEvents, each answered in its place."""
        return await self.send(calls.events(events))

    async def put_schedule(
        self, name: str, definition: Mapping[str, Any], *, revision: int | None = None
    ) -> t.Schedule:
        """Writes a schedule; with a revision only if it is still at that one, 0: only if it is new."""
        return await self.send(calls.put_schedule(name, definition, revision))

    async def schedule(self, name: str) -> t.Schedule:
        """One schedule."""
        return await self.send(calls.schedule("GET", name))

    async def schedules(self, *, cursor: str | None = None, **filter: Unpack[t.ScheduleFilter]) -> t.SchedulesPage:
        """A page of schedules, by name."""
        return await self.send(calls.schedules(cursor, filter))

    async def pause_schedule(self, name: str, *, until: datetime | None = None, note: str | None = None) -> t.Schedule:
        """Stops it from firing."""
        return await self.send(calls.schedule("POST", name, "/pause", calls.pause(until, note)))

    async def resume_schedule(self, name: str) -> t.Schedule:
        """Lets it fire again."""
        return await self.send(calls.schedule("POST", name, "/resume"))

    async def fire_schedule(self, name: str) -> t.Fired:
        """Fires it now, beside its slots. Never repeated: it would fire twice."""
        return await self.send(calls.fire_schedule(name))

    async def remove_schedule(self, name: str) -> t.Schedule:
        """Takes it away; its history stays."""
        return await self.send(calls.schedule("DELETE", name))

    async def kinds(self) -> Sequence[t.KindStatus]:
        """All kinds that are configured or have tasks."""
        return await self.send(calls.kinds())

    async def pause_kind(self, kind: str, *, until: datetime | None = None, note: str | None = None) -> t.KindStatus:
        """Holds a kind: its waiting tasks stay, running ones end."""
        return await self.send(calls.kind(kind, "/pause", calls.pause(until, note)))

    async def resume_kind(self, kind: str) -> t.KindStatus:
        """Lets its tasks run again."""
        return await self.send(calls.kind(kind, "/resume"))

    async def plan_bulk(
        self, action: calls.BulkAction, filter: t.TaskFilter, *, by_s: int | None = None, to: datetime | None = None
    ) -> t.BulkPlan:
        """Counts what a bulk change would change. Changes nothing."""
        return await self.send(calls.plan_bulk(calls.bulk_body(action, filter, by_s, to)))

    async def start_bulk(
        self,
        action: calls.BulkAction,
        filter: t.TaskFilter,
        *,
        by_s: int | None = None,
        to: datetime | None = None,
        through: int | None = None,
    ) -> t.Bulk:
        """Starts a bulk change, of tasks up to ``through`` of its plan. Never repeated: ask :meth:`bulk`."""
        return await self.send(calls.start_bulk(calls.bulk_body(action, filter, by_s, to), through))

    async def bulk(self, bulk_id: int) -> t.Bulk:
        """How far a bulk change is."""
        return await self.send(calls.bulk(bulk_id))

    async def claim(
        self, kinds: Sequence[str], *, max: int = 1, wait_s: int = 0, lease_s: int = 60, worker: str | None = None
    ) -> Sequence[t.ClaimedTask]:
        """Takes due tasks, waiting for some."""
        return await self.send(calls.claim(kinds, max, wait_s, lease_s, worker))

    async def extend(self, tasks: Sequence[Mapping[str, Any]], *, lease_s: int) -> Sequence[t.Ended]:
        """Holds tasks for longer, from now on."""
        return await self.send(calls.work("extend", tasks, lease_s))

    async def finish(self, endings: Sequence[Mapping[str, Any]]) -> Sequence[t.Ended]:
        """Reports endings: ``{"task_id": 7, "term": 1, "outcome": "done"}``."""
        return await self.send(calls.work("finish", endings))

    async def release(self, tasks: Sequence[Mapping[str, Any]]) -> Sequence[t.Ended]:
        """Gives tasks back; they do not count as attempts."""
        return await self.send(calls.work("release", tasks))
