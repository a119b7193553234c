//! Tasks: the list, one task with its life, and everything that may be asked of them.
//!
//! A page reads rows and shows them; whatever changes goes through the [`Rescheduler`](almanack_engine::reschedule::Rescheduler),
//! which decides by its rules and answers with a receipt. What was done is told from that receipt, so a page never claims more
//! than the history does.

mod bulk;
mod change;
mod create;
mod filter;
mod life;
mod list;
mod one;
mod payload;
mod story;
pub(crate) mod words;

use std::sync::Arc;

use almanack_core::{
    reschedule::{Receipt, Request},
    task::Identity,
};
use axum::{
    Router,
    response::Response,
    routing::{get, post},
};
use maud::{Markup, html};

use super::{form::see, page::Place, viewer::Viewer};
use crate::{AppState, idempotency::count, percent, problem::Problem, receipts::receipt_id};

/// How many of the newest tasks a list looks through.
pub(crate) const AMONG: usize = 50_000;

/// The pages of tasks.
pub(crate) fn routes() -> Router<Arc<AppState>> {
    Router::new()
        .route("/ui/tasks", get(list::show))
        .route("/ui/tasks/new", get(create::show).post(create::put))
        .route("/ui/tasks/bulk", get(bulk::ask).post(bulk::act))
        .route("/ui/tasks/{kind}/{subject}", get(one::show))
        .route("/ui/tasks/{kind}/{subject}/move", post(change::put))
        .route("/ui/tasks/{kind}/{subject}/retry", post(change::retry))
        .route(
            "/ui/tasks/{kind}/{subject}/cancel",
            get(change::ask).post(change::cancel),
        )
}

/// The page of a task.
pub(crate) fn path(identity: &Identity) -> String {
    format!("/ui/tasks{}", within(identity))
}

/// Where the API has a task.
fn api_path(identity: &Identity) -> String {
    format!("/api/v1/tasks{}", within(identity))
}

fn within(identity: &Identity) -> String {
    let subject = percent::encode(identity.subject.as_str());
    format!("/{}/{subject}", identity.kind)
}

/// The page of what a task works for, where it has one.
pub(crate) fn about(identity: &Identity) -> Option<String> {
    let (what, name) = identity.subject.as_str().split_once(':')?;
    match what {
        "schedule" => {
            let name = name.rsplit_once('@').map_or(name, |(name, _)| name);
            Some(format!(
                "{}/{}",
                Place::Schedules.path(),
                percent::encode(name)
            ))
        }
        "source" => Some(format!(
            "{}/{}",
            Place::Sources.path(),
            percent::encode(name)
        )),
        "edition" => Some(format!(
            "{}/{}",
            Place::Editions.path(),
            percent::encode(name)
        )),
        _ => None,
    }
}

/// A task's name as a link to its page.
pub(crate) fn link(identity: &Identity) -> Markup {
    html! { a href=(path(identity)) data-open { (identity.subject) } }
}

/// Asks for one change and leads to the task's page, which tells the receipt.
async fn carry_out(state: &AppState, viewer: &Viewer, wish: Request) -> Result<Response, Problem> {
    let identity = wish.identity().clone();
    let receipt = state.rescheduler.ask(wish, &viewer.origin()).await?;
    count(&receipt);
    Ok(see(&told_at(&identity, &receipt)))
}

fn told_at(identity: &Identity, receipt: &Receipt) -> String {
    format!(
        "{}?receipt={}",
        path(identity),
        receipt_id(receipt.decision)
    )
}

#[cfg(test)]
mod tests {
    use almanack_core::task::{Kind, Subject};

    use super::*;

    fn identity(subject: &str) -> Identity {
        Identity {
            subject: Subject::parse(subject).unwrap(),
            kind: Kind::parse("K").unwrap(),
        }
    }

    #[test]
    fn a_task_leads_to_what_it_works_for() {
        for (subject, page) in [
            (
                "schedule:nightly@2026-01-05T08:00:00Z",
                Some("/ui/schedules/nightly"),
            ),
            ("source:17", Some("/ui/sources/17")),
            ("edition:2026-01-04", Some("/ui/editions/2026-01-04")),
            ("article:42", None),
            ("plain", None),
        ] {
            assert_eq!(about(&identity(subject)).as_deref(), page, "{subject}");
        }
    }

    #[test]
    fn a_subject_stays_one_segment_of_a_path() {
        assert_eq!(path(&identity("a/b?c#d")), "/ui/tasks/K/a%2Fb%3Fc%23d");
    }
}
