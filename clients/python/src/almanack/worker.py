"""Pull workers: take due tasks, run a handler for each, report how they ended.

What must stay true:

- A task is *held* from its claim until its ending is acknowledged, and what is held is extended
  every third of its lease. A slow handler keeps its task, a dead process does not.
- A handler whose lease is lost is cancelled: another worker has its task. A thread cannot be; its
  ending is refused by the node, because of its term.
- Endings wait for the report before them, so many small ones become few large ones.
- While the node is away, nothing is dropped: claims and reports are tried again with growing waits.
  A refusal that waiting cannot change ends the worker with that error.
"""

from __future__ import annotations

import asyncio
import logging
import math
import signal
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from typing import Any, Generic, TypeVar

from . import types as t
from .client import AsyncClient, Client
from .errors import AlmanackError
from .transport import backoff

log = logging.getLogger("almanack.worker")
#: How long a claim waits for work; the longest that a node allows.
WAIT_S = 30
#: A node that is shutting down answers at once that it has nothing; it is not asked all the time.
CLAIM_EVERY_S = 0.2
#: How many tasks one report or extension names.
REPORT_MAX = 1000
Key = tuple[int, int]
Handler = TypeVar("Handler", bound=Callable[[t.ClaimedTask], Any])


class Again(Exception):
    """The work goes on at another time; not a failure. Return it or raise it."""

    def __init__(self, at: datetime) -> None:
        super().__init__(f"again at {at}")
        self.at = at


class Retry(Exception):
    """It failed in a way that may pass. Any other exception means the same."""

    def __init__(self, detail: str, *, after_s: float | None = None) -> None:
        super().__init__(detail)
        self.after_s = after_s


class GiveUp(Exception):
    """It failed for good."""


def outcome(answer: object) -> dict[str, Any]:
    """An ending as the node reads it, from what a handler returned or raised."""
    if isinstance(answer, Again):
        return {"outcome": "again", "at": t.write_instant(answer.at)}
    if isinstance(answer, GiveUp):
        return {"outcome": "give_up", "detail": str(answer)}
    if isinstance(answer, Retry):
        # Rounded up: not before the wait is over.
        after = {} if answer.after_s is None else {"retry_after_s": math.ceil(answer.after_s)}
        return {"outcome": "retry", "detail": str(answer), **after}
    if isinstance(answer, Exception):
        return {"outcome": "retry", "detail": f"{type(answer).__name__}: {answer}"}
    return {"outcome": "done"} if answer is None else {"outcome": "done", "detail": str(answer)}


class _Loop(Generic[Handler]):
    """What both workers are: handlers, limits, and the loop."""

    def __init__(
        self, *, slots: int = 4, lease_s: int = 60, drain_s: float = 10, name: str | None = None
    ) -> None:
        self.slots = max(1, min(slots, 1000))
        self.lease_s = max(5, min(lease_s, 3600))
        self.drain_s = drain_s
        self.name = name
        self._handlers: dict[str, Handler] = {}

    def handle(self, kind: str) -> Callable[[Handler], Handler]:
        """Handles the tasks of a kind. It may be called again for the same task."""

        def register(handler: Handler) -> Handler:
            self._handlers[kind] = handler
            return handler

        return register


class _Shift:
    """One run of a worker."""

    def __init__(
        self,
        client: AsyncClient,
        loop: _Loop[Any],
        run: Callable[[t.ClaimedTask], Awaitable[Any]],
    ) -> None:
        self.client, self.loop, self.run_handler = client, loop, run
        #: Every task from its claim until its ending is acknowledged, and the handler while it runs.
        self.held: dict[Key, asyncio.Task[None] | None] = {}
        self.ended: list[dict[str, Any]] = []
        self.slots = asyncio.Semaphore(loop.slots)
        self.has_ended = asyncio.Event()
        self.stopping = False

    async def run(self, stop: asyncio.Event) -> None:
        claims = asyncio.create_task(self.claim_for_ever())
        reports = asyncio.create_task(self.report_until_stopped())
        extensions = asyncio.create_task(self.extend_for_ever())
        asked = asyncio.create_task(stop.wait())
        beside: list[asyncio.Task[Any]] = [claims, reports, extensions, asked]
        try:
            await asyncio.wait(beside, return_when=asyncio.FIRST_COMPLETED)
            claims.cancel()
            await self.drain()
            # A report under way gets its answer: cancelled, nobody would know whether it arrived.
            self.stopping = True
            self.has_ended.set()
            await asyncio.wait([reports])
        finally:
            for it in beside:
                it.cancel()
            ends = await asyncio.gather(*beside, return_exceptions=True)
        await self.give_back()
        for error in ends:
            if isinstance(error, Exception):
                raise error

    async def claim_for_ever(self) -> None:
        failed = 0
        while True:
            await self.slots.acquire()
            free = 1
            while free < self.loop.slots and not self.slots.locked():
                await self.slots.acquire()
                free += 1
            asked_at = time.monotonic()
            try:
                kinds = list(self.loop._handlers)
                tasks = await self.client.claim(
                    kinds, max=free, wait_s=WAIT_S, lease_s=self.loop.lease_s, worker=self.loop.name
                )
                failed = 0
            except AlmanackError as error:
                if not error.transient:
                    raise
                failed, tasks = failed + 1, []
                if failed == 1:
                    log.warning("the node does not answer; trying again: %s", error)
            for task in tasks:
                self.forget(task.task_id)
                self.held[task.task_id, task.term] = asyncio.create_task(self.attempt(task))
            for _ in range(free - len(tasks)):
                self.slots.release()
            if failed:
                await asyncio.sleep(backoff(failed))
            elif not tasks:
                await asyncio.sleep(max(0, asked_at + CLAIM_EVERY_S - time.monotonic()))

    def forget(self, task_id: int) -> None:
        """A task that comes again, under a larger term, had been lost."""
        for key in [it for it in self.held if it[0] == task_id]:
            if handler := self.held.pop(key):
                handler.cancel()
        self.ended = [it for it in self.ended if it["task_id"] != task_id]

    async def attempt(self, task: t.ClaimedTask) -> None:
        key = task.task_id, task.term
        try:
            answer = await self.run_handler(task)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            answer = error
        finally:
            self.slots.release()
        if key in self.held:
            self.held[key] = None
            self.ended.append({**task.held, **outcome(answer)})
            self.has_ended.set()

    async def report_until_stopped(self) -> None:
        failed = 0
        while self.ended or not self.stopping:
            await self.has_ended.wait()
            try:
                await self.report()
                failed = 0
            except AlmanackError as error:
                if not error.transient or self.stopping:
                    raise
                failed += 1
                await asyncio.sleep(backoff(failed))

    async def report(self) -> None:
        """Reports what has ended; it stays held until the node has acknowledged it."""
        while endings := self.ended[:REPORT_MAX]:
            for answer in await self.client.finish(endings):
                if answer.result == "late":
                    log.warning("task %d ended too late", answer.task_id)
            reported = {id(it) for it in endings}
            self.ended = [it for it in self.ended if id(it) not in reported]
            for it in endings:
                self.held.pop((it["task_id"], it["term"]), None)
        self.has_ended.clear()

    async def extend_for_ever(self) -> None:
        while True:
            await asyncio.sleep(self.loop.lease_s / 3)
            held = [{"task_id": task_id, "term": term} for task_id, term in self.held]
            for first in range(0, len(held), REPORT_MAX):
                part = held[first : first + REPORT_MAX]
                try:
                    answers = await self.client.extend(part, lease_s=self.loop.lease_s)
                except AlmanackError as error:
                    log.warning("could not extend leases: %s", error)
                    continue
                for lost in (it for it in answers if it.result == "lost"):
                    self.drop(lost)

    def drop(self, lost: t.Ended) -> None:
        handler = self.held.get((lost.task_id, lost.term))
        # An ending under way is still reported: the node decides that it is late.
        if handler is not None:
            log.warning("lease of task %d lost; its handler is stopped", lost.task_id)
            del self.held[lost.task_id, lost.term]
            handler.cancel()

    async def drain(self) -> None:
        """Running handlers may end for a while; then they are stopped."""
        running = [it for it in self.held.values() if it is not None]
        if running:
            _, late = await asyncio.wait(running, timeout=self.loop.drain_s)
            for handler in late:
                handler.cancel()

    async def give_back(self) -> None:
        """Gives back what did not end."""
        held = [{"task_id": task_id, "term": term} for task_id, term in self.held]
        for first in range(0, len(held), REPORT_MAX):
            await self.client.release(held[first : first + REPORT_MAX])


class AsyncWorker(_Loop[Callable[[t.ClaimedTask], Coroutine[Any, Any, Any]]]):
    """A pull worker whose handlers are coroutines."""

    def __init__(self, client: AsyncClient, **limits: Any) -> None:
        super().__init__(**limits)
        self._client = client

    async def run(self, stop: asyncio.Event | None = None) -> None:
        """Works until ``stop`` is set (default: SIGTERM or SIGINT), then drains and gives back."""
        stop = stop or _signalled()
        await _Shift(self._client, self, lambda task: self._handlers[task.kind](task)).run(stop)


class Worker(_Loop[Callable[[t.ClaimedTask], Any]]):
    """A pull worker whose handlers run in threads, as many as it has slots."""

    def __init__(self, client: Client, **limits: Any) -> None:
        super().__init__(**limits)
        self._client = client
        self._stop: Callable[[], object] | None = None
        self._stopped = threading.Event()

    def run(self) -> None:
        """Works until :meth:`stop` is called, or SIGTERM or SIGINT comes in the main thread."""
        asyncio.run(self._run())

    def stop(self) -> None:
        """Ends :meth:`run`, from any thread."""
        self._stopped.set()
        if self._stop is not None:
            self._stop()

    async def _run(self) -> None:
        loop, stop = asyncio.get_running_loop(), _signalled()
        self._stop = partial(loop.call_soon_threadsafe, stop.set)
        if self._stopped.is_set():
            stop.set()
        pool = ThreadPoolExecutor(self.slots, thread_name_prefix="almanack-worker")
        try:
            async with self._client.as_async() as client:

                def in_thread(task: t.ClaimedTask) -> Awaitable[Any]:
                    return loop.run_in_executor(pool, self._handlers[task.kind], task)

                await _Shift(client, self, in_thread).run(stop)
        finally:
            self._stop = None
            # A thread cannot be stopped: it holds up the end of the process, not of this method.
            pool.shutdown(wait=False, cancel_futures=True)


def _signalled() -> asyncio.Event:
    """Set on SIGTERM and SIGINT, where signals arrive: in the main thread."""
    stop = asyncio.Event()
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop
