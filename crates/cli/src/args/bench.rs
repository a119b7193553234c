//! `almanack bench`.

use clap::{Args, Subcommand, ValueEnum};

use super::some;

/// What to measure.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Everything, beside the given database; cleans up after itself
    Tasks(LoadArguments),
    /// What many schedules cost: a quiet second, a busy minute, memory; beside the given database
    Schedules(ScheduleLoadArguments),
    /// What many sources cost: checks, processor time, memory, bytes; beside the given database, against
    /// feeds of its own
    Sources(SourceLoadArguments),
    /// What readers that go away cost those who stay: how late tasks start, how long changes take; beside the given
    /// database
    Readers(ReaderLoadArguments),
    /// One phase on the given database itself, as a column of a comparison
    Phase {
        /// Which phase
        phase: Phase,
        #[command(flatten)]
        load: LoadArguments,
    },
}

/// A step of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Phase {
    /// Create the schema
    Setup,
    /// Write due tasks
    Enqueue,
    /// Run them all
    Drain,
    /// Run tasks at distinct instants
    Late,
    /// Move waiting tasks
    Resched,
    /// Load tasks that are not due
    Far,
    /// Forget all that ended, as retention does but without its pauses
    Prune,
}

/// How many sources.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct SourceLoadArguments {
    /// Sources in the store
    #[arg(long, value_name = "NUMBER", default_value_t = 100_000, value_parser = some)]
    pub(crate) sources: usize,
    /// Sources in another store, to compare with
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000, value_parser = some)]
    pub(crate) beside: usize,
    /// Nodes that look at them
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = some)]
    pub(crate) nodes: usize,
    /// How long to look at them again: in each store, and in both by turns
    #[arg(long, value_name = "NUMBER", default_value_t = 30, value_parser = some)]
    pub(crate) seconds: usize,
}

/// How many readers.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ReaderLoadArguments {
    /// Tasks in the store
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000_000, value_parser = clap::value_parser!(i64).range(0..))]
    pub(crate) tasks: i64,
    /// Lists and pages that are asked for and abandoned
    #[arg(long, value_name = "NUMBER", default_value_t = 20_000, value_parser = some)]
    pub(crate) lists: usize,
    /// How many at a time
    #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = some)]
    pub(crate) at_once: usize,
    /// Tasks that come due meanwhile
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000, value_parser = some)]
    pub(crate) due: usize,
    /// For how many seconds they do
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) seconds: u64,
}

/// How many schedules.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ScheduleLoadArguments {
    /// Schedules in the store, spread over the year
    #[arg(long, default_value_t = 1_000_000, value_parser = some)]
    pub(crate) count: usize,
    /// Of these, due in the same minute
    #[arg(long, default_value_t = 1_000, value_parser = some)]
    pub(crate) due: usize,
    /// Passes with nothing due
    #[arg(long, default_value_t = 200, value_parser = some)]
    pub(crate) passes: usize,
}

/// How much of everything.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct LoadArguments {
    /// Tasks to enqueue and to drain
    #[arg(long, env = "BENCH_N", default_value_t = 20_000, value_parser = some)]
    pub(crate) tasks: usize,
    /// Tasks per call when enqueueing
    #[arg(long, default_value_t = 1_000, value_parser = some)]
    pub(crate) batch: usize,
    /// Tasks at distinct instants
    #[arg(long, env = "BENCH_LATE_N", default_value_t = 2_000, value_parser = some)]
    pub(crate) late_tasks: usize,
    /// The instants lie within so many milliseconds
    #[arg(long, env = "BENCH_LATE_SPREAD_MS", default_value_t = 10_000)]
    pub(crate) late_spread_ms: u64,
    /// The first instant, in milliseconds from now
    #[arg(long, env = "BENCH_LATE_LEAD_MS", default_value_t = 4_000)]
    pub(crate) late_lead_ms: u64,
    /// Waiting tasks among which some are moved
    #[arg(long, env = "BENCH_PENDING", default_value_t = 20_000, value_parser = some)]
    pub(crate) pending: usize,
    /// How many are moved, one call each
    #[arg(long, env = "BENCH_MOVES", default_value_t = 2_000, value_parser = some)]
    pub(crate) moves: usize,
    /// How many move at a time
    #[arg(long, env = "BENCH_CLIENTS", default_value_t = 8, value_parser = some)]
    pub(crate) clients: usize,
    /// Nodes that drain, in this process and each with connections of its own
    #[arg(long, env = "BENCH_NODES", default_value_t = 1, value_parser = some)]
    pub(crate) nodes: usize,
    /// Tasks that are not due
    #[arg(long, env = "BENCH_FAR", default_value_t = 1_000_000, value_parser = clap::value_parser!(i64).range(0..))]
    pub(crate) far: i64,
    /// A drain is cut off after so many seconds
    #[arg(long, env = "BENCH_CAP_S", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) cap_s: u64,
    /// Subscriptions that are told of every task that is drained
    #[arg(long, env = "BENCH_SUBSCRIPTIONS", default_value_t = 0)]
    pub(crate) subscriptions: usize,
}
