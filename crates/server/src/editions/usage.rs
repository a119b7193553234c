//! What models cost the editions of a name, by day and month, and the caps on it (ED-44).

use almanack_core::both;
use almanack_core::edition::allowance::{Caps, Usage};
use jiff::civil::Date;

use super::{editions_named, parse_date, parse_name};
use crate::prelude::*;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct UsageQuery {
    /// Name of the edition. Default: the one that is configured without.
    name: Option<String>,
    /// Month, written YYYY-MM. Default: the present one, in the time zone of the edition.
    month: Option<String>,
}

/// What models cost the editions of a name in a month.
#[derive(Serialize, ToSchema)]
#[schema(as = EditionUsageView)]
pub(crate) struct UsageView {
    /// Name of the edition.
    #[schema(example = "default")]
    name: String,
    /// The month, in the time zone of the edition.
    #[schema(example = "2026-01")]
    month: String,
    /// All of the month. Requests under way are counted with the most they can cost.
    total: Usage,
    /// What the caps of the configuration allow.
    caps: Caps,
    /// Days with a request, the first one first.
    days: Vec<DayView>,
}

/// What models cost in a day.
#[derive(Serialize, ToSchema)]
#[schema(as = EditionUsageDayView)]
struct DayView {
    #[schema(format = Date, example = "2026-01-05")]
    date: String,
    #[serde(flatten)]
    usage: Usage,
}

/// Show what models cost the editions of a name in a month, and its caps.
#[utoipa::path(
    get, path = "/api/v1/editions/usage", tag = "editions",
    params(UsageQuery),
    responses((status = 200, description = "The month", body = UsageView)),
)]
pub(crate) async fn usage(
    State(state): App,
    Asked(query): Asked<UsageQuery>,
) -> Result<Json<UsageView>> {
    let name = query.name.as_deref().map(parse_name).transpose()?;
    let editions = editions_named(&state, name.unwrap_or_default())?;
    let month = query.month.as_deref().map(parse_month).transpose()?;
    let first = month.unwrap_or_else(|| editions.today().date);
    let spending = editions.spending(first).await?;
    let days = spending.days.into_iter().map(|(on, usage)| DayView {
        date: on.to_string(),
        usage,
    });
    Ok(Json(UsageView {
        name: editions.settings.name.to_string(),
        month: first.strftime("%Y-%m").to_string(),
        total: spending.month,
        caps: editions.settings.caps,
        days: days.collect(),
    }))
}

/// The first day of a month.
fn parse_month(text: &str) -> Result<Date> {
    parse_date(&format!("{text}-01")).map_err(|_| {
        let detail = both!(
            "month must be a month since 1970, written YYYY-MM, such as 2026-01",
            "month 必须是 1970 年以来的月份，写作 YYYY-MM，如 2026-01"
        );
        Problem::invalid("month", detail)
    })
}
