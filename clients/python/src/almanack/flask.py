"""Verification of callbacks as a decorator for Flask.

    @app.post("/callbacks/publish")
    @verified(webhook)
    def publish(call: Call): ...
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from flask import request

from .webhook import Call, Forged, Webhook


def verified(webhook: Webhook) -> Callable[[Callable[[Call], Any]], Callable[[], Any]]:
    """Calls the view with the call; answers 401 to what is not signed with the secret, or too old."""

    def decorate(view: Callable[[Call], Any]) -> Callable[[], Any]:
        @functools.wraps(view)
        def checked() -> Any:
            try:
                call = webhook.read(request.headers, request.get_data())
            except Forged as forged:
                return {"code": "bad_signature", "message": str(forged)}, 401
            return view(call)

        return checked

    return decorate
