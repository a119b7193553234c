//! Editions by day, and one edition with its stories, batches, deliveries and document.
//!
//! Reads and actions go through the engine's [`Editions`](almanack_engine::editions::Editions), as
//! in the API. Building an edition takes minutes, so no page waits for it: it is queued or started,
//! and the next page shows the progress. Titles, summaries and errors are foreign texts: escaped,
//! and linked only to web addresses.

mod acts;
mod document;
mod list;
mod one;
mod steps;
mod words;

use crate::ui::prelude::*;

pub(crate) fn routes() -> Router<Arc<AppState>> {
    Router::new()
        .route("/ui/editions", get(list::show))
        .route("/ui/editions/{date}", get(one::show))
        .route("/ui/editions/{date}/document", get(document::show))
        .route("/ui/editions/{date}/run", post(acts::run))
        .route("/ui/editions/{date}/publish", get(acts::ask_publishing))
        .route("/ui/editions/{date}/publish", post(acts::publish))
        .route("/ui/editions/{date}/retry", post(acts::retry))
        .route("/ui/editions/{date}/redeliver", post(acts::redeliver))
        .route("/ui/editions/{date}/reset", get(acts::ask_reset))
        .route("/ui/editions/{date}/reset", post(acts::reset))
}
