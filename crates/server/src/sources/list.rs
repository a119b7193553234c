//! Pages of sources, by id.

use almanack_core::source::category::folder;
use almanack_core::source::check::FailureClass;
use almanack_core::source::policy::cadence::Cadence;
use almanack_core::source::{Attention, SourceId};
use almanack_core::store::SourceFilter;
use almanack_core::{both, lang::Say};

use super::{STATES, parse_cursor, parse_type, shown, view::SourcesView};
use crate::call::check_text;
use crate::prelude::*;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Only of this type: rss or custom.
    #[serde(rename = "type")]
    pub(crate) source_type: Option<String>,
    /// Only in this state: active, paused or ended.
    pub(crate) state: Option<String>,
    /// Only with this cadence: P0 to P7.
    pub(crate) cadence: Option<String>,
    /// Only sources that need attention: silent, failing, duplicate, credentials, or any.
    pub(crate) attention: Option<String>,
    /// Only sources whose last check failed: a failure class such as `dns`, or any.
    pub(crate) failure: Option<String>,
    /// Only sources in this category and below it, by whole folder names.
    pub(crate) category: Option<String>,
    /// Only sources whose name or address contains this.
    pub(crate) q: Option<String>,
    /// Page size, 1 to 500. Default: 50.
    pub(crate) limit: Option<usize>,
    /// The `next_cursor` of the previous page.
    pub(crate) cursor: Option<String>,
}

/// List sources by id.
///
/// A page examines at most 10,000 sources; it may be short or empty and still have a `next_cursor`.
#[utoipa::path(
    get, path = "/api/v1/sources", tag = "sources",
    params(ListQuery),
    responses((status = 200, description = "The page", body = SourcesView)),
)]
pub(crate) async fn list_sources(
    State(state): App,
    Asked(query): Asked<ListQuery>,
) -> Result<Json<SourcesView>> {
    let page = state.store.list_sources(&query.into_filter()?).await?;
    Ok(Json(SourcesView {
        sources: shown(&state, page.rows).await?,
        next_cursor: page.next.map(|last| paging::cursor(last.0)),
    }))
}

impl ListQuery {
    pub(crate) fn into_filter(self) -> Result<SourceFilter> {
        let page = paging::size(self.limit, PAGE_DEFAULT, PAGE_MAX)?;
        if self.state.iter().any(|s| !STATES.contains(&s.as_str())) {
            return Err(Problem::in_query(both!(
                "state must be active, paused or ended",
                "state 必须是 active、paused 或 ended"
            )));
        }
        let cadence = self.cadence.as_deref().map(str::parse::<Cadence>);
        let cadence = cadence
            .transpose()
            .map_err(|unknown| Problem::in_query(unknown.both()))?;
        let (attention, needs_attention) = one_or_any(self.attention.as_deref(), parse_attention)?;
        let (failure, failed) = one_or_any(self.failure.as_deref(), parse_failure)?;
        let after = self.cursor.as_deref().map(parse_cursor);
        Ok(SourceFilter {
            source_type: self.source_type.as_deref().map(parse_type).transpose()?,
            state: self.state,
            cadence,
            attention,
            needs_attention,
            failure,
            failed,
            category: in_category(self.category.as_deref())?,
            containing: self.q.map(|q| check_text(q, "q")).transpose()?,
            after: after.transpose()?.map(SourceId),
            limit: page,
            ..SourceFilter::default()
        })
    }
}

/// The requested value, or any.
fn one_or_any<T>(asked: Option<&str>, parse: fn(&str) -> Result<T>) -> Result<(Option<T>, bool)> {
    let one = asked.filter(|name| *name != "any").map(parse);
    Ok((one.transpose()?, asked == Some("any")))
}

fn parse_attention(text: &str) -> Result<Attention> {
    let detail = both!(
        "attention must be silent, truncated, identity, failing, duplicate, credentials, gone or any",
        "attention 必须是 silent、truncated、identity、failing、duplicate、credentials、gone 或 any"
    );
    Attention::parse(text).ok_or_else(|| Problem::in_query(detail))
}

fn parse_failure(text: &str) -> Result<FailureClass> {
    FailureClass::parse(text).ok_or_else(|| {
        let names = FailureClass::ALL.map(FailureClass::as_str).join(", ");
        Problem::in_query(both!(
            "failure must be any or one of {names}",
            "failure 必须是 any 或以下之一：{names}"
        ))
    })
}

/// The folder of a category filter.
pub(crate) fn in_category(text: Option<&str>) -> Result<Option<String>> {
    let folder = text.and_then(folder);
    folder.map(|it| check_text(it, "category")).transpose()
}
