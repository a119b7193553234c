//! Schedules: their meaning, their history, their next times, and all actions on them.
//!
//! Texts, times and refusals come from core and the engine; these pages show them side by side, in
//! the schedule's zone and the reader's. The cost of a page is bounded: a fixed number of
//! schedules, slots and next times, however often a schedule fires.

pub(crate) mod acts;
mod backfill;
mod calendars;
mod change;
mod fields;
mod ledger;
pub(crate) mod list;
mod log;
mod monitor;
pub(crate) mod one;
mod runs;
mod sheet;
mod times;
pub(crate) mod trying;
mod why;
pub(crate) mod words;

use crate::ui::prelude::*;

/// Page names that a schedule may also have.
const PAGES: [&str; 2] = ["try", "new"];

pub(crate) fn routes() -> Router<Arc<AppState>> {
    Router::new()
        .route("/ui/schedules", get(list::show))
        .route("/ui/schedules/try", get(trying::show))
        .route("/ui/schedules/new", get(change::blank).post(change::create))
        .route("/ui/schedules/{name}", get(one::show))
        .route("/ui/schedules/{name}/change", get(change::edit))
        .route("/ui/schedules/{name}/change", post(change::save))
        .route("/ui/schedules/{name}/pause", post(acts::pause))
        .route("/ui/schedules/{name}/resume", post(acts::resume))
        .route("/ui/schedules/{name}/undo", post(acts::undo))
        .route("/ui/schedules/{name}/fire", post(acts::fire))
        .route("/ui/monitors", get(monitor::list))
        .route("/ui/schedules/{name}/ping-key", post(monitor::new_address))
        .route("/ui/schedules/{name}/badge", post(monitor::turn_badge))
        .route("/ui/schedules/{name}/remove", get(acts::ask_to_remove))
        .route("/ui/schedules/{name}/remove", post(acts::remove))
        .route("/ui/schedules/{name}/backfill", get(backfill::ask))
        .route("/ui/schedules/{name}/backfill", post(backfill::carry_out))
        .route("/ui/schedules/{name}/log", get(log::show_latest))
        .route("/ui/firings/{id}/log", get(log::show))
}

/// The page of a schedule. A schedule named like one of our pages gets an equivalent, escaped path.
pub(crate) fn path(name: &ScheduleName) -> String {
    let name = name.as_str();
    match name.as_bytes().first() {
        Some(first) if PAGES.contains(&name) => {
            format!("/ui/schedules/%{first:02X}{}", &name[1..])
        }
        _ => format!("/ui/schedules/{}", percent::encode(name)),
    }
}

/// Its path in the API. Names need no escaping in a path.
fn api(name: &ScheduleName, below: &str) -> String {
    format!("/api/v1/schedules/{name}{below}")
}
