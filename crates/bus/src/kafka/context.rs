//! The client's callbacks: its log, its statistics, rebalances and commits.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use almanack_core::event::incoming::envelope::Bus;
use rdkafka::{
    ClientContext, Statistics, TopicPartitionList,
    config::RDKafkaLogLevel,
    consumer::{BaseConsumer, CommitMode, Consumer as _, ConsumerContext, Rebalance},
    error::{KafkaError, KafkaResult, RDKafkaErrorCode},
    statistics::Partition,
};

use super::connection::{Trouble, describe, trouble};
use crate::{Ports, measures};

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
        if let Ok(mut heard) = self.heard.lock() {
            *heard = Some(why.to_owned());
        }
    }

    /// Events are read: what failed before is over.
    pub(crate) fn relieve(&self) {
        self.logged.forget();
    }
}

impl Context {
    fn note_link(&self, is_member: bool) {
        let heard = self.heard.lock().map(|mut heard| {
            if is_member {
                *heard = None;
            }
            heard.clone()
        });
        let why = || "no broker serves this group yet".to_owned();
        let state = if is_member {
            Ok(())
        } else {
            Err(heard.ok().flatten().unwrap_or_else(why))
        };
        measures::note_link(&self.ports, Bus::Kafka, state);
    }

    fn forget_lags(&self) {
        let reported = self.reported_lags.lock();
        let reported = reported.map(|mut lags| std::mem::take(&mut *lags));
        for partition in reported.unwrap_or_default() {
            measures::lag_unknown(Bus::Kafka, &self.topic, &partition.to_string());
        }
    }
}

impl ClientContext for Context {
    fn log(&self, level: RDKafkaLogLevel, fac: &str, message: &str) {
        self.logged.log(level, fac, message);
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
        let Ok(mut before) = self.reported_lags.lock() else {
            return;
        };
        let lags = topic.partitions.values().filter_map(lag_of);
        let lags: Vec<(i32, i64)> = lags.collect();
        let now: BTreeSet<i32> = lags.iter().map(|(partition, _)| *partition).collect();
        for partition in before.difference(&now) {
            measures::lag_unknown(Bus::Kafka, &self.topic, &partition.to_string());
        }
        for (partition, lag) in lags {
            measures::lag(Bus::Kafka, &self.topic, &partition.to_string(), lag);
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
                Ok(()) | Err(KafkaError::ConsumerCommit(RDKafkaErrorCode::NoOffset)) => {}
                Err(error) => {
                    tracing::debug!(
                        events.bus = "kafka",
                        error = describe(&error),
                        "commit before a rebalance"
                    );
                }
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
        if let Err(error) = result {
            // Harmless: the next commit covers this one too, and without one the messages come
            // again.
            tracing::debug!(events.bus = "kafka", error = describe(&error), "commit");
        }
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
        let heard = self.heard.lock().ok().and_then(|heard| *heard);
        match heard.filter(|_| in_vain || trouble(error) == Some(Trouble::Unreachable)) {
            Some(trouble) => trouble.describe(),
            None if in_vain => "no broker confirmed it in time".to_owned(),
            None => describe(error),
        }
    }

    /// Why there is no answer: what was heard, or else the error itself.
    pub(crate) fn reason(&self, error: &KafkaError) -> String {
        let heard = self.heard.lock().ok().and_then(|heard| *heard);
        heard.map_or_else(|| describe(error), Trouble::describe)
    }

    /// Something was confirmed: earlier errors are over.
    pub(crate) fn relieve(&self) {
        self.logged.forget();
        if let Ok(mut heard) = self.heard.lock() {
            *heard = None;
        }
    }
}

impl ClientContext for Writing {
    fn log(&self, level: RDKafkaLogLevel, fac: &str, message: &str) {
        self.logged.log(level, fac, message);
    }

    /// Brokers that all refuse count as unreachable, too, and that is reported more often: it does
    /// not replace a refusal.
    fn error(&self, error: KafkaError, reason: &str) {
        tracing::debug!(events.bus = "kafka", error = describe(&error), "{reason}");
        let Ok(mut heard) = self.heard.lock() else {
            return;
        };
        match trouble(&error) {
            Some(refused @ Trouble::Refused(_)) => *heard = Some(refused),
            Some(Trouble::Unreachable) => *heard = heard.or(Some(Trouble::Unreachable)),
            None => {}
        }
    }
}

impl ConsumerContext for Writing {}

/// What the client logged about failures since its last success. It repeats itself with every try,
/// so each is passed on once.
#[derive(Debug, Default)]
struct LoggedOnce(Mutex<BTreeSet<String>>);

/// More than there are ways to fail; beyond that, lines are logged again.
const LOGGED_MAX: usize = 50;

impl LoggedOnce {
    fn log(&self, level: RDKafkaLogLevel, fac: &str, message: &str) {
        match level {
            RDKafkaLogLevel::Emerg
            | RDKafkaLogLevel::Alert
            | RDKafkaLogLevel::Critical
            | RDKafkaLogLevel::Error
            | RDKafkaLogLevel::Warning
                if self.is_new(fac, message) =>
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
    fn is_new(&self, fac: &str, message: &str) -> bool {
        if fac != "FAIL" {
            return true;
        }
        let lasting = message.rsplit_once(" (after ");
        let lasting = lasting.map_or(message, |(lasting, _)| lasting);
        let Ok(mut logged) = self.0.lock() else {
            return true;
        };
        if logged.len() >= LOGGED_MAX {
            logged.clear();
        }
        logged.insert(lasting.to_owned())
    }

    fn forget(&self) {
        if let Ok(mut logged) = self.0.lock() {
            logged.clear();
        }
    }
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
        assert!(logged.is_new("FAIL", &failure(1)));
        assert!(!logged.is_new("FAIL", &failure(2)));
        assert!(logged.is_new("FAIL", "kafka:9092: Disconnected"));
        assert!(
            logged.is_new("OTHER", &failure(3)),
            "not about a connection"
        );
        logged.forget();
        assert!(logged.is_new("FAIL", &failure(4)));
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
