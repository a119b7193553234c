"""Every operation once, as a value: what to send, whether it may be repeated, how to read it.

A call is repeated only if that is harmless: a read, a change whose revision or idempotency key
the node recognises, an ending that is fenced by its term.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote

from . import types as t
from .errors import Refused

T = TypeVar("T")
BatchAnswer = list["t.Receipt | Refused"]
#: How much longer than its wait the answer to a claim may take.
CLAIM_BEYOND_S = 10.0


@dataclass
class Request(Generic[T]):
    method: str
    path: str
    read: Callable[[Any], T]
    repeat: bool
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    timeout: float | None = None

    def content(self) -> bytes | None:
        return None if self.body is None else json.dumps(self.body, allow_nan=False).encode()


def of(cls: type[T]) -> Callable[[Any], T]:
    return lambda data: t.read(cls, data)


def task_path(kind: str, subject: str, rest: str = "") -> str:
    return f"/api/v1/tasks/{quote(kind, safe='')}/{quote(subject, safe=':')}{rest}"


def put_body(execute_at: datetime, options: t.PutOptions) -> dict[str, Any]:
    body: dict[str, Any] = {"execute_at": t.write_instant(execute_at), **options}
    if isinstance(callback := body.get("callback"), str):
        body["callback"] = {"url": callback}
    if isinstance(expires := body.get("expires_at"), datetime):
        body["expires_at"] = t.write_instant(expires)
    if "tags" in body:
        body["tags"] = list(body["tags"])
    return body


def change(method: str, path: str, revision: int | None, key: str | None) -> Request[t.Receipt]:
    # A revision is recognised by itself, and each key costs the node a row.
    if key is None and revision is None:
        key = f"client-{secrets.token_hex(16)}"
    headers = {"Idempotency-Key": key} if key else {}
    return Request(method, path, of(t.Receipt), repeat=True, headers=headers)


def put(kind: str, subject: str, execute_at: datetime, key: str | None, options: t.PutOptions) -> Request[t.Receipt]:
    request = change("PUT", task_path(kind, subject), options.get("revision"), key)
    request.body = put_body(execute_at, options)
    return request


def cancel(kind: str, subject: str, revision: int | None, key: str | None) -> Request[t.Receipt]:
    request = change("DELETE", task_path(kind, subject), revision, key)
    request.query = {"revision": revision}
    return request


def retry(kind: str, subject: str) -> Request[t.Receipt]:
    return change("POST", task_path(kind, subject, "/retry"), None, None)


def get(kind: str, subject: str) -> Request[t.Task]:
    return Request("GET", task_path(kind, subject), of(t.Task), repeat=True)


def listed(limit: int | None, cursor: str | None, filter: t.TaskFilter) -> Request[t.TasksPage]:
    query = {**filtered(filter), "limit": limit, "cursor": cursor}
    return Request("GET", "/api/v1/tasks", of(t.TasksPage), repeat=True, query=query)


def filtered(filter: t.TaskFilter) -> dict[str, Any]:
    chosen: dict[str, Any] = dict(filter)
    chosen["from"] = chosen.pop("since", None)
    written = {name: t.write_instant(it) if isinstance(it, datetime) else it for name, it in chosen.items()}
    return {name: it for name, it in written.items() if it is not None}


def history(kind: str, subject: str, cursor: str | None) -> Request[t.HistoryPage]:
    path = task_path(kind, subject, "/history")
    return Request("GET", path, of(t.HistoryPage), repeat=True, query={"cursor": cursor})


def receipts(data: Any) -> BatchAnswer:
    def one(it: Any) -> t.Receipt | Refused:
        return Refused(it["error"]) if "error" in it else t.read(t.Receipt, it)

    return [one(it) for it in data["receipts"]]


def batch(puts: Iterable[t.Put], key: str | None) -> Request[BatchAnswer]:
    puts = list(puts)
    tasks = [{"kind": it.kind, "subject": it.subject, **put_body(it.execute_at, it.options)} for it in puts]
    numbered = all("revision" in it.options for it in puts)
    headers = {"Idempotency-Key": key} if key else {}
    repeat = numbered or key is not None
    return Request("POST", "/api/v1/tasks:batch", receipts, repeat, headers=headers, body={"tasks": tasks})


def receipt(name: str) -> Request[t.KeptReceipt]:
    return Request("GET", f"/api/v1/receipts/{quote(name, safe='')}", of(t.KeptReceipt), repeat=True)


def events(changes: Iterable[t.Event]) -> Request[BatchAnswer]:
    def written(it: t.Event) -> dict[str, Any]:
        data: dict[str, Any] = {}
        if it.execute_at is not None:
            data = put_body(it.execute_at, it.options)
        # An event has only the address, flat, where nothing else is said about the call.
        if set(data.get("callback", {})) == {"url"}:
            data["callback_url"] = data.pop("callback")["url"]
        action = "cancel" if it.execute_at is None else "put"
        data |= {"kind": it.kind, "revision": it.revision}
        head = {"specversion": "1.0", "type": f"almanack.task.{action}.v1"}
        return {**head, "id": it.id, "source": it.source, "subject": it.subject, "data": data}

    headers = {"Content-Type": "application/cloudevents-batch+json"}
    body = [written(it) for it in changes]
    return Request("POST", "/api/v1/events", receipts, repeat=True, headers=headers, body=body)


def schedule_path(name: str, rest: str = "") -> str:
    return f"/api/v1/schedules/{quote(name, safe='')}{rest}"


def put_schedule(name: str, definition: Mapping[str, Any], revision: int | None) -> Request[t.Schedule]:
    # A second try would meet the first one's revision.
    headers = {} if revision is None else {"If-Match": f'"{revision}"'} if revision else {"If-None-Match": "*"}
    repeat = revision is None
    return Request("PUT", schedule_path(name), of(t.Schedule), repeat, headers=headers, body=dict(definition))


def schedule(method: str, name: str, rest: str = "", body: Any = None) -> Request[t.Schedule]:
    return Request(method, schedule_path(name, rest), of(t.Schedule), repeat=True, body=body)


def schedules(cursor: str | None, filter: t.ScheduleFilter) -> Request[t.SchedulesPage]:
    query = {**filter, "cursor": cursor}
    return Request("GET", "/api/v1/schedules", of(t.SchedulesPage), repeat=True, query=query)


def fire_schedule(name: str) -> Request[t.Fired]:
    return Request("POST", schedule_path(name, "/fire"), of(t.Fired), repeat=False, body={})


def pause(until: datetime | None, note: str | None) -> dict[str, str]:
    given = {"until": None if until is None else t.write_instant(until), "note": note}
    return {name: it for name, it in given.items() if it is not None}


def kinds() -> Request[list[t.KindStatus]]:
    def read(data: Any) -> list[t.KindStatus]:
        return [t.read(t.KindStatus, it) for it in data["kinds"]]

    return Request("GET", "/api/v1/kinds", read, repeat=True)


def kind(name: str, rest: str, body: Any = None) -> Request[t.KindStatus]:
    path = f"/api/v1/kinds/{quote(name, safe='')}{rest}"
    return Request("POST", path, of(t.KindStatus), repeat=True, body=body)


BulkAction = Literal["cancel", "retry", "move"]


def bulk_body(action: BulkAction, filter: t.TaskFilter, by_s: int | None, to: datetime | None) -> dict[str, Any]:
    given = {"by_s": by_s, "to": to and t.write_instant(to)}
    more = {name: it for name, it in given.items() if it is not None}
    return {"action": action, "filter": filtered(filter), **more}


def plan_bulk(body: dict[str, Any]) -> Request[t.BulkPlan]:
    return Request("POST", "/api/v1/tasks/bulk", of(t.BulkPlan), repeat=True, body=body | {"dry_run": True})


def read_bulk(data: Any) -> t.Bulk:
    return t.Bulk(data["bulk_id"], dict(data))


def start_bulk(body: dict[str, Any], through: int | None) -> Request[t.Bulk]:
    if through is not None:
        body = body | {"through_task_id": through}
    return Request("POST", "/api/v1/tasks/bulk", read_bulk, repeat=False, body=body)


def bulk(bulk_id: int) -> Request[t.Bulk]:
    return Request("GET", f"/api/v1/bulk/{bulk_id}", read_bulk, repeat=True)


def claim(
    kinds: Sequence[str], max: int, wait_s: int, lease_s: int, worker: str | None
) -> Request[list[t.ClaimedTask]]:
    def read(data: Any) -> list[t.ClaimedTask]:
        return [t.read(t.ClaimedTask, it) for it in data["tasks"]]

    body: dict[str, Any] = {"kinds": list(kinds), "max": max, "wait_s": wait_s, "lease_s": lease_s}
    if worker is not None:
        body["worker"] = worker
    # What a lost answer had taken comes back after its lease.
    return Request("POST", "/api/v1/work/claim", read, repeat=False, body=body, timeout=wait_s + CLAIM_BEYOND_S)


def work(
    what: Literal["extend", "finish", "release"],
    tasks: Sequence[Mapping[str, Any]],
    lease_s: int | None = None,
) -> Request[list[t.Ended]]:
    def read(data: Any) -> list[t.Ended]:
        return [t.read(t.Ended, it) for it in data["tasks"]]

    body: dict[str, Any] = {"tasks": [dict(it) for it in tasks]}
    if lease_s is not None:
        body["lease_s"] = lease_s
    return Request("POST", f"/api/v1/work/{what}", read, repeat=True, body=body)
