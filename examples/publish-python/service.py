"""Articles that are published at their time.

Almanack decides when to try; this service decides whether it takes effect. The article's own state
makes a repeated call harmless: only one that waits is published.
"""

from __future__ import annotations

import os
import sqlite3
from datetime import datetime
from typing import Annotated, Any

import uvicorn
from fastapi import Depends, FastAPI, HTTPException
from pydantic import BaseModel

from almanack import AlmanackError, AsyncClient, Call, Webhook
from almanack.fastapi import verified

LISTEN = os.environ.get("LISTEN", "127.0.0.1:8090")
webhook = Webhook(os.environ["ALMANACK_WEBHOOK_SECRET"])
almanack = AsyncClient(
    os.environ.get("ALMANACK_SERVER", "http://127.0.0.1:8080"), token=os.environ.get("ALMANACK_TOKEN")
)
database = sqlite3.connect(os.environ.get("ARTICLES", ":memory:"), isolation_level=None, check_same_thread=False)
database.execute(
    """create table if not exists article (
        id text primary key, state text not null default 'WAITING',
        revision integer not null default 1, published integer not null default 0)"""
)
app = FastAPI()


class Written(BaseModel):
    publish_at: datetime


@app.put("/articles/{id}")
async def write(id: str, written: Written) -> dict[str, str]:
    """Writes an article, or changes when it is published."""
    (revision,) = database.execute(
        """insert into article (id) values (?)
           on conflict (id) do update set revision = revision + 1 returning revision""",
        (id,),
    ).fetchone()
    try:
        receipt = await almanack.put(
            "ARTICLE_PUBLISH",
            f"article:{id}",
            written.publish_at,
            revision=revision,
            callback=f"http://{LISTEN}/callbacks/publish",
        )
    except AlmanackError as error:
        raise HTTPException(502, str(error)) from error
    return {"rule": receipt.rule}


@app.get("/articles/{id}")
def read(id: str) -> dict[str, Any]:
    found = database.execute("select state, published from article where id = ?", (id,)).fetchone()
    if found is None:
        raise HTTPException(404, "no such article")
    return dict(zip(("state", "published"), found, strict=True))


@app.post("/callbacks/publish")
async def publish(call: Annotated[Call, Depends(verified(webhook))]) -> dict[str, bool]:
    """For Almanack. May come twice."""
    changed = database.execute(
        """update article set state = 'PUBLISHED', published = published + 1
           where id = ? and state = 'WAITING'""",
        (call.subject.removeprefix("article:"),),
    )
    return {"took_effect": changed.rowcount == 1}


if __name__ == "__main__":
    host, _, port = LISTEN.rpartition(":")
    uvicorn.run(app, host=host, port=int(port), log_level="warning")
