//! Due sources (SS-08), and source counts (SS-09).

use std::collections::BTreeMap;

use almanack_core::source::{Attention, SourceType};
use almanack_core::{source::policy::cadence::Cadence, store::SourceNumbers};

use super::view::{SourceView, percent};
use super::{STATES, parse_type, shown};
use crate::prelude::*;

/// Default number of due sources.
const DUE_DEFAULT: usize = 20;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct DueQuery {
    /// Only of this type: rss or custom.
    #[serde(rename = "type")]
    source_type: Option<String>,
    /// Number of sources, 1 to 500. Default: 20.
    limit: Option<usize>,
}

/// Due sources.
#[derive(Serialize, ToSchema)]
pub(crate) struct DueView {
    /// The longest overdue first.
    sources: Vec<SourceView>,
}

/// List due active sources that are not in backoff, the longest overdue first.
///
/// Not listed: sources whose host asked for a wait. `next_due_at` may be some seconds ahead while a
/// source waits for its turn at a busy host.
#[utoipa::path(
    get, path = "/api/v1/sources/due", tag = "sources",
    params(DueQuery),
    responses((status = 200, description = "The due sources", body = DueView)),
)]
pub(crate) async fn list_due(
    State(state): App,
    Asked(query): Asked<DueQuery>,
) -> Result<Json<DueView>> {
    let limit = paging::size(query.limit, DUE_DEFAULT, PAGE_MAX)?;
    let of_type = query.source_type.as_deref().map(parse_type).transpose()?;
    let now = state.clock.now();
    let due = state.store.load_due_sources(of_type, now, limit).await?;
    let sources = shown(&state, due).await?;
    Ok(Json(DueView { sources }))
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StatsQuery {
    /// Only of this type: rss or custom.
    #[serde(rename = "type")]
    source_type: Option<String>,
}

/// Source counts: in total and by type, or of the requested type.
#[derive(Serialize, ToSchema)]
pub(crate) struct StatsView {
    #[serde(flatten)]
    numbers: NumbersView,
    /// Counts by type; absent if one type was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    by_type: Option<BTreeMap<&'static str, NumbersView>>,
    /// Hours of delay that one check is worth, for the whole fleet; null until it is first set.
    price_hours: Option<f64>,
}

/// Sources counted.
#[derive(Serialize, ToSchema)]
pub(crate) struct NumbersView {
    /// Sources in any state.
    total_sources: u64,
    /// Sources that were checked.
    total_with_stats: u64,
    /// Counts by cadence.
    #[schema(example = json!({"P0": 3, "P2": 41}))]
    cadence_distribution: BTreeMap<&'static str, u64>,
    /// Due active sources.
    due_now: u64,
    /// Active sources in backoff after failures.
    in_backoff: u64,
    /// Mean hit rate of sources, in percent.
    avg_hit_rate: f64,
    /// Counts by state.
    states: BTreeMap<&'static str, u64>,
    /// Sources that need attention, by reason.
    attention: BTreeMap<&'static str, u64>,
    /// Sources whose last check failed, by failure class; classes without any are omitted.
    #[schema(example = json!({"dns": 2, "timeout": 1}))]
    failures: BTreeMap<&'static str, u64>,
}

/// Show source counts: total, by cadence, due, in backoff, and the mean hit rate.
#[utoipa::path(
    get, path = "/api/v1/sources/stats", tag = "sources",
    params(StatsQuery),
    responses((status = 200, description = "The numbers", body = StatsView)),
)]
pub(crate) async fn get_stats(
    State(state): App,
    Asked(query): Asked<StatsQuery>,
) -> Result<Json<StatsView>> {
    let of_type = query.source_type.as_deref().map(parse_type).transpose()?;
    let by_type = match of_type {
        Some(_) => None,
        None => Some(count_types(&state).await?),
    };
    let fleet = state.store.load_fleet().await?;
    Ok(Json(StatsView {
        numbers: count(&state, of_type).await?,
        by_type,
        price_hours: fleet.map(|fleet| fleet.price),
    }))
}

async fn count_types(state: &AppState) -> Result<BTreeMap<&'static str, NumbersView>> {
    let mut counted = BTreeMap::new();
    for of_type in SourceType::ALL {
        counted.insert(of_type.as_str(), count(state, Some(of_type)).await?);
    }
    Ok(counted)
}

async fn count(state: &AppState, of_type: Option<SourceType>) -> Result<NumbersView> {
    let now = state.clock.now();
    let numbers = state.store.count_sources(of_type, now).await?;
    Ok(numbers.into())
}

impl From<SourceNumbers> for NumbersView {
    fn from(numbers: SourceNumbers) -> Self {
        let cadences = Cadence::ALL.map(|cadence| (cadence.as_str(), 0));
        let mut cadence_distribution = BTreeMap::from(cadences);
        let known = numbers.cadence_distribution.into_iter();
        cadence_distribution.extend(known.map(|(cadence, count)| (cadence.as_str(), count)));
        let wanted = Attention::ALL.map(|attention| (attention.as_str(), 0));
        let mut attention = BTreeMap::from(wanted);
        let known = numbers.attention.into_iter();
        attention.extend(known.map(|(wanted, count)| (wanted.as_str(), count)));
        Self {
            total_sources: numbers.total_sources,
            total_with_stats: numbers.total_with_stats,
            cadence_distribution,
            due_now: numbers.due_now,
            in_backoff: numbers.in_backoff,
            avg_hit_rate: percent(numbers.avg_hit_rate),
            states: by_state(&numbers.states),
            attention,
            failures: numbers
                .failures
                .into_iter()
                .map(|(class, count)| (class.as_str(), count))
                .collect(),
        }
    }
}

/// Counts of all states, including empty ones.
pub(crate) fn by_state(counted: &[(String, u64)]) -> BTreeMap<&'static str, u64> {
    let states = STATES.map(|state| {
        let found = counted.iter().find(|(name, _)| name == state);
        (state, found.map_or(0, |(_, count)| *count))
    });
    BTreeMap::from(states)
}
