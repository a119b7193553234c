//! Statements about nodes and tokens.

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
/// What [`crate::row::troubles`] reads. Those of a run that was forgotten in between belong to nobody.
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
