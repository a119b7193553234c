//! Tasks: the list, one task with its timeline, and all actions on them.
//!
//! A page reads rows and shows them; every change goes through the
//! [`Rescheduler`](almanack_engine::reschedule::Rescheduler), which decides by its rules and
//! returns a receipt. The result is shown from that receipt, so a page never claims more than the
//! history.

mod bulk;
mod change;
mod changes;
mod create;
pub(crate) mod filter;
mod life;
mod list;
mod one;
mod payload;
mod story;
mod undo;
pub(crate) mod words;

use almanack_core::edition::{self, EDITION_RUN};
use almanack_core::reschedule::{Receipt, Request};

use crate::idempotency::count;
use crate::ui::prelude::*;

/// How many of the newest tasks a list searches.
pub(crate) const AMONG: usize = 50_000;

pub(crate) fn routes() -> Router<Arc<AppState>> {
    Router::new()
        .route("/ui/tasks", get(list::show))
        .route("/ui/tasks/new", get(create::show).post(create::put))
        .route(changes::PATH, get(changes::list))
        .route("/ui/tasks/changes/{id}", get(changes::show))
        .route("/ui/tasks/changes/{id}/stop", post(changes::stop))
        .route("/ui/tasks/bulk", get(bulk::ask).post(bulk::act))
        .route("/ui/tasks/{kind}/{subject}", get(one::show))
        .route("/ui/tasks/{kind}/{subject}/move", post(change::put))
        .route("/ui/tasks/{kind}/{subject}/retry", post(change::retry))
        .route("/ui/tasks/{kind}/{subject}/cancel", get(change::ask))
        .route("/ui/tasks/{kind}/{subject}/cancel", post(change::cancel))
        .route("/ui/tasks/{kind}/{subject}/undo", post(undo::undo))
}

/// The API path of a task.
fn api_path(identity: &Identity) -> String {
    let subject = percent::encode(identity.subject.as_str());
    format!("/api/v1/tasks/{}/{subject}", identity.kind)
}

/// The command `task ACT`, and the equivalent call.
fn command(act: &str, method: &'static str, identity: &Identity, below: &str) -> Equivalent {
    let (kind, subject) = (identity.kind.as_str(), identity.subject.as_str());
    let call = Equivalent::call(method, format!("{}{below}", api_path(identity)));
    call.cli(["task", act, kind, subject])
}

/// The page of the schedule, source or edition of a task, if any.
fn about(identity: &Identity) -> Option<String> {
    if let Some(name) = links::fired_schedule(identity) {
        let name = ScheduleName::parse(name).ok();
        return name.map(|name| links::schedule(&name));
    }
    if let Some(id) = SourceId::of(identity) {
        return Some(links::source(id));
    }
    let id = edition::id_of(identity)?;
    (identity.kind.as_str() == EDITION_RUN).then(|| links::edition(id))
}

/// A task's name as a link to its page.
fn link(identity: &Identity) -> Markup {
    html! { a href=(task_path(identity)) data-open { (identity.subject) } }
}

/// Requests one change and redirects to the task's page, which shows the receipt.
async fn carry_out(state: &AppState, viewer: &Viewer, request: Request) -> Answer {
    let identity = request.identity().clone();
    let receipt = state.rescheduler.ask(request, &viewer.origin()).await?;
    count(&receipt);
    Ok(see(&receipt_path(&identity, &receipt)))
}

fn receipt_path(identity: &Identity, receipt: &Receipt) -> String {
    format!("{}?receipt={}", task_path(identity), receipt.decision)
}

/// The requester, linked to their activity.
fn origin(origin: &str) -> Markup {
    html! { a href=(address(Place::Activity.path(), [("by", origin)])) { (origin) } }
}

/// The tasks of a kind.
fn of_kind(kind: &Kind, filter: &filter::Filter) -> Markup {
    let filter = filter::Filter {
        kind: Some(kind.to_string()),
        ..filter.clone()
    };
    html! { a href=(filter.address(Place::Tasks.path(), &[])) { (kind) } }
}

#[cfg(test)]
mod tests {
    use almanack_core::task::{Kind, Subject};

    use super::*;

    #[test]
    fn a_task_leads_to_what_it_works_for() {
        for (kind, subject, page) in [
            (
                "DISPATCH",
                "schedule:nightly@2026-01-05T08:00:00Z",
                Some("/ui/schedules/nightly"),
            ),
            ("SOURCE_CHECK", "source:17", Some("/ui/sources/17")),
            (
                "EDITION_RUN",
                "edition:2026-01-04",
                Some("/ui/editions/2026-01-04"),
            ),
            ("EDITION_RUN", "edition:soon", None),
            ("ARTICLE_PUBLISH", "article:42", None),
            ("ARTICLE_PUBLISH", "source:17", None),
        ] {
            let identity = Identity {
                subject: Subject::parse(subject).unwrap(),
                kind: Kind::parse(kind).unwrap(),
            };
            assert_eq!(about(&identity).as_deref(), page, "{subject}");
        }
    }
}
