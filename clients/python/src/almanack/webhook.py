"""Callbacks: what a call says, and whether it is Almanack's, unaltered and just now.

Standard Webhooks: HMAC-SHA256 over ``{webhook-id}.{webhook-timestamp}.{body}``.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from . import types as t

#: How far a call's time may be from ours, in seconds.
TOLERANCE_S = 300
#: Signatures looked at: a sender that changes its secret sends two.
SIGNATURES_MAX = 8


class Headers(Protocol):
    """Headers by their names: of httpx, Starlette, Werkzeug, or a dictionary in lower case."""

    def get(self, name: str, /) -> str | None: ...


class Forged(Exception):
    """Why a call is not accepted. Never shows the secret, and nothing that helps to forge a call."""


@dataclass(frozen=True)
class Call:
    """The body of a callback."""

    task_id: int
    kind: str
    subject: str
    #: Which attempt this is, from 1.
    attempt: int
    #: A smaller one than you have seen comes from a node that was thought dead.
    term: int
    revision: int
    execute_at: datetime
    payload: Any = None


class Webhook:
    """Knows the secret, ``whsec_…``."""

    def __init__(self, secret: str) -> None:
        kind, _, encoded = secret.strip().partition("_")
        try:
            self._key = base64.b64decode(encoded, validate=True)
        except binascii.Error:
            self._key = b""
        if kind != "whsec" or not 24 <= len(self._key) <= 64:
            raise ValueError("a webhook secret is `whsec_` followed by the base64 of 24 to 64 random bytes")

    def __repr__(self) -> str:
        return "Webhook(***)"

    def verify(self, headers: Headers, body: bytes, *, now: float | None = None) -> None:
        """Raises :class:`Forged` unless the call is genuine and of about now.

        ``body`` is every byte as it came.
        """
        name, stamp, signatures = (
            self._header(headers, f"webhook-{it}") for it in ("id", "timestamp", "signature")
        )
        if not (1 <= len(name) <= 200 and name.isascii() and name.isprintable() and " " not in name):
            raise Forged("webhook-id must be 1 to 200 visible ASCII characters")
        if not (stamp.isascii() and stamp.isdigit()) or str(int(stamp)) != stamp:
            raise Forged("webhook-timestamp must be the seconds since 1970, in digits")
        if abs((time.time() if now is None else now) - int(stamp)) > TOLERANCE_S:
            raise Forged("webhook-timestamp is more than five minutes away from this machine's time")
        digest = hmac.new(self._key, f"{name}.{stamp}.".encode() + body, hashlib.sha256).digest()
        expected = b"v1," + base64.b64encode(digest)
        given = signatures.encode("utf-8", "replace").split(b" ")[:SIGNATURES_MAX]
        # No early end: takes as long for a wrong one as for a right one.
        if not sum(hmac.compare_digest(expected, it) for it in given):
            raise Forged("webhook-signature does not fit; it covers the id, the timestamp and the exact body")

    def read(self, headers: Headers, body: bytes, *, now: float | None = None) -> Call:
        """Verifies and reads a call."""
        self.verify(headers, body, now=now)
        return t.read(Call, json.loads(body))

    @staticmethod
    def _header(headers: Headers, name: str) -> str:
        value = headers.get(name)
        if not value:
            raise Forged(f"the header {name} is missing")
        return value
