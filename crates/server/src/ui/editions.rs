//! Editions: every day's, and one of them with its stories, batches, deliveries and document.
//!
//! What is shown is read through the engine's [`Editions`](almanack_engine::editions::Editions), and what is done goes through it as from the API.
//! Building an edition takes minutes, so no page waits for it: it is queued or begun, and the page that follows shows how far it is. Titles,
//! summaries and what went wrong are other people's words: escaped, and links only where they lead into the web.

mod acts;
mod document;
mod list;
mod one;
mod steps;
mod words;

use axum::Router;
use axum::routing::{get, post};

use crate::ui::prelude::*;

/// The pages of editions.
pub(crate) fn routes() -> Router<Arc<AppState>> {
    Router::new()
        .route("/ui/editions", get(list::show))
        .route("/ui/editions/{date}", get(one::show))
        .route("/ui/editions/{date}/document", get(document::show))
        .route("/ui/editions/{date}/run", post(acts::run))
        .route(
            "/ui/editions/{date}/publish",
            get(acts::ask_publishing).post(acts::publish),
        )
        .route("/ui/editions/{date}/retry", post(acts::retry))
        .route("/ui/editions/{date}/redeliver", post(acts::redeliver))
        .route(
            "/ui/editions/{date}/reset",
            get(acts::ask_reset).post(acts::reset),
        )
}
