"""What goes over the wire, typed. Fields that a newer node adds are ignored."""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Literal, TypeVar

from typing_extensions import TypedDict

T = TypeVar("T")
Status = Literal["INIT", "RUNNING", "SUCCESS", "FAIL", "CANCELLED"]


def write_instant(at: datetime) -> str:
    """RFC 3339. A time without a zone is refused: the node cannot know whose it is."""
    if at.tzinfo is None:
        raise ValueError("a time needs its zone: datetime.now(timezone.utc), not datetime.now()")
    return at.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


def read_instant(text: str) -> datetime:
    """Reads RFC 3339, which Python 3.10 does with three or six decimals only."""
    text = re.sub(r"\.(\d+)", lambda it: "." + it[1][:6].ljust(6, "0"), text)
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def read(cls: type[T], data: Mapping[str, Any]) -> T:
    """A dataclass from the JSON object of the same fields."""
    hints = typing.get_type_hints(cls)
    known = {it.name for it in dataclasses.fields(cls)}  # type: ignore[arg-type]
    values = {name: _value(hints[name], value) for name, value in data.items() if name in known}
    return cls(**values)


def _value(hint: Any, value: Any) -> Any:
    if value is None:
        return None
    arguments = typing.get_args(hint)
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        plain = [it for it in arguments if it is not type(None)]
        return _value(plain[0], value) if len(plain) == 1 else value
    if typing.get_origin(hint) is list:
        return [_value(arguments[0], it) for it in value]
    if hint is datetime:
        return read_instant(value)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return read(hint, value)
    return value


class PutOptions(TypedDict, total=False):
    """What may be said about a task beside its time; what is not said stays as it is."""

    payload: Any
    callback: str | Mapping[str, Any]
    max_retry: int
    priority: int
    revision: int
    expires_at: datetime
    expires_after_s: int
    tags: Sequence[str]


class TaskFilter(TypedDict, total=False):
    """Which tasks; everything that is given must fit."""

    #: Numbers of rows, separated by commas.
    task_id: str
    #: Almanack's own kinds, or only the others.
    internal: bool
    kind: str
    subject_prefix: str
    subject_contains: str
    status: Status
    live: bool
    tag: str
    #: Execute time, at the earliest; ``to``: before this.
    since: datetime
    to: datetime
    error: str


class ScheduleFilter(TypedDict, total=False):
    """Which schedules; everything that is given must fit."""

    origin: Literal["file", "dispatch", "api"]
    state: str
    tag: str
    owner: str
    removed: bool


@dataclass(frozen=True)
class Put:
    """One task of a batch or an event."""

    kind: str
    subject: str
    execute_at: datetime
    options: PutOptions = field(default_factory=lambda: PutOptions())


@dataclass(frozen=True)
class Event:
    """A change of a task as a CloudEvent; its revision makes it harmless twice and out of order."""

    id: str
    #: Names the sender: ``/article-service``.
    source: str
    kind: str
    subject: str
    revision: int
    #: When to try; ``None`` withdraws.
    execute_at: datetime | None = None
    options: PutOptions = field(default_factory=lambda: PutOptions())


@dataclass(frozen=True)
class Receipt:
    """The answer to a change: the rule that applied, and to which task."""

    receipt: str
    rule: str
    kind: str
    subject: str
    task_id: int
    execute_at: datetime
    revision: int
    old_execute_at: datetime | None = None
    cancelled_task_id: int | None = None


@dataclass(frozen=True)
class KeptReceipt:
    """A receipt that was asked for later."""

    kept: Literal["stands", "superseded", "done", "failed", "withdrawn", "changed_nothing"]
    receipt: str
    rule: str
    kind: str
    subject: str
    task_id: int
    execute_at: datetime
    decided_at: datetime
    origin: str
    revision: int | None = None
    old_execute_at: datetime | None = None
    requested: dict[str, Any] | None = None


@dataclass(frozen=True)
class Task:
    """A task as it is now."""

    task_id: int
    kind: str
    subject: str
    status: Status
    #: Whether it is waiting, will be retried, or is running.
    live: bool
    execute_at: datetime
    payload: Any
    priority: int
    attempt: int
    max_retry: int
    revision: int
    origin: str
    created_at: datetime
    callback: dict[str, Any] | None = None
    detail: str | None = None
    #: The node or worker that claimed it last.
    node: str | None = None
    lease_until: datetime | None = None
    replaces: int | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    expires_at: datetime | None = None
    tags: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class TasksPage:
    tasks: list[Task]
    next_cursor: str | None = None


@dataclass(frozen=True)
class HistoryPage:
    """Decisions and attempts, in order; ``what`` says which."""

    events: list[dict[str, Any]]
    next_cursor: str | None = None


@dataclass(frozen=True)
class Schedule:
    name: str
    origin: str
    revision: int
    state: str
    created_at: datetime
    changed_at: datetime
    definition: dict[str, Any] | None = None
    paused: dict[str, Any] | None = None
    next_at: datetime | None = None
    last_firing: str | None = None
    warnings: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class SchedulesPage:
    schedules: list[Schedule]
    next_cursor: str | None = None


@dataclass(frozen=True)
class Fired:
    kind: str
    subject: str
    nominal_at: datetime


@dataclass(frozen=True)
class KindStatus:
    kind: str
    deliver: str | None = None
    paused: dict[str, Any] | None = None
    waiting: int = 0
    due: int = 0
    running: int = 0


@dataclass(frozen=True)
class BulkPlan:
    """What a bulk change would do."""

    matched: int
    would_change: int
    #: The newest task it looked at; given to the change, that looks at no newer one either.
    through_task_id: int


@dataclass(frozen=True)
class Bulk:
    """A bulk change; ``progress`` is all that the node reports."""

    bulk_id: int
    progress: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ClaimedTask:
    """A task that this worker holds until ``lease_until``."""

    task_id: int
    term: int
    kind: str
    subject: str
    attempt: int
    max_retry: int
    execute_at: datetime
    payload: Any
    revision: int
    lease_until: datetime

    @property
    def held(self) -> dict[str, int]:
        """What names this claim."""
        return {"task_id": self.task_id, "term": self.term}


@dataclass(frozen=True)
class Ended:
    """``applied`` or ``late``; of an extension ``extended`` or ``lost``."""

    task_id: int
    term: int
    result: str
