//! The simulator's seeds: those that run always, those that once found something, and fresh ones.

use std::sync::Arc;

use almanack_core::store::Store;
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::simulator::{Options, simulate};

fn open() -> Arc<dyn Store> {
    Arc::new(SqliteStore::in_memory().expect("memory"))
}

#[test]
fn quick() {
    for seed in 0..20 {
        let started = std::time::Instant::now();
        match simulate(seed, &Options::default(), open) {
            Ok(s) => eprintln!(
                "{seed} ok tasks {} changes {} claims {} calls {} lasted {:?} log {} in {:?}",
                s.tasks,
                s.changes,
                s.claims,
                s.calls,
                s.lasted,
                s.log.len(),
                started.elapsed()
            ),
            Err(b) => {
                eprintln!("{b}");
            }
        }
    }
}
