//! The courtesy report: what was asked of hosts, and what publishers asked of us (SS-26).

use almanack_core::both;
use almanack_core::source::courtesy::{Counts, Day, DayCounts, HostCounts, KEPT_DAYS};
use almanack_core::store::CourtesyQuery;

use crate::prelude::*;

/// Default number of days.
const DAYS_DEFAULT: i64 = 7;
/// Longest name of a host.
const HOST_BYTES_MAX: usize = 255;

#[derive(Debug, Clone, Default, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ReportQuery {
    /// Only this host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) host: Option<String>,
    /// Number of days, today included, 1 to 90. Default: 7.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) days: Option<i64>,
    /// Number of hosts, 1 to 500. Default: 50.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) limit: Option<usize>,
}

/// What was asked of hosts within some days.
#[derive(Serialize, ToSchema)]
pub(crate) struct ReportView {
    /// The first day, UTC.
    #[schema(value_type = String, format = Date)]
    pub(crate) from: Day,
    /// The last day, UTC: today.
    #[schema(value_type = String, format = Date)]
    pub(crate) until: Day,
    /// Sums over all hosts and days.
    pub(crate) total: Shared<Counts>,
    /// Sums by host, the most requests first.
    pub(crate) hosts: Vec<Shared<HostCounts>>,
    /// Whether there are more hosts.
    pub(crate) more: bool,
    /// Sums by day, the newest first.
    pub(crate) days: Vec<Shared<DayCounts>>,
}

/// Counts, with the share of requests that were answered 304.
#[derive(Serialize, ToSchema)]
pub(crate) struct Shared<T> {
    #[serde(flatten)]
    pub(crate) counts: T,
    /// Share of requests that were answered 304, in percent.
    pub(crate) unchanged_share: f64,
}

impl<T> Shared<T> {
    fn of(counts: T, read: impl Fn(&T) -> &Counts) -> Self {
        let unchanged_share = unchanged_share(read(&counts));
        Self {
            counts,
            unchanged_share,
        }
    }
}

/// In percent, to one digit.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn unchanged_share(counts: &Counts) -> f64 {
    let share = counts.unchanged as f64 / counts.requests.max(1) as f64;
    (share * 1_000.0).round() / 10.0
}

/// Show what was asked of hosts, and whether publishers' requests were kept.
///
/// Every node adds its counts every 30 seconds; days are kept for 90 days.
#[utoipa::path(
    get, path = "/api/v1/sources/courtesy", tag = "sources",
    params(ReportQuery),
    responses((status = 200, description = "The report", body = ReportView)),
)]
pub(crate) async fn get_courtesy(
    State(state): App,
    Asked(query): Asked<ReportQuery>,
) -> Result<Json<ReportView>> {
    report(&state, &query).await.map(Json)
}

/// The report for an API call or a page.
pub(crate) async fn report(state: &AppState, query: &ReportQuery) -> Result<ReportView> {
    let limit = paging::size(query.limit, PAGE_DEFAULT, PAGE_MAX)?;
    let days = query.days.unwrap_or(DAYS_DEFAULT);
    if !(1..=KEPT_DAYS).contains(&days) {
        return Err(Problem::in_query(both!(
            "days must be 1 to 90",
            "days 必须为 1 到 90"
        )));
    }
    let host = query.host.as_deref().map(str::trim);
    if host.is_some_and(|host| host.len() > HOST_BYTES_MAX || host.contains(char::is_control)) {
        return Err(Problem::in_query(both!(
            "host must be a host's name or address",
            "host 必须是主机的名称或地址"
        )));
    }
    let until = Day::of(state.clock.now());
    let asked = CourtesyQuery {
        from: until.back(days - 1),
        host: host.map(str::to_lowercase),
        limit: limit + 1,
    };
    let mut hosts = state.store.load_courtesy_hosts(&asked).await?;
    let days = state.store.load_courtesy_days(&asked).await?;
    let mut total = Counts::default();
    for day in &days {
        total.add(&day.counts);
    }
    Ok(ReportView {
        from: asked.from,
        until,
        total: Shared::of(total, |it| it),
        more: paging::cut(&mut hosts, limit),
        hosts: hosts
            .into_iter()
            .map(|host| Shared::of(host, |it| &it.counts))
            .collect(),
        days: days
            .into_iter()
            .map(|day| Shared::of(day, |it| &it.counts))
            .collect(),
    })
}
