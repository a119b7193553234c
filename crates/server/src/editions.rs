//! Editions: their state, documents and actions.
//!
//! Three interfaces over the engine's one facade ([`Editions`]): the founding documents' endpoints
//! at the root ([`compat`]), the same and more below `/api/v1/editions`, and pages for readers
//! ([`pages`]). Work that takes longer than an answer may continues without its caller ([`runs`]).

pub(crate) mod acts;
pub(crate) mod compat;
pub(crate) mod desk;
pub(crate) mod document;
pub(crate) mod list;
pub(crate) mod pages;
pub(crate) mod prompts;
pub(crate) mod rebuild;
pub(crate) mod redelivery;
pub(crate) mod review;
pub(crate) mod runs;
pub(crate) mod usage;
mod view;

use almanack_core::edition::{Account, EditionId, EditionName, State as EditionState};
use almanack_core::edition::{day::FIRST_DAY, hold::HoldReason, plan::Waiting};
use almanack_core::{both, lang::Say};
use almanack_engine::editions::{Editions, End, Error};
use jiff::civil::Date;

use self::view::EditionDetailView;
use crate::call::in_path;
use crate::prelude::*;

in_path! {
    /// The edition a path names: `DATE`, or `NAME@DATE` for one with a name.
    Dated(EditionId), |text: String| parse_id(&text)
}

/// Parses what identifies an edition.
pub(crate) fn parse_id(text: &str) -> Result<EditionId> {
    if !text.contains('@') {
        return parse_date(text).map(EditionId::from);
    }
    let id = text.parse::<EditionId>().ok();
    id.filter(|id| id.date >= FIRST_DAY).ok_or_else(|| {
        let detail = both!("an edition is a day since 1970, written YYYY-MM-DD, or NAME@YYYY-MM-DD if it has a name", "日报是 1970 年以来的一天，写作 YYYY-MM-DD；有名称时写作 NAME@YYYY-MM-DD");
        Problem::invalid("date", detail)
    })
}

/// Parses a day, in the one form that is also written.
pub(crate) fn parse_date(text: &str) -> Result<Date> {
    let date = text.parse::<Date>().ok();
    let date = date.filter(|date| date.to_string() == text && *date >= FIRST_DAY);
    date.ok_or_else(|| {
        let detail = both!(
            "date must be a day since 1970, written YYYY-MM-DD, such as 2026-01-05",
            "date 必须是 1970 年以来的一天，写作 YYYY-MM-DD，如 2026-01-05"
        );
        Problem::invalid("date", detail)
    })
}

/// Who makes the default edition, if editions are configured.
pub(crate) fn editions(state: &AppState) -> Result<&Arc<Editions>> {
    state.editions.default_edition().ok_or_else(|| {
        let detail = both!("editions are not configured; `edition.enabled = true` and the section [edition] of the configuration make this node build them", "尚未配置日报；在配置中设置 `edition.enabled = true` 和 [edition] 一节，本节点就会生成日报");
        Problem::new(Code::NotConfigured, detail)
    })
}

/// Who makes this edition.
pub(crate) fn editions_of(state: &AppState, id: EditionId) -> Result<&Arc<Editions>> {
    match state.editions.get(id.name) {
        Some(editions) => Ok(editions),
        None if id.name.is_default() => editions(state),
        None => Err(Error::Unknown(id).into()),
    }
}

/// Any maker of editions, for what is about all of them.
pub(crate) fn any_editions(state: &AppState) -> Result<&Arc<Editions>> {
    state.editions.any().map_or_else(|| editions(state), Ok)
}

/// The maker of the editions of a name.
pub(crate) fn editions_named(state: &AppState, name: EditionName) -> Result<&Arc<Editions>> {
    match state.editions.get(name) {
        Some(editions) => Ok(editions),
        None if name.is_default() => editions(state),
        None => {
            let detail = both!(
                "this node makes no edition named `{name}`",
                "本节点不生成名为 `{name}` 的日报"
            );
            Err(Problem::new(Code::NoSuchEdition, detail))
        }
    }
}

/// Parses the name of an edition.
pub(crate) fn parse_name(text: &str) -> Result<EditionName> {
    EditionName::parse(text).map_err(|error| Problem::invalid("name", error.both()))
}

/// Repeating these calls is harmless, so no idempotency key is stored.
fn refuse_key(call: &Call) -> Result<()> {
    call.refuse_key_because(both!(
        "editions do not accept an Idempotency-Key; repeating the call is harmless",
        "日报不接受 Idempotency-Key；重复调用没有害处"
    ))
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
    let (id, state) = (edition.id, edition.state);
    let unfinished = |why: String| Reported {
        published: false,
        message: format!("the edition of {id} is {state}: {why}"),
    };
    Ok(match end {
        End::Rests(_) if account.edition.is_published() => Reported {
            published: true,
            message: format!("the edition of {id} is published"),
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
        End::Waits(Waiting::Held(HoldReason::Quality, _)) => {
            unfinished(format!("it is held, {}", reason(account)))
        }
        End::Waits(waiting) => unfinished(waiting.to_string()),
        End::More => unfinished("work is left".to_owned()),
        End::Failed => {
            let detail = format!("the edition of {id} stays {state}: {}", reason(account));
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
    Dated(id): Dated,
) -> Result<Json<EditionDetailView>> {
    let status = editions_of(&state, id)?.status(id).await?;
    let status = status.ok_or(Error::Unknown(id))?;
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
