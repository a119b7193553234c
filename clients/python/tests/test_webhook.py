"""Verification of callbacks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time

import pytest

from almanack import Call, Forged, Webhook

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
AT = 1614265330
BODY = b'{"test": 2432232314}'
# The standard's own example.
RIGHT = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": str(AT),
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
}


@pytest.mark.parametrize(
    ("headers", "body", "now", "refused"),
    [
        ({}, BODY, AT, None),
        ({"webhook-signature": "v1,AAAA " + RIGHT["webhook-signature"]}, BODY, AT, None),
        ({}, b"{}", AT, "signature"),
        ({"webhook-id": "x"}, BODY, AT, "signature"),
        ({"webhook-signature": "v1,AAAA"}, BODY, AT, "signature"),
        ({"webhook-signature": ""}, BODY, AT, "missing"),
        ({"webhook-timestamp": "+1614265330"}, BODY, AT, "digits"),
        ({"webhook-timestamp": "²"}, BODY, AT, "digits"),
        ({}, BODY, AT + 301, "five minutes"),
        ({}, BODY, AT - 301, "five minutes"),
    ],
)
def test_wk_08_a_callback_is_verified_as_the_standard_says(
    headers: dict[str, str], body: bytes, now: int, refused: str | None
) -> None:
    webhook = Webhook(SECRET)
    if refused is None:
        return webhook.verify({**RIGHT, **headers}, body, now=now)
    with pytest.raises(Forged, match=refused):
        webhook.verify({**RIGHT, **headers}, body, now=now)


@pytest.mark.parametrize("secret", ["", "plain", "whsec_", "whsec_c2hvcnQ=", "whsec_!!"])
def test_a_bad_secret_is_refused_and_never_shown(secret: str) -> None:
    with pytest.raises(ValueError, match="whsec_"):
        Webhook(secret)
    assert repr(Webhook(SECRET)) == "Webhook(***)"


def signed() -> tuple[dict[str, str], bytes]:
    call = {"task_id": 7, "kind": "K", "subject": "s", "attempt": 1, "term": 1, "revision": 0}
    body = json.dumps(call | {"execute_at": "2027-01-04T08:00:00.5Z", "payload": None}).encode()
    key, at = base64.b64decode(SECRET[6:]), str(int(time.time()))
    mac = hmac.new(key, f"a.{at}.".encode() + body, hashlib.sha256).digest()
    signature = "v1," + base64.b64encode(mac).decode()
    return {"webhook-id": "a", "webhook-timestamp": at, "webhook-signature": signature}, body


def test_wk_08_fastapi_gets_only_genuine_calls() -> None:
    from fastapi import Depends, FastAPI
    from fastapi.testclient import TestClient

    from almanack.fastapi import verified

    app = FastAPI()

    @app.post("/publish")
    async def publish(call: Call = Depends(verified(Webhook(SECRET)))) -> int:
        return call.task_id

    client, (headers, body) = TestClient(app), signed()
    assert client.post("/publish", headers=headers, content=body).json() == 7
    assert client.post("/publish", headers=headers, content=body + b" ").status_code == 401
    assert client.post("/publish", content=body).status_code == 401


def test_wk_08_flask_gets_only_genuine_calls() -> None:
    from flask import Flask

    from almanack.flask import verified

    app = Flask(__name__)

    @app.post("/publish")
    @verified(Webhook(SECRET))
    def publish(call: Call) -> dict[str, int]:
        return {"task_id": call.task_id}

    client, (headers, body) = app.test_client(), signed()
    assert client.post("/publish", headers=headers, data=body).json == {"task_id": 7}
    assert client.post("/publish", headers=headers, data=body + b" ").status_code == 401
