//! The stores against the one conformance suite.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic is how a test fails"
)]

mod backup;
mod conformance;
mod postgres;
mod sqlite;
mod transfer;
mod unreadable;

use almanack_core::{
    source::{SourceId, hints::Hints, recent::Recent},
    store::Store,
};

/// The one source, after its memory was damaged: what is whole of it is read, what was learned is
/// kept raw.
async fn check_damaged(store: &dyn Store) {
    let found = store.load_sources(&[SourceId(1)]).await.unwrap();
    let source = found[0].as_ref().unwrap();
    assert_eq!(source.memory.shown, [1]);
    assert_eq!(source.memory.hints, Hints::default());
    assert_eq!(source.recent, Recent::default());
    assert_eq!(source.learned, [0xff]);
}
