//! `/review/{date}`: a person with a signed link reads an edition and decides about it (ED-42).
//!
//! The link is all the authority that is asked for, so it says no more than that it is wrong where
//! it is wrong. Opening it changes nothing: programs that preview links open them; only the form on
//! the page decides. The signature is in the query, which is not logged.

use almanack_core::both;
use almanack_core::edition::hold::{Hold, OnSilence, SILENCE, Verdict};
use almanack_core::edition::{Edition, review::Review, turn::Meant};
use almanack_engine::editions::Error;
use axum::extract::{Path, Query};
use axum::{Extension, Form, Router, routing::get};
use maud::{Markup, html};

use super::pages::html as pages;
use super::{editions_of, parse_id};
use crate::prelude::*;
use crate::problem::Page;
use almanack_core::{lang::Lang, say};

/// Who decided, for those who come by a link.
const BY: &str = "link";

pub(crate) fn routes() -> Router<Arc<AppState>> {
    Router::new().route("/review/{date}", get(show).post(decide))
}

#[derive(Deserialize)]
struct Link {
    revision: u32,
    since: i64,
    expires: i64,
    signature: String,
}

#[derive(Deserialize)]
struct Answered {
    act: Act,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Act {
    Approve,
    Reject,
}

/// What is said to whoever has a link that does not work (any more).
enum Refused {
    /// It is not one of ours, or it was changed.
    Wrong,
    Expired,
    /// A newer revision replaced what it is about.
    Replaced,
    /// It was decided.
    Decided,
}

async fn show(
    State(state): App,
    Path(date): Path<String>,
    link: Result<Query<Link>, axum::extract::rejection::QueryRejection>,
) -> Result<Response> {
    let lang = language(&state);
    let review = match check(&state, &date, link.ok().map(|Query(link)| link)) {
        Ok(review) => review,
        Err(refused) => return Ok(refusal(lang, &refused, None)),
    };
    let edition = match known(&state, &review).await? {
        Ok(edition) => edition,
        Err((refused, edition)) => return Ok(refusal(lang, &refused, edition.as_ref())),
    };
    let document = editions_of(&state, review.id)?.show(review.id, Some(review.revision));
    let document = document.await?;
    let title = format!("{} · {}", document.inputs.title, document.inputs.date);
    let stories = pages::stories(&document).map_err(Error::from)?;
    let body = html! {
        header {
            h1 { (document.inputs.title) }
            p { time datetime=(review.id.date) { (review.id.date) } }
            p { strong { (lang.pick("This edition waits for approval. Nothing has been sent.", "本期日报等待批准，尚未发送。")) } }
            @if let Some(hold) = &edition.hold { p { (then(lang, hold)) } }
            (buttons(lang))
        }
        main { (stories) }
        footer { (buttons(lang)) }
    };
    Ok(page(StatusCode::OK, lang, &title, &body))
}

async fn decide(
    State(state): App,
    Path(date): Path<String>,
    link: Result<Query<Link>, axum::extract::rejection::QueryRejection>,
    answered: Result<Form<Answered>, axum::extract::rejection::FormRejection>,
) -> Result<Response> {
    let lang = language(&state);
    let review = match check(&state, &date, link.ok().map(|Query(link)| link)) {
        Ok(review) => review,
        Err(refused) => return Ok(refusal(lang, &refused, None)),
    };
    let Ok(Form(Answered { act })) = answered else {
        let detail = both!(
            "the form says neither approve nor reject",
            "表单既没有批准也没有拒绝"
        );
        return Err(Problem::new(Code::BadRequest, detail));
    };
    let meant = Meant {
        revision: Some(review.revision),
        since: review.since(),
    };
    let editions = editions_of(&state, review.id)?;
    let done = match act {
        Act::Approve => editions.approve(review.id, meant, BY).await,
        Act::Reject => editions.reject(review.id, meant, BY).await,
    };
    match done {
        Ok(_) => Ok(decided(lang, act)),
        // Somebody was faster.
        Err(Error::NotNow(_)) => match known(&state, &review).await? {
            Err((refused, edition)) => Ok(refusal(lang, &refused, edition.as_ref())),
            Ok(edition) => Ok(refusal(lang, &Refused::Decided, Some(&edition))),
        },
        Err(error) => Err(error.into()),
    }
}

/// The review that a link names, if it is signed for that and still good.
fn check(state: &AppState, date: &str, link: Option<Link>) -> Result<Review, Refused> {
    let link = link.ok_or(Refused::Wrong)?;
    let review = Review {
        id: parse_id(date).map_err(|_| Refused::Wrong)?,
        revision: link.revision,
        since_us: link.since,
        expires_at: Timestamp::from_second(link.expires).map_err(|_| Refused::Wrong)?,
    };
    let reporting = state.reporting.get();
    let reporting = reporting.as_ref().as_ref().ok_or(Refused::Wrong)?;
    if !review.is_signed(&*reporting.verifier, &link.signature) {
        return Err(Refused::Wrong);
    }
    if review.has_expired(state.clock.now()) {
        return Err(Refused::Expired);
    }
    Ok(review)
}

type Known = Result<Edition, (Refused, Option<Edition>)>;

/// The edition, if it is still the wait that the link is about.
async fn known(state: &AppState, review: &Review) -> Result<Known> {
    let edition = match editions_of(state, review.id)?.look(review.id).await {
        Err(Error::Unknown(_)) => return Ok(Err((Refused::Wrong, None))),
        account => account?.edition,
    };
    if edition.revision != review.revision {
        return Ok(Err((Refused::Replaced, None)));
    }
    let same = |hold: &Hold| hold.since.as_microsecond() == review.since_us;
    let waits = edition
        .hold
        .as_ref()
        .is_some_and(|hold| hold.is_waiting() && same(hold));
    Ok(if waits {
        Ok(edition)
    } else {
        Err((Refused::Decided, Some(edition)))
    })
}

/// What happens without an answer.
fn then(lang: Lang, hold: &Hold) -> String {
    let Some(until) = hold.until else {
        return lang
            .pick(
                "It waits until somebody decides.",
                "在有人决定之前会一直等待。",
            )
            .to_owned();
    };
    let at = until.strftime("%Y-%m-%d %H:%M UTC");
    match hold.on_silence {
        OnSilence::Publish => say!(lang;
            "Without an answer it is published at {at}.",
            "如无人答复，将于 {at} 自动发布。"),
        OnSilence::Drop => say!(lang;
            "Without an answer it is dropped at {at}.",
            "如无人答复，将于 {at} 放弃发布。"),
    }
}

/// Posts to the address of the page, which holds the link.
fn buttons(lang: Lang) -> Markup {
    html! {
        form method="post" {
            button type="submit" name="act" value="approve" { (lang.pick("Approve and publish", "批准并发布")) }
            " "
            button type="submit" name="act" value="reject" { (lang.pick("Reject", "驳回")) }
        }
    }
}

fn decided(lang: Lang, act: Act) -> Response {
    let (title, sentence) = match act {
        Act::Approve => (
            lang.pick("Approved", "已批准"),
            lang.pick(
                "The edition is being sent to its destinations.",
                "日报正在发送到各发布目的地。",
            ),
        ),
        Act::Reject => (
            lang.pick("Rejected", "已驳回"),
            lang.pick("Nothing of this edition is sent.", "本期日报不会发送。"),
        ),
    };
    said(StatusCode::OK, lang, title, sentence)
}

fn refusal(lang: Lang, refused: &Refused, edition: Option<&Edition>) -> Response {
    let (status, sentence) = match refused {
        Refused::Wrong => (
            StatusCode::FORBIDDEN,
            lang.pick(
                "This link is not valid. Open it exactly as you received it.",
                "该链接无效。请原样打开收到的链接。",
            ),
        ),
        Refused::Expired => (
            StatusCode::GONE,
            lang.pick("This link has expired.", "该链接已过期。"),
        ),
        Refused::Replaced => (
            StatusCode::GONE,
            lang.pick(
                "A newer revision of this edition exists. Decide about it on the dashboard.",
                "本期日报已有更新的修订，请在控制台对其作出决定。",
            ),
        ),
        Refused::Decided => (StatusCode::GONE, already(lang, edition)),
    };
    let title = lang.pick("This link no longer works", "链接不可用");
    said(status, lang, title, sentence)
}

/// What was decided before, without saying by whom: the link may be known to many.
fn already(lang: Lang, edition: Option<&Edition>) -> &'static str {
    let decision = edition.and_then(|it| it.hold.as_ref()?.decision.as_ref());
    match decision.map(|it| (it.verdict, it.by == SILENCE)) {
        Some((Verdict::Approved, false)) => {
            lang.pick("This edition was approved already.", "本期日报已获批准。")
        }
        Some((Verdict::Rejected, false)) => {
            lang.pick("This edition was rejected already.", "本期日报已被驳回。")
        }
        Some((Verdict::Approved, true)) => lang.pick(
            "Nobody answered in time; the edition was published.",
            "到时无人答复，本期日报已自动发布。",
        ),
        Some((Verdict::Rejected, true)) => lang.pick(
            "Nobody answered in time; the edition was dropped.",
            "到时无人答复，本期日报已放弃发布。",
        ),
        None => lang.pick(
            "This link was for an earlier decision.",
            "该链接对应的是之前的一次决定。",
        ),
    }
}

fn said(status: StatusCode, lang: Lang, title: &str, sentence: &str) -> Response {
    let body = html! {
        header { h1 { (title) } }
        main { p { (sentence) } }
    };
    page(status, lang, title, &body)
}

fn page(status: StatusCode, lang: Lang, title: &str, body: &Markup) -> Response {
    let page = pages::bare(lang.tag(), title, body);
    let quiet = [(header::HeaderName::from_static("x-robots-tag"), "noindex")];
    let page = pages::respond_with_form(status, page.into_string());
    (Extension(Page), quiet, page).into_response()
}

fn language(state: &AppState) -> Lang {
    let editions = state.editions.any();
    editions.map_or(Lang::English, |it| pages::language(&it.settings.language))
}
