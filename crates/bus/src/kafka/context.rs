//! The client's callbacks: its log, its statistics, rebalances and commits.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use almanack_core::{event::incoming::envelope::Bus, locked};
use rdkafka::{
    ClientContext, Statistics, TopicPartitionList,
    config::RDKafkaLogLevel,
    consumer::{BaseConsumer, CommitMode, Consumer as _, ConsumerContext, Rebalance},
    error::{KafkaError, KafkaResult, RDKafkaErrorCode},
    statistics::Partition,
};

use super::connection::{Trouble, describe, log_harmless, trouble};
use crate::{Ports, logged::LoggedOnce, measures};

/// Receives the client's callbacks for one topic.
pub(crate) struct Context {
    topic: String,
    /// Partitions whose lag was reported, so that a partition that moved to another node does not
    /// keep its last number here.
    reported_lags: Mutex<BTreeSet<i32>>,
    logged: LoggedOnce,
    /// The last error of a failed try.
    heard: Mutex<Option<String>>,
    ports: Ports,
}

impl Context {
    pub(crate) fn of(topic: &str, ports: &Ports) -> Self {
        Self {
            topic: topic.to_owned(),
            reported_lags: Mutex::default(),
            logged: LoggedOnce::default(),
            heard: Mutex::default(),
            ports: ports.clone(),
        }
    }

    /// Why events cannot be read.
    pub(crate) fn hear(&self, why: &str) {
        *locked(&self.heard) = Some(why.to_owned());
    }

    /// Events are read: what failed before is over.
    pub(crate) fn relieve(&self) {
        self.logged.forget();
    }

    fn note_link(&self, is_member: bool) {
        let why = || "no broker serves this group yet".to_owned();
        let state = if is_member {
            *locked(&self.heard) = None;
            Ok(())
        } else {
            Err(locked(&self.heard).clone().unwrap_or_else(why))
        };
        measures::note_link(&self.ports, Bus::Kafka, state);
    }

    fn forget_lags(&self) {
        for partition in std::mem::take(&mut *locked(&self.reported_lags)) {
            self.lag(partition, None);
        }
    }

    fn lag(&self, partition: i32, waiting: Option<i64>) {
        measures::lag(Bus::Kafka, &self.topic, &partition.to_string(), waiting);
    }
}

impl ClientContext for Context {
    fn log(&self, level: RDKafkaLogLevel, fac: &str, message: &str) {
        log(&self.logged, level, fac, message);
    }

    /// Comes again with every try, and the client's log and the consumer have reported it by then.
    fn error(&self, error: KafkaError, reason: &str) {
        tracing::debug!(events.bus = "kafka", error = describe(&error), "{reason}");
    }

    /// Comes every few seconds, whether there is a broker or not.
    fn stats(&self, statistics: Statistics) {
        let is_member = is_member(&statistics);
        self.note_link(is_member);
        if !is_member {
            self.forget_lags();
            return;
        }
        let Some(topic) = statistics.topics.get(&self.topic) else {
            return;
        };
        let mut before = locked(&self.reported_lags);
        let lags = topic.partitions.values().filter_map(lag_of);
        let lags: Vec<(i32, i64)> = lags.collect();
        let now: BTreeSet<i32> = lags.iter().map(|(partition, _)| *partition).collect();
        for partition in before.difference(&now) {
            self.lag(*partition, None);
        }
        for (partition, lag) in lags {
            self.lag(partition, Some(lag));
        }
        *before = now;
    }
}

impl ConsumerContext for Context {
    fn pre_rebalance(&self, consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        match rebalance {
            // The next node of these partitions begins at our last commit; what is not committed
            // comes twice. Sent without waiting for an answer: this runs within a poll, and a
            // broker that is slow must not hold up whatever else runs on this thread.
            Rebalance::Revoke(_) => match consumer.commit_consumer_state(CommitMode::Async) {
                Err(KafkaError::ConsumerCommit(RDKafkaErrorCode::NoOffset)) => {}
                committed => log_harmless(committed, "commit before a rebalance"),
            },
            Rebalance::Assign(_) => {}
            Rebalance::Error(error) => {
                tracing::warn!(events.bus = "kafka", error = describe(error), "rebalance");
            }
        }
    }

    fn post_rebalance(&self, _: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        match rebalance {
            Rebalance::Assign(list) => {
                tracing::info!(events.bus = "kafka", events.topic = %self.topic, partitions = list.count(), "partitions assigned to this node");
            }
            Rebalance::Revoke(list) => {
                tracing::info!(events.bus = "kafka", events.topic = %self.topic, partitions = list.count(), "partitions revoked from this node");
            }
            Rebalance::Error(_) => {}
        }
    }

    fn commit_callback(&self, result: KafkaResult<()>, _: &TopicPartitionList) {
        // The next commit covers this one too, and without one the messages come again.
        log_harmless(result, "commit");
    }
}

/// A client that only writes. It keeps the last error, because a message that was not confirmed in
/// time does not say why.
#[derive(Debug, Clone, Default)]
pub(crate) struct Writing {
    heard: Arc<Mutex<Option<Trouble>>>,
    logged: Arc<LoggedOnce>,
}

impl Writing {
    /// An error as text, with the last error heard where it only says that something took too long.
    pub(crate) fn describe(&self, error: &KafkaError) -> String {
        let in_vain = error.rdkafka_error_code() == Some(RDKafkaErrorCode::MessageTimedOut);
        let heard = *locked(&self.heard);
        match heard.filter(|_| in_vain || trouble(error) == Some(Trouble::Unreachable)) {
            Some(trouble) => trouble.describe(),
            None if in_vain => "no broker confirmed it in time".to_owned(),
            None => describe(error),
        }
    }

    /// Why there is no answer: what was heard, or else the error itself.
    pub(crate) fn reason(&self, error: &KafkaError) -> String {
        let heard = *locked(&self.heard);
        heard.map_or_else(|| describe(error), Trouble::describe)
    }

    /// Something was confirmed: earlier errors are over.
    pub(crate) fn relieve(&self) {
        self.logged.forget();
        *locked(&self.heard) = None;
    }
}

impl ClientContext for Writing {
    fn log(&self, level: RDKafkaLogLevel, fac: &str, message: &str) {
        log(&self.logged, level, fac, message);
    }

    /// Brokers that all refuse count as unreachable, too, and that is reported more often: it does
    /// not replace a refusal.
    fn error(&self, error: KafkaError, reason: &str) {
        tracing::debug!(events.bus = "kafka", error = describe(&error), "{reason}");
        let mut heard = locked(&self.heard);
        match trouble(&error) {
            Some(refused @ Trouble::Refused(_)) => *heard = Some(refused),
            Some(Trouble::Unreachable) => *heard = heard.or(Some(Trouble::Unreachable)),
            None => {}
        }
    }
}

impl ConsumerContext for Writing {}

/// Passes on what the client logs. It repeats its failures with every try; each is passed on once.
fn log(logged: &LoggedOnce, level: RDKafkaLogLevel, fac: &str, message: &str) {
    match level {
        RDKafkaLogLevel::Emerg
        | RDKafkaLogLevel::Alert
        | RDKafkaLogLevel::Critical
        | RDKafkaLogLevel::Error
        | RDKafkaLogLevel::Warning
            if is_new(logged, fac, message) =>
        {
            tracing::warn!(target: "librdkafka", fac, "{message}");
        }
        RDKafkaLogLevel::Notice | RDKafkaLogLevel::Info => {
            tracing::info!(target: "librdkafka", fac, "{message}");
        }
        _ => tracing::debug!(target: "librdkafka", fac, "{message}"),
    }
}

/// Whether this was not logged yet, apart from its duration.
fn is_new(logged: &LoggedOnce, fac: &str, message: &str) -> bool {
    let lasting = message.rsplit_once(" (after ");
    let lasting = lasting.map_or(message, |(lasting, _)| lasting);
    fac != "FAIL" || logged.is_new(lasting)
}

/// Whether a broker is there and we are a member of the group: without either nothing comes.
fn is_member(statistics: &Statistics) -> bool {
    let mut brokers = statistics.brokers.values();
    let is_up = brokers.any(|broker| broker.state == "UP");
    let group = statistics.cgrp.as_ref();
    is_up && group.is_some_and(|group| group.join_state == "steady")
}

/// How many messages of a partition wait for us; `None` for those that are not ours.
fn lag_of(partition: &Partition) -> Option<(i32, i64)> {
    let ours = partition.partition >= 0 && partition.fetch_state == "active";
    let known = ours && partition.hi_offset >= 0;
    // Nothing committed yet: everything there is waits.
    let done = partition.committed_offset.max(partition.lo_offset).max(0);
    known.then(|| (partition.partition, (partition.hi_offset - done).max(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_logged_once_until_it_is_over() {
        let logged = LoggedOnce::default();
        let failure = |ms| format!("kafka:9092: Connect failed (after {ms}ms in state CONNECT)");
        assert!(is_new(&logged, "FAIL", &failure(1)));
        assert!(!is_new(&logged, "FAIL", &failure(2)));
        assert!(is_new(&logged, "FAIL", "kafka:9092: Disconnected"));
        assert!(
            is_new(&logged, "OTHER", &failure(3)),
            "not about a connection"
        );
        logged.forget();
        assert!(is_new(&logged, "FAIL", &failure(4)));
    }

    #[test]
    fn lag_is_what_was_written_and_not_committed() {
        let partition = |fetch_state: &str, lo, committed, hi| Partition {
            partition: 3,
            fetch_state: fetch_state.to_owned(),
            lo_offset: lo,
            committed_offset: committed,
            hi_offset: hi,
            ..Partition::default()
        };
        for (given, expected, why) in [
            (partition("active", 0, 7, 10), Some((3, 3)), "three wait"),
            (
                partition("active", 4, -1001, 10),
                Some((3, 6)),
                "nothing committed yet",
            ),
            (
                partition("active", -1001, -1001, 10),
                Some((3, 10)),
                "nor known where it begins",
            ),
            (
                partition("active", 0, 12, 10),
                Some((3, 0)),
                "never less than none",
            ),
            (partition("active", 0, 5, -1001), None, "not known yet"),
            (partition("none", 0, 5, 10), None, "another node has it"),
        ] {
            assert_eq!(lag_of(&given), expected, "{why}");
        }
    }
}
