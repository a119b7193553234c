//! `almanack bench`.

use clap::{Args, Subcommand, ValueEnum};

use super::some;

/// What to measure.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Measure task throughput and lateness on a scratch database beside the configured one
    Tasks(LoadArguments),
    /// Measure what many schedules cost: a quiet second, a busy minute, memory; on a scratch
    /// database
    Schedules(ScheduleLoadArguments),
    /// Measure what many sources cost: checks, CPU time, memory, bytes; on a scratch database, with
    /// simulated feeds
    Sources(SourceLoadArguments),
    /// Measure what aborted list requests cost: how late tasks start, how long changes take; on a
    /// scratch database
    Readers(ReaderLoadArguments),
    /// Measure one phase on the configured database itself, to compare systems
    Phase {
        /// Phase to run
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
    /// Run all due tasks
    Drain,
    /// Have workers take and finish all due tasks, over HTTP
    Pull,
    /// Run tasks at distinct instants
    Late,
    /// Hand tasks at distinct instants to workers that wait for them, over HTTP
    LongPoll,
    /// Take in what a service writes in its own transactions; PostgreSQL only
    Inbox,
    /// Reschedule waiting tasks
    Resched,
    /// Load tasks that are not due
    Far,
    /// Delete all finished tasks, as retention does but without its pauses
    Prune,
}

/// Load for `bench sources`.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct SourceLoadArguments {
    /// Sources in the store
    #[arg(long, value_name = "NUMBER", default_value_t = 100_000, value_parser = some)]
    pub(crate) sources: usize,
    /// Sources in a second store, to compare with
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000, value_parser = some)]
    pub(crate) beside: usize,
    /// Nodes that check them
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = some)]
    pub(crate) nodes: usize,
    /// Seconds to measure repeated checks: in each store, and in both alternately
    #[arg(long, value_name = "NUMBER", default_value_t = 30, value_parser = some)]
    pub(crate) seconds: usize,
}

/// Load for `bench readers`.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ReaderLoadArguments {
    /// Tasks in the store
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 1_000_000,
        value_parser = clap::value_parser!(i64).range(0..)
    )]
    pub(crate) tasks: i64,
    /// Lists and pages to request and abort
    #[arg(long, value_name = "NUMBER", default_value_t = 20_000, value_parser = some)]
    pub(crate) lists: usize,
    /// Requests at a time
    #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = some)]
    pub(crate) at_once: usize,
    /// Tasks that become due meanwhile
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000, value_parser = some)]
    pub(crate) due: usize,
    /// Seconds over which they become due
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 10,
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    pub(crate) seconds: u64,
}

/// Load for `bench schedules`.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ScheduleLoadArguments {
    /// Schedules in the store, spread over the year
    #[arg(long, default_value_t = 1_000_000, value_parser = some)]
    pub(crate) count: usize,
    /// How many of them are due in the same minute
    #[arg(long, default_value_t = 1_000, value_parser = some)]
    pub(crate) due: usize,
    /// Passes with nothing due
    #[arg(long, default_value_t = 200, value_parser = some)]
    pub(crate) passes: usize,
    /// Have each of them keep off the days of a calendar
    #[arg(long)]
    pub(crate) calendar: bool,
}

/// Load for `bench tasks` and `bench phase`.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct LoadArguments {
    /// Tasks to enqueue and to drain
    #[arg(long, env = "BENCH_N", default_value_t = 20_000, value_parser = some)]
    pub(crate) tasks: usize,
    /// Tasks per call when enqueueing
    #[arg(long, default_value_t = 1_000, value_parser = some)]
    pub(crate) batch: usize,
    /// Tasks at distinct instants; requests to take in, one after another
    #[arg(long, env = "BENCH_LATE_N", default_value_t = 2_000, value_parser = some)]
    pub(crate) late_tasks: usize,
    /// Spread of the instants, in milliseconds
    #[arg(long, env = "BENCH_LATE_SPREAD_MS", default_value_t = 10_000)]
    pub(crate) late_spread_ms: u64,
    /// The first instant, in milliseconds from now
    #[arg(long, env = "BENCH_LATE_LEAD_MS", default_value_t = 4_000)]
    pub(crate) late_lead_ms: u64,
    /// Waiting tasks in the store while some are rescheduled
    #[arg(long, env = "BENCH_PENDING", default_value_t = 20_000, value_parser = some)]
    pub(crate) pending: usize,
    /// Tasks to reschedule, one call each
    #[arg(long, env = "BENCH_MOVES", default_value_t = 2_000, value_parser = some)]
    pub(crate) moves: usize,
    /// Concurrent clients that reschedule
    #[arg(long, env = "BENCH_CLIENTS", default_value_t = 8, value_parser = some)]
    pub(crate) clients: usize,
    /// Nodes that drain, in this process, each with separate connections
    #[arg(long, env = "BENCH_NODES", default_value_t = 1, value_parser = some)]
    pub(crate) nodes: usize,
    /// Tasks that are not due
    #[arg(
        long,
        env = "BENCH_FAR",
        default_value_t = 1_000_000,
        value_parser = clap::value_parser!(i64).range(0..)
    )]
    pub(crate) far: i64,
    /// Stop a drain after this many seconds
    #[arg(
        long,
        env = "BENCH_CAP_S",
        default_value_t = 60,
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    pub(crate) cap_s: u64,
    /// Subscriptions that receive an event for every drained task
    #[arg(long, env = "BENCH_SUBSCRIPTIONS", default_value_t = 0)]
    pub(crate) subscriptions: usize,
    /// Events per delivery at most; left out: one event per delivery
    #[arg(long, env = "BENCH_EVENTS_PER_DELIVERY", value_parser = some)]
    pub(crate) events_per_delivery: Option<usize>,
}
