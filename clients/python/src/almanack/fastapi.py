"""Verification of callbacks as a dependency of FastAPI (or any Starlette application).

    webhook = Webhook(os.environ["ALMANACK_WEBHOOK_SECRET"])

    @app.post("/callbacks/publish")
    async def publish(call: Annotated[Call, Depends(verified(webhook))]) -> dict[str, str]: ...
"""

from collections.abc import Awaitable, Callable

from fastapi import HTTPException, Request

from .webhook import Call, Forged, Webhook


def verified(webhook: Webhook) -> Callable[[Request], Awaitable[Call]]:
    """A dependency that answers 401 to what is not signed with the secret, or too old."""

    async def dependency(request: Request) -> Call:
        try:
            return webhook.read(request.headers, await request.body())
        except Forged as forged:
            detail = {"code": "bad_signature", "message": str(forged)}
            raise HTTPException(status_code=401, detail=detail) from None

    return dependency
