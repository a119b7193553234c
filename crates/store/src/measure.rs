//! How long the database takes, and how long work waits for a connection to it: for people, never
//! for decisions.

use std::time::Instant;

/// Measures from its making on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(
        clippy::disallowed_methods,
        reason = "what is measured here is shown and decides nothing; simulated stores do not measure"
    )]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// Work waited so long for a connection of this pool.
    pub(crate) fn waited(self, pool: &'static str) {
        metrics::histogram!("almanack_database_pool_wait_seconds", "pool" => pool)
            .record(self.0.elapsed().as_secs_f64());
    }

    /// An operation took so long.
    pub(crate) fn took(self, operation: &'static str) {
        metrics::histogram!("almanack_database_operation_duration_seconds", "operation" => operation)
            .record(self.0.elapsed().as_secs_f64());
    }
}
