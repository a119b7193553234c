//! Sources: counts, the list, one source with its week, and all actions on them.
//!
//! Every page reads through the store and asks [`Sources`](almanack_engine::sources::Sources) for
//! what was learned and for every change. What must stay true: no page costs more than its rows.
//! Counting walks over all sources, so live pages share a count of a few seconds ago ([`fleet`]).
//! Names, addresses, titles and errors are foreign texts: escaped, and linked only to web
//! addresses.

mod acts;
mod adding;
mod courtesy;
mod edit;
mod entries;
mod filter;
mod fleet;
mod list;
mod one;
mod opml;
mod options;
mod push;
pub(crate) mod search;
pub(crate) mod words;

use crate::ui::prelude::*;

pub(crate) fn routes() -> Router<Arc<AppState>> {
    Router::new()
        .route("/ui/sources", get(list::show))
        .route("/ui/sources/add", get(adding::show).post(adding::add))
        .route("/ui/sources/choose", post(adding::choose))
        .route(courtesy::PATH, get(courtesy::show))
        .route("/ui/sources/opml", get(opml::show).post(opml::import))
        .route("/ui/sources/export", get(opml::export))
        .route(search::PATH, get(search::show))
        .route("/ui/sources/{id}", get(one::show))
        .route("/ui/sources/{id}/entries", get(entries::show))
        .route("/ui/sources/{id}/check", post(acts::check))
        .route("/ui/sources/{id}/pause", post(acts::pause))
        .route("/ui/sources/{id}/resume", post(acts::resume))
        .route("/ui/sources/{id}/undo", post(acts::undo))
        .route("/ui/sources/{id}/change", post(edit::change))
        .route("/ui/sources/{id}/remove", get(acts::ask_removal))
        .route("/ui/sources/{id}/remove", post(acts::remove))
        .layer(Extension(Arc::new(fleet::Counted::default())))
}

/// The display name of a source: its name, or its address.
pub(crate) fn called(source: &Source) -> &str {
    let definition = &source.definition;
    match definition.name.trim() {
        "" => &definition.address,
        name => name,
    }
}
