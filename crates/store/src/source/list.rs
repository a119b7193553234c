//! Pages of sources: by number, narrowed by what people filter by, with a bounded cost.

use almanack_core::{
    source::{
        Attention, Source, SourceId, SourceType, check::FailureClass, policy::cadence::Cadence,
    },
    store::{Page, Result, SourceFilter},
};

use crate::{
    category::in_folder,
    row::{self, examined, one_more, values},
    session::Session,
};

/// A page by number, up to `$9`. A filter that is not set is null; one that few fit names the index
/// to walk. `replace` finds a part of a text in both databases, and both lower only ASCII (`collate
/// "C"`).
macro_rules! list {
    ($type:literal, $state:literal, $cadence:literal, $attention:literal) => {
        concat!(
            "select ",
            columns!(),
            " from source s where ",
            $type,
            " and ",
            $state,
            " and ",
            $cadence,
            " and ",
            $attention,
            " and (cast($5 as text) is null or s.last_error_class = $5 \
             or ($5 = 'any' and s.last_error_class is not null)) \
             and (cast($6 as text) is null or replace(lower(s.name), $6, '') <> lower(s.name) \
             or replace(lower(s.address), $6, '') <> lower(s.address)) \
             and (cast($7 as text) is null or ",
            in_folder!("s.category", "cast($7 as text)"),
            ") and s.source_id > $8 and s.source_id <= $9 order by s.source_id limit $10"
        )
    };
}
/// The same, with the filters that may not be set.
macro_rules! list_by {
    (nothing) => {
        list_by!(@ "(cast($4 as text) is null or s.attention = $4)")
    };
    (@ $attention:literal) => {
        list!(
            "(cast($1 as text) is null or s.source_type = $1)",
            "(cast($2 as text) is null or s.state = $2)",
            "(cast($3 as text) is null or s.cadence = $3)",
            $attention
        )
    };
    (attention) => {
        list_by!(@ "s.attention is not null and (cast($4 as text) is null or s.attention = $4)")
    };
    (resting) => {
        list!(
            "(cast($1 as text) is null or s.source_type = $1)",
            "s.state <> 'active' and s.state = $2",
            "(cast($3 as text) is null or s.cadence = $3)",
            "(cast($4 as text) is null or s.attention = $4)"
        )
    };
}
pub(crate) const LIST: &str = list_by!(nothing);
pub(crate) const LIST_ATTENTION: &str = list_by!(attention);
pub(crate) const LIST_RESTING: &str = list_by!(resting);

/// The last source that a page after `$1` examines, with `$2` before it, along one of these
/// indexes.
macro_rules! examined_to {
    ($which:literal) => {
        concat!(
            "select source_id from source where ",
            $which,
            "source_id > $1 order by source_id limit 1 offset $2"
        )
    };
}
pub(crate) const ALL_TO: &str = examined_to!("");
pub(crate) const ATTENTION_TO: &str = examined_to!("attention is not null and ");
pub(crate) const RESTING_TO: &str = examined_to!("state <> 'active' and ");

/// A page's text, and the text that says how far it may go. Few want attention and few rest, so
/// these are walked through for themselves; of types and cadences each is common.
fn list(filter: &SourceFilter) -> (&'static str, &'static str) {
    let state = filter.state.as_deref();
    if filter.needs_attention || filter.attention.is_some() {
        (LIST_ATTENTION, ATTENTION_TO)
    } else if state.is_some_and(|state| state != "active") {
        (LIST_RESTING, RESTING_TO)
    } else {
        (LIST, ALL_TO)
    }
}

/// How the last look must have failed, as the texts compare it.
fn failure(filter: &SourceFilter) -> Option<&'static str> {
    let any = filter.failed.then_some("any");
    filter.failure.map(FailureClass::as_str).or(any)
}

/// What a name or an address must contain, as the texts compare it.
fn containing(filter: &SourceFilter) -> Option<String> {
    let part = filter.containing.as_deref()?.to_ascii_lowercase();
    (!part.is_empty()).then_some(part)
}

pub(super) async fn page(
    session: &dyn Session,
    filter: &SourceFilter,
) -> Result<Page<Source, SourceId>> {
    let (list, to) = list(filter);
    let after = filter.after.map_or(0, |id| id.0);
    let among = values![after, examined(filter.among)];
    let to = session.number(to, &among).await?;
    let values = values![
        filter.source_type.map(SourceType::as_str),
        &filter.state,
        filter.cadence.map(Cadence::as_str),
        filter.attention.map(Attention::as_str),
        failure(filter),
        containing(filter),
        &filter.category,
        after,
        to.unwrap_or(i64::MAX),
        one_more(filter.limit),
    ];
    let found = session.rows(list, &values, |found| {
        Ok((found.get(0)?, row::SOURCES.read(found)))
    });
    let page = Page::cut(found.await?, filter.limit, to.map(SourceId), |(id, _)| *id);
    Ok(page.filter_map(|(_, source)| source))
}
