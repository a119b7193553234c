//! Which sources are due (SS-08), and all of them counted (SS-09).

use std::collections::BTreeMap;

use almanack_core::source::{Attention, SourceType};
use almanack_core::{source::policy::cadence::Cadence, store::SourceNumbers};

use super::view::{SourceView, percent};
use super::{STATES, parse_type};
use crate::prelude::*;

/// Due sources when nobody says otherwise.
const DUE_DEFAULT: usize = 20;

/// Which due sources.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct DueQuery {
    /// Only of this type: rss or custom.
    #[serde(rename = "type")]
    source_type: Option<String>,
    /// How many at most: 1 to 500, 20 when nobody says otherwise.
    limit: Option<usize>,
}

/// Sources whose time has come.
#[derive(Serialize, ToSchema)]
pub(crate) struct DueView {
    /// Those that wait longest first.
    sources: Vec<SourceView>,
}

/// Active sources whose time has come and whom no failure keeps waiting, longest first.
///
/// `next_due_at` is here the time that the source chose itself, by which the list is ordered.
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
    let sources = due.into_iter().map(|source| {
        let next_due_at = source.stats.next_due_at;
        SourceView::of(source, next_due_at)
    });
    Ok(Json(DueView {
        sources: sources.collect(),
    }))
}

/// Which sources to count.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StatsQuery {
    /// Only of this type: rss or custom.
    #[serde(rename = "type")]
    source_type: Option<String>,
}

/// Sources counted: all of them and by type, or of the type asked for.
#[derive(Serialize, ToSchema)]
pub(crate) struct StatsView {
    #[serde(flatten)]
    numbers: NumbersView,
    /// The same by type; absent where one type was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    by_type: Option<BTreeMap<&'static str, NumbersView>>,
    /// Hours of delay that one check is worth, for the whole fleet; null before it was first set.
    price_hours: Option<f64>,
}

/// Sources counted.
#[derive(Serialize, ToSchema)]
pub(crate) struct NumbersView {
    /// Sources of any state.
    total_sources: u64,
    /// Those that were looked at.
    total_with_stats: u64,
    /// How many have which cadence.
    #[schema(example = json!({"P0": 3, "P2": 41}))]
    cadence_distribution: BTreeMap<&'static str, u64>,
    /// Active ones whose time has come.
    due_now: u64,
    /// Active ones that failures keep waiting.
    in_backoff: u64,
    /// Mean over sources of their hit rates, in percent.
    avg_hit_rate: f64,
    /// How many are in which state.
    states: BTreeMap<&'static str, u64>,
    /// How many want which attention of a person.
    attention: BTreeMap<&'static str, u64>,
    /// How many failed when they were last checked, by the class of the failure; classes without any are left out.
    #[schema(example = json!({"dns": 2, "timeout": 1}))]
    failures: BTreeMap<&'static str, u64>,
}

/// Sources counted: how many, by cadence, due, kept waiting, and how often a check brings something.
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

/// How many are in each state, also in those that none is in.
pub(crate) fn by_state(counted: &[(String, u64)]) -> BTreeMap<&'static str, u64> {
    let states = STATES.map(|state| {
        let found = counted.iter().find(|(name, _)| name == state);
        (state, found.map_or(0, |(_, count)| *count))
    });
    BTreeMap::from(states)
}
