//! Schedules: what they mean, what they did, what they will do, and everything that people do with them.
//!
//! Words, times and refusals come from core and the engine; these pages put them side by side, in the schedule's own zone and
//! the reader's. What a page costs is bounded: so many schedules, so many slots of each, so many coming times, however often
//! a schedule fires and however long it has.

mod acts;
mod backfill;
mod change;
mod fields;
mod ledger;
mod list;
mod one;
mod runs;
mod sheet;
mod times;
pub(crate) mod told;
mod trying;
mod why;

use almanack_core::plan::{Definition, Ready, Schedule, ScheduleName, Unfit};
use axum::Router;
use axum::routing::{get, post};

use crate::percent;
use crate::ui::prelude::*;

/// Names of pages that a schedule may also have.
const PAGES: [&str; 2] = ["try", "new"];

/// All pages of schedules.
pub(crate) fn routes() -> Router<Arc<AppState>> {
    Router::new()
        .route("/ui/schedules", get(list::show))
        .route("/ui/schedules/try", get(trying::show))
        .route("/ui/schedules/new", get(change::blank).post(change::create))
        .route("/ui/schedules/{name}", get(one::show))
        .route(
            "/ui/schedules/{name}/change",
            get(change::edit).post(change::save),
        )
        .route("/ui/schedules/{name}/pause", post(acts::pause))
        .route("/ui/schedules/{name}/resume", post(acts::resume))
        .route("/ui/schedules/{name}/fire", post(acts::fire))
        .route(
            "/ui/schedules/{name}/remove",
            get(acts::ask_to_remove).post(acts::remove),
        )
        .route(
            "/ui/schedules/{name}/backfill",
            get(backfill::ask).post(backfill::carry_out),
        )
}

/// The page of a schedule. One that is called like a page of ours is written differently, which means the same.
pub(crate) fn path(name: &ScheduleName) -> String {
    let name = name.as_str();
    match name.as_bytes().first() {
        Some(first) if PAGES.contains(&name) => {
            format!("/ui/schedules/%{first:02X}{}", &name[1..])
        }
        _ => format!("/ui/schedules/{}", percent::encode(name)),
    }
}

/// The call of the API about a schedule.
fn api(name: &ScheduleName, act: &str) -> String {
    format!("/api/v1/schedules/{}{act}", percent::encode(name.as_str()))
}

/// What a schedule is planned by, if it can be computed.
fn ready(state: &AppState, schedule: &Schedule) -> Result<Ready, Unfit> {
    let definition = Definition::from_json(&schedule.definition)?;
    state.schedules.check(&schedule.name, definition)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_that_is_called_like_a_page_has_a_page_of_its_own() {
        for (name, expected) in [
            ("nightly", "/ui/schedules/nightly"),
            ("try", "/ui/schedules/%74ry"),
            ("new", "/ui/schedules/%6Eew"),
            ("a.b_c-1", "/ui/schedules/a.b_c-1"),
        ] {
            assert_eq!(path(&ScheduleName::parse(name).unwrap()), expected);
        }
    }
}
