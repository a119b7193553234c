"""Why a call failed, and whether the same call can succeed later.

No message contains a token, a payload or the query of an address.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class AlmanackError(Exception):
    """A call failed."""

    #: Whether the same call can succeed later without anyone changing anything.
    transient: bool = False


class Unreachable(AlmanackError):
    """No answer, or a broken one."""

    transient = True


class Unexpected(AlmanackError):
    """Something answered that is no node of Almanack."""

    def __init__(self, status: int) -> None:
        super().__init__(f"HTTP {status} with an answer that is not Almanack's; is this the node's address?")
        self.status = status
        # A proxy says so while the node behind it restarts.
        self.transient = status in (429, 502, 503, 504)


class Refused(AlmanackError):
    """The node refused: a stable code for programs, a sentence for people."""

    def __init__(self, problem: Mapping[str, Any]) -> None:
        self.status = int(problem.get("status", 0))
        #: Never changes its meaning: ``unknown_kind``, ``no_such_task``.
        self.code = str(problem["code"])
        self.detail = str(problem.get("detail", ""))
        #: The field of the body that is wrong.
        self.path: str | None = problem.get("path")
        #: What to do about it.
        self.hint = _hint(problem)
        self.problem = dict(problem)
        self.transient = self.status in (429, 502, 503, 504) or self.code == "contended"
        hint = f"; {self.hint}" if self.hint else ""
        super().__init__(f"{self.detail} ({self.code}){hint}")


def _hint(problem: Mapping[str, Any]) -> str | None:
    misread = problem.get("expression") or {}
    if hint := problem.get("hint") or misread.get("hint"):
        return str(hint)
    if kinds := problem.get("known_kinds"):
        return f"known kinds: {', '.join(kinds)}"
    if scope := problem.get("scope"):
        return f"use a token with scope `{scope}`"
    if problem["code"] == "unauthenticated":
        return "give the client a token: `almanack token create NAME`"
    return None
