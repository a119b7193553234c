"""Client of Almanack, the durable scheduler."""

from .client import AsyncClient, Client
from .errors import AlmanackError, Refused, Unexpected, Unreachable
from .types import (
    Bulk,
    BulkPlan,
    ClaimedTask,
    Ended,
    Event,
    Fired,
    HistoryPage,
    KeptReceipt,
    KindStatus,
    Put,
    Receipt,
    Schedule,
    SchedulesPage,
    Task,
    TasksPage,
)
from .webhook import Call, Forged, Webhook
from .worker import Again, AsyncWorker, GiveUp, Retry, Worker

__all__ = [
    "Again",
    "AlmanackError",
    "AsyncClient",
    "AsyncWorker",
    "Bulk",
    "BulkPlan",
    "Call",
    "ClaimedTask",
    "Client",
    "Ended",
    "Event",
    "Fired",
    "Forged",
    "GiveUp",
    "HistoryPage",
    "KeptReceipt",
    "KindStatus",
    "Put",
    "Receipt",
    "Refused",
    "Retry",
    "Schedule",
    "SchedulesPage",
    "Task",
    "TasksPage",
    "Unexpected",
    "Unreachable",
    "Webhook",
    "Worker",
]
