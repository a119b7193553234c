//! Statements about nodes and tokens.

use almanack_core::{
    alert::trouble::{NodeTroubles, Trouble},
    clock::Mark,
    store::{Error, Node, NodeStore, Result, TokenStore},
    token::Token,
};
use async_trait::async_trait;
use jiff::Timestamp;

use crate::{
    database::{Database, SqlStore},
    row::{self, instant, listing, period_micros, values},
    sign_in::LOAD_GUARDED_SINCE,
};

/// What [`crate::row::node`] reads.
macro_rules! node_columns {
    () => {
        "session, name, version, started_at_us, seen_at_us, skew_us"
    };
}
/// What [`crate::row::token`] reads.
macro_rules! token_columns {
    () => {
        "name, hash, scope, created_at_us, expires_at_us, revoked_at_us"
    };
}

pub(crate) const SAVE_NODE: &str = concat!(
    "insert into node (",
    node_columns!(),
    ") values ($1, $2, $3, $4, $5, $6) on conflict (session) do update set \
     seen_at_us = excluded.seen_at_us, skew_us = excluded.skew_us"
);
pub(crate) const LOAD_NODES: &str = concat!(
    "select ",
    node_columns!(),
    " from node order by name, started_at_us"
);
pub(crate) const FORGET_NODE: &str = "delete from node where session = $1";
pub(crate) const SAVE_TROUBLES: &str = "insert into node_trouble (session, troubles) \
     values ($1, $2) on conflict (session) do update set troubles = excluded.troubles";
pub(crate) const FORGET_TROUBLES: &str = "delete from node_trouble where session = $1";
/// What [`crate::row::troubles`] reads. Those of a run that was forgotten in between belong to no
/// node.
pub(crate) const LOAD_TROUBLES: &str = "select node.name, node.seen_at_us, node_trouble.troubles \
     from node_trouble join node on node.session = node_trouble.session \
     order by node.name, node.session";

pub(crate) const SAVE_TOKEN: &str = concat!(
    "insert into token (",
    token_columns!(),
    ") values ($1, $2, $3, $4, $5, null) on conflict (name) do nothing"
);
pub(crate) const LOAD_TOKEN: &str =
    concat!("select ", token_columns!(), " from token where hash = $1");
pub(crate) const LOAD_TOKENS: &str =
    concat!("select ", token_columns!(), " from token order by name");
pub(crate) const REVOKE_TOKEN: &str =
    "update token set revoked_at_us = $1 where name = $2 and revoked_at_us is null";

/// What [`crate::row::mark`] reads.
macro_rules! clock_columns {
    () => {
        "at_us, uptime_us, boot, revision"
    };
}
/// There is one row. A node that has not heard yet of what a person accepted does not undo it.
pub(crate) const SAVE_CLOCK: &str = concat!(
    "insert into clock (name, ",
    clock_columns!(),
    ") values ('machine', $1, $2, $3, $4) on conflict (name) do update set at_us = excluded.at_us, \
     uptime_us = excluded.uptime_us, boot = excluded.boot, revision = excluded.revision \
     where clock.revision <= excluded.revision"
);
pub(crate) const LOAD_CLOCK: &str = concat!("select ", clock_columns!(), " from clock");

#[async_trait]
impl<D: Database> NodeStore for SqlStore<D> {
    async fn save_node(&self, node: &Node) -> Result<()> {
        let values = values![
            &node.session,
            &node.name,
            &node.version,
            node.started_at,
            node.seen_at,
            node.skew_us,
        ];
        self.execute("save node", SAVE_NODE, values).await.map(drop)
    }

    async fn load_nodes(&self) -> Result<Vec<Node>> {
        let listed = listing("node", row::node);
        self.listed("load nodes", LOAD_NODES, values![], listed)
            .await
    }

    async fn forget_node(&self, session: &str) -> Result<()> {
        self.execute("forget node", FORGET_NODE, values![session])
            .await?;
        // What a crash leaves here belongs to no node, and is never read.
        self.save_troubles(session, &[]).await
    }

    async fn save_troubles(&self, session: &str, troubles: &[Trouble]) -> Result<()> {
        let saved = if troubles.is_empty() {
            self.execute("forget troubles", FORGET_TROUBLES, values![session])
                .await
        } else {
            let values = values![session, Trouble::write_all(troubles)];
            self.execute("save troubles", SAVE_TROUBLES, values).await
        };
        saved.map(drop)
    }

    async fn load_troubles(&self) -> Result<Vec<NodeTroubles>> {
        let listed = listing("node_trouble", row::troubles);
        self.listed("load troubles", LOAD_TROUBLES, values![], listed)
            .await
    }

    async fn save_clock(&self, mark: &Mark) -> Result<bool> {
        let uptime = period_micros(mark.uptime);
        let values = values![mark.at, uptime, &mark.boot, mark.revision];
        Ok(self.execute("save clock", SAVE_CLOCK, values).await? == 1)
    }

    async fn load_clock(&self) -> Result<Option<Mark>> {
        self.one("load clock", LOAD_CLOCK, values![], row::mark)
            .await
    }
}

#[async_trait]
impl<D: Database> TokenStore for SqlStore<D> {
    async fn save_token(&self, token: &Token) -> Result<()> {
        let values = values![
            &token.name,
            &token.hash,
            token.scope.as_str(),
            token.created_at,
            token.expires_at,
        ];
        let saved = self.execute("save token", SAVE_TOKEN, values).await?;
        taken_unless(saved == 1, "token", &token.name)
    }

    async fn load_token(&self, hash: &str) -> Result<Option<Token>> {
        self.one("load token", LOAD_TOKEN, values![hash], row::token)
            .await
    }

    async fn load_tokens(&self) -> Result<Vec<Token>> {
        self.listed("load tokens", LOAD_TOKENS, values![], row::TOKENS)
            .await
    }

    async fn revoke_token(&self, name: &str, now: Timestamp) -> Result<bool> {
        let revoked = self.execute("revoke token", REVOKE_TOKEN, values![now, name]);
        Ok(revoked.await? == 1)
    }

    async fn load_guarded_since(&self) -> Result<Option<Timestamp>> {
        let since = self.number("load access guard", LOAD_GUARDED_SINCE, values![]);
        since.await?.map(instant).transpose()
    }
}

/// Names are given once.
pub(crate) fn taken_unless(saved: bool, what: &'static str, name: &str) -> Result<()> {
    if saved {
        return Ok(());
    }
    let name = name.to_owned();
    Err(Error::Taken { what, name })
}
