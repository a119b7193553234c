//! The dashboard: what ran, what runs, what will run, and why.
//!
//! Pages are rendered here completely, from the answers of the API's own functions; links and forms
//! are all they need, and a small script keeps them live. What must stay true:
//!
//! - Every page is complete without the script, without colour and without pictures.
//! - A page reads through the store and changes through the engine, like the API; it makes no
//!   decisions itself.
//! - Nothing is loaded from other hosts, and foreign text is never markup: maud escapes it.
//! - Every text is written in both languages, side by side ([`say`](almanack_core::say)), so that none can
//!   be forgotten.
//! - Every form is read by [`Filled`](form::Filled), which checks that it is ours. What is wrong with
//!   one is shown all at once, each fault at its field ([`Faults`](form::Faults)).

mod about;
mod activity;
mod api;
mod assets;
mod authentication;
mod editions;
mod equivalent;
pub(crate) mod form;
mod kinds;
pub(crate) mod layout;
pub(crate) mod links;
mod live;
pub(crate) mod moment;
mod nodes;
mod page;
pub(crate) mod parts;
mod preferences;
mod problems;
mod query;
mod radar;
pub(crate) mod rows;
pub(crate) mod schedules;
pub(crate) mod search;
mod settings;
mod sign_in;
mod sources;
pub(crate) mod status;
mod tasks;
mod today;
mod undo;
pub(crate) mod viewer;
mod when;

use std::sync::Arc;

use axum::{
    Extension, Router,
    extract::DefaultBodyLimit,
    http::{HeaderMap, StatusCode},
    middleware::from_fn_with_state,
    response::Redirect,
    routing::{get, post},
};

use self::live::Live;
pub(crate) use self::viewer::cookie;
use crate::{AppState, about::ABOUT_PATH, access::Authentication};

/// The words of every page: core's vocabulary, and what pages are made of.
mod prelude {
    pub(crate) use almanack_core::edition::EditionId;
    pub(crate) use almanack_core::lang::{Lang, Say, Sentence};
    pub(crate) use almanack_core::plan::{Ready, Schedule, ScheduleName};
    pub(crate) use almanack_core::source::{Source, SourceId};
    pub(crate) use almanack_core::store::TaskLine;
    pub(crate) use almanack_core::task::{Identity, Kind, Status, Task, TaskId};
    pub(crate) use almanack_core::token::Scope;
    pub(crate) use almanack_core::{both, pick, say, words};
    pub(crate) use axum::extract::Path;
    pub(crate) use axum::routing::{get, post};
    pub(crate) use axum::{Extension, Router};
    pub(crate) use jiff::tz::TimeZone;
    pub(crate) use maud::{Markup, Render, html};
    pub(crate) use serde_json::json;

    pub(crate) use super::authentication::{again, with_status};
    pub(crate) use super::equivalent::Equivalent;
    pub(crate) use super::form::{
        self, Fault, Faults, Filled, Question, ask, button, form, hidden, see,
    };
    pub(crate) use super::layout::{badges, facts, options, section, table};
    pub(crate) use super::links::{self, task_path};
    pub(crate) use super::moment::{self, Moment};
    pub(crate) use super::page::{Place, page};
    pub(crate) use super::parts::{
        self, Field, badge, choice, dash, empty, english, live, marked, notice, or_dash, outside,
        pager, refused, said, section, status, wrong,
    };
    pub(crate) use super::query::{Sought, address, pairs};
    pub(crate) use super::viewer::Viewer;
    pub(crate) use super::when::length;
    pub(crate) use crate::picture::outcome::Outcome;
    pub(crate) use crate::prelude::*;
    pub(crate) use crate::{percent, tasks::body::parse_instant};

    pub(crate) type Page = Result<Markup>;
}

/// How many of the newest rows a list searches; older ones need an exact name.
const SEARCHED: usize = 50_000;

/// Largest form of an authenticated user: a list of sources is pasted into one.
const FORM_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Largest form before sign-in: a name, a password, a choice.
const OPEN_FORM_BYTES_MAX: usize = 16 * 1024;

/// All pages behind authentication, and the public ones.
pub(crate) fn routes(authentication: &Arc<Authentication>) -> Router<Arc<AppState>> {
    let behind = from_fn_with_state(Arc::clone(authentication), authentication::enter);
    let inside = inside().route_layer(behind.clone());
    let live = Live::new(
        authentication.shared(),
        inside.clone().with_state(authentication.shared()),
    );
    let stream = get(async move |which, headers: HeaderMap| live.stream(which, &headers));
    let stream = stream.route_layer(behind);
    let before = from_fn_with_state(Arc::clone(authentication), authentication::arrive);
    inside
        .route("/ui/live", stream)
        .merge(outside(authentication).route_layer(before))
        .route("/", get(|| async { Redirect::to("/ui") }))
        .merge(assets::routes())
}

fn inside() -> Router<Arc<AppState>> {
    Router::new()
        .route("/ui", get(today::show))
        .merge(tasks::routes())
        .merge(schedules::routes())
        .merge(radar::routes())
        .merge(activity::routes())
        .merge(kinds::routes())
        .merge(nodes::routes())
        .merge(search::routes())
        .merge(settings::routes())
        .merge(sources::routes())
        .merge(editions::routes())
        .route("/ui/{*rest}", get(nothing))
        .layer(DefaultBodyLimit::max(FORM_BYTES_MAX))
}

/// Public pages.
fn outside(authentication: &Arc<Authentication>) -> Router<Arc<AppState>> {
    Router::new()
        .route("/ui/preferences", post(preferences::choose))
        .merge(sign_in::routes(authentication))
        .merge(api::routes())
        .merge(problems::routes())
        .route(ABOUT_PATH, get(about::show))
        .layer(Extension(Arc::new(about::Today::default())))
        .layer(DefaultBodyLimit::max(OPEN_FORM_BYTES_MAX))
}

async fn nothing() -> StatusCode {
    StatusCode::NOT_FOUND
}
