//! Statements about texts that several editions use.

pub(crate) const LOAD: &str =
    "select body from shared_text where text_key = $1 and kept_at_us >= $2";
/// Two that fetch one text at once keep the later one: both are what the outside answered.
pub(crate) const KEEP: &str = "insert into shared_text (text_key, kept_at_us, body) \
     values ($1, $2, $3) on conflict (text_key) do update set kept_at_us = excluded.kept_at_us, \
     body = excluded.body";
pub(crate) const PRUNE: &str = "delete from shared_text where text_key in \
     (select text_key from shared_text where kept_at_us < $1 order by kept_at_us limit $2)";
