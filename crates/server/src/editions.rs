//! Editions: their state, documents and actions.
//!
//! Three interfaces over the engine's one facade ([`Editions`]): the founding documents' endpoints
//! at the root ([`compat`]), the same and more below `/api/v1/editions`, and pages for readers
//! ([`pages`]). Work that takes longer than an answer may continues without its caller ([`runs`]).

pub(crate) mod acts;
pub(crate) mod compat;
pub(crate) mod document;
pub(crate) mod list;
pub(crate) mod pages;
pub(crate) mod rebuild;
pub(crate) mod redelivery;
pub(crate) mod runs;
mod view;

use almanack_core::edition::plan::Waiting;
use almanack_core::edition::{Account, State as EditionState};
use almanack_engine::editions::{Editions, End, Error};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use jiff::civil::Date;

use self::view::EditionDetailView;
use crate::call::named;
use crate::prelude::*;

/// Earlier days are a mistake of the caller.
const FIRST_DAY: Date = jiff::civil::date(1970, 1, 1);

/// The day a path names.
pub(crate) struct Dated(pub(crate) Date);

impl<S: Send + Sync> FromRequestParts<S> for Dated {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let text: String = named(parts, state).await?;
        parse_date(&text).map(Self)
    }
}

/// Parses a day, in the one form that is also written.
pub(crate) fn parse_date(text: &str) -> Result<Date> {
    let date = text.parse::<Date>().ok();
    let date = date.filter(|date| date.to_string() == text && *date >= FIRST_DAY);
    date.ok_or_else(|| {
        let detail = "date must be a day since 1970, written YYYY-MM-DD, such as 2026-01-05";
        Problem::invalid("date", detail)
    })
}

/// The edition engine, if editions are configured.
pub(crate) fn editions(state: &AppState) -> Result<&Arc<Editions>> {
    state.editions.as_ref().ok_or_else(|| {
        let detail = "editions are not configured; `edition.enabled = true` and the section [edition] of the \
                      configuration make this node build them";
        Problem::new(Code::NotConfigured, detail)
    })
}

/// Repeating these calls is harmless, so no idempotency key is stored.
fn refuse_key(call: &Call) -> Result<()> {
    call.refuse_key_because(
        "editions do not accept an Idempotency-Key; repeating the call is harmless",
    )
}

/// How a run ended, for people.
struct Reported {
    /// Whether the edition is published.
    published: bool,
    /// In a sentence.
    message: String,
}

/// Describes how a run ended; a failure outside Almanack is a problem.
fn report(account: &Account, end: &End) -> Result<Reported> {
    let edition = &account.edition;
    let (date, state) = (edition.date, edition.state);
    let unfinished = |why: String| Reported {
        published: false,
        message: format!("the edition of {date} is {state}: {why}"),
    };
    Ok(match end {
        End::Rests(_) if account.edition.is_published() => Reported {
            published: true,
            message: format!("the edition of {date} is published"),
        },
        End::Rests(EditionState::Aggregating) => {
            let open = open_destinations(account).join(", ");
            unfinished(format!(
                "{open} refused it and is not retried; send it again or skip it"
            ))
        }
        End::Rests(_) => unfinished(reason(account)),
        End::Waits(Waiting::Delivery(at)) => {
            let open = open_destinations(account).join(", ");
            unfinished(format!("{open} refused it; next attempt at {at}"))
        }
        End::Waits(waiting) => unfinished(waiting.to_string()),
        End::More => unfinished("work is left".to_owned()),
        End::Failed => {
            let detail = format!("the edition of {date} stays {state}: {}", reason(account));
            return Err(Problem::new(Code::EditionFailed, detail));
        }
    })
}

fn reason(account: &Account) -> String {
    let reason = account.edition.reason.clone();
    reason.unwrap_or_else(|| "an external service failed".to_owned())
}

/// Destinations that have not received it yet.
fn open_destinations(account: &Account) -> Vec<&str> {
    let open = account
        .deliveries
        .iter()
        .filter(|delivery| !delivery.state.is_settled());
    let mut names: Vec<&str> = open.map(|delivery| delivery.destination.as_str()).collect();
    names.dedup();
    names
}

/// Show one edition with its stories, batches, deliveries and alerts.
#[utoipa::path(
    get, path = "/api/v1/editions/{date}", tag = "editions",
    responses((status = 200, description = "The edition", body = EditionDetailView)),
)]
pub(crate) async fn get_edition(
    State(state): App,
    Dated(date): Dated,
) -> Result<Json<EditionDetailView>> {
    let status = editions(&state)?.status(date).await?;
    let status = status.ok_or(Error::Unknown(date))?;
    Ok(Json(EditionDetailView::of(status)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_read_only_as_it_is_written() {
        assert_eq!(
            parse_date("2026-01-05").ok(),
            Some(jiff::civil::date(2026, 1, 5))
        );
        for text in [
            "",
            "today",
            "20260105",
            "2026-1-5",
            "2026-02-30",
            "2026-01-05T08:00:00Z",
            " 2026-01-05",
            "1969-12-31",
            "+002026-01-05",
            "2026-01-05[UTC]",
            "２０２６-01-05",
        ] {
            assert_eq!(
                parse_date(text).err().map(|p| p.code),
                Some(Code::InvalidValue),
                "{text}"
            );
        }
    }
}
