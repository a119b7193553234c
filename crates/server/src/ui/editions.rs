//! Editions by day, and one edition with its stories, batches, deliveries and document.
//!
//! Reads and actions go through the engine's [`Editions`](almanack_engine::editions::Editions), as
//! in the API. Building an edition takes minutes, so no page waits for it: it is queued or started,
//! and the next page shows the progress. Titles, summaries and errors are foreign texts: escaped,
//! and linked only to web addresses.

mod acts;
mod desk;
mod document;
mod ledger;
mod list;
mod one;
mod prompts;
mod steps;
mod subscribers;
mod usage;
mod words;

use crate::ui::prelude::*;

pub(crate) fn routes() -> Router<Arc<AppState>> {
    Router::new()
        .route("/ui/editions", get(list::show))
        .route("/ui/editions/subscribers", get(subscribers::show))
        .route("/ui/editions/subscribers", post(subscribers::add))
        .route("/ui/editions/subscribers/import", post(subscribers::import))
        .route("/ui/editions/subscribers/export", get(subscribers::export))
        .route(
            "/ui/editions/subscribers/mailings/{date}",
            get(ledger::mailing),
        )
        .route("/ui/editions/subscribers/{id}", get(ledger::subscriber))
        .route("/ui/editions/subscribers/{id}/ask", post(ledger::ask_again))
        .route(
            "/ui/editions/subscribers/{id}/unsubscribe",
            post(ledger::unsubscribe),
        )
        .route(
            "/ui/editions/subscribers/{id}/remove",
            get(ledger::ask_removing).post(ledger::remove),
        )
        .route("/ui/editions/{date}", get(one::show))
        .route("/ui/editions/{date}/document", get(document::show))
        .route("/ui/editions/{date}/run", post(acts::run))
        .route("/ui/editions/{date}/publish", get(acts::ask_publishing))
        .route("/ui/editions/{date}/publish", post(acts::publish))
        .route("/ui/editions/{date}/retry", post(acts::retry))
        .route("/ui/editions/{date}/redeliver", post(acts::redeliver))
        .route("/ui/editions/{date}/decide", post(desk::decide))
        .route("/ui/editions/{date}/correct", post(desk::correct))
        .route("/ui/editions/{date}/retract", get(desk::ask_retracting))
        .route("/ui/editions/{date}/retract", post(desk::retract))
        .route("/ui/editions/{date}/restore", post(desk::restore))
        .route("/ui/editions/{date}/reset", get(acts::ask_reset))
        .route("/ui/editions/{date}/reset", post(acts::reset))
}
