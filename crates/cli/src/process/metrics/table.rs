//! The one list of all metrics, each with its description.
//!
//! `/metrics` describes each of them, and exports every counter that can be known in advance at 0
//! from the start: `increase()` misses the first count of a counter that appears with it. Counters
//! per kind start with the configured kinds, and with any other kind when its first task waits.

use almanack_engine::runner::export_kind;

use crate::config::Settings;

/// How a metric behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Counter,
    Gauge,
    Histogram,
}

struct Metric {
    name: &'static str,
    shape: Shape,
    help: &'static str,
    /// The label and its values that are exported at 0 from the start; no label if it is empty.
    zeros: Option<(&'static str, &'static str)>,
}

/// One metric per line: its shape, its name and its description. A `late` counter is not exported
/// until it counts: its labels are not known before. One `by` a label is exported at 0 for each of
/// these values.
macro_rules! metrics {
    (@zeros late) => { None };
    (@zeros counter) => { Some(("", "")) };
    (@zeros counter $label:ident $values:literal) => { Some((stringify!($label), $values)) };
    (@zeros $other:ident) => { None };
    (@shape late) => { Shape::Counter };
    (@shape counter) => { Shape::Counter };
    (@shape gauge) => { Shape::Gauge };
    (@shape histogram) => { Shape::Histogram };
    ($($shape:ident $name:ident $(by $label:ident $values:literal)?: $help:literal;)+) => {
        const METRICS: &[Metric] = &[$(Metric {
            name: stringify!($name),
            shape: metrics!(@shape $shape),
            help: $help,
            zeros: metrics!(@zeros $shape $($label $values)?),
        }),+];
    };
}

metrics! {
    gauge almanack_build_info: "Always 1; the label is the version that runs";
    gauge almanack_ready: "1 while /readyz reports that the node can work, else 0";
    counter almanack_reschedule_total by rule
        "created updated cancelled_and_inserted reinserted cancelled ignored_done ignored_stale \
         unchanged":
        "Changes of tasks, by the rule that decided them";
    counter almanack_inbox_total by result "taken refused":
        "Requests of SQL functions that this node answered, by result";
    late almanack_runs_total: "Ended attempts, by kind and outcome";
    late almanack_tasks_failed_total: "Tasks that failed for good, by kind";
    counter almanack_tasks_expired_total: "Tasks that expired before they could start";
    histogram almanack_run_duration_seconds: "Duration of attempts, by kind";
    histogram almanack_run_wait_seconds: "Delay from due to started, by kind";
    gauge almanack_running: "Attempts running on this node, by kind";
    gauge almanack_queue_depth: "Waiting tasks, by kind: all of them, and those that are due";
    gauge almanack_kind_paused: "Whether a kind is paused: 1, or 0 once it is resumed";
    late almanack_rate_limited_total: "Tasks put off because their key was over its rate, by kind";
    gauge almanack_oldest_due_seconds: "Time since the longest due task became due, by kind";
    counter almanack_lease_expired_total: "Tasks taken back from dead nodes";
    counter almanack_endings_refused_total:
        "Results of attempts that the database rejects for good";
    counter almanack_fenced_writes_total:
        "Results rejected because another attempt had taken over the task";
    gauge almanack_clock_skew_seconds: "Difference between a node's clock and the database's";
    counter almanack_fires_total by outcome
        "fired caught_up paused too_late not_caught_up over_cap overlap changed":
        "Slots of schedules, by outcome";
    histogram almanack_fire_lateness_seconds: "Delay from a slot to the planning of its firing";
    counter almanack_events_delivered_total by type
        "almanack.task.finished.v1 almanack.edition.published.v1 almanack.source.entries.v1 \
         almanack.source.entry_updated.v1 almanack.monitor.down.v1 almanack.monitor.up.v1":
        "Events that subscribers accepted, by type";
    gauge almanack_sources: "Sources, by state";
    gauge almanack_sources_attention: "Sources that need attention, by reason";
    gauge almanack_sources_due: "Active sources that are due for a check";
    gauge almanack_sources_in_backoff: "Active sources that wait after failures";
    gauge almanack_source_price_seconds: "Delay that one check of a source is worth, in seconds";
    counter almanack_source_checks_total by result "new nothing unchanged":
        "Checks of sources made by this node, by result";
    counter almanack_source_entries_total: "New entries found by this node";
    counter almanack_source_entries_dropped_total: "New entries that filters dropped on this node";
    counter almanack_source_alerts_total by attention "silent truncated identity failing duplicate credentials gone":
        "Sources that began to need attention, by reason";
    counter almanack_source_pushes_total by result "new nothing checked unsigned resting":
        "Pushes of hubs that this node received, by result";
    histogram almanack_source_check_seconds: "Duration of checks of sources";
    counter almanack_newsletter_messages_total: "Messages of editions to subscribers, by outcome";
    gauge almanack_edition_state: "1 for the state of the day's edition, 0 for the others";
    gauge almanack_edition_stories: "Stories of the day's edition, by status";
    gauge almanack_edition_requests: "Requests spent on the day's edition so far";
    gauge almanack_edition_batch_requests: "Requests spent by the last batch of the day's edition";
    gauge almanack_edition_budget: "Requests that one tick may spend";
    counter almanack_edition_ticks_total: "Ticks of editions";
    counter almanack_edition_batches_total by status "success partial failed":
        "Batches of editions, by status";
    counter almanack_edition_spendthrift_batches_total:
        "Batches that spent more requests than recommended";
    counter almanack_edition_requests_total: "Requests spent on editions";
    counter almanack_edition_tokens_total by direction "in out":
        "Tokens of the language model, by direction";
    late almanack_edition_transitions_total: "State changes of editions, by new state";
    counter almanack_edition_deliveries_total by outcome "confirmed spent failed unknown":
        "Attempts to deliver an edition, by outcome";
    late almanack_alerts_opened_total: "Alerts opened, by rule";
    gauge almanack_alerts_open: "Open alerts, by rule, as this node last read them";
    late almanack_alerts_notified_total: "Alert messages sent, by channel and outcome";
    counter almanack_heartbeats_total by outcome "heard failed": "Outbound heartbeats, by outcome";
    late almanack_events_total: "Messages from a bus, by outcome";
    late almanack_events_redelivered_total: "Messages that a bus had delivered before";
    gauge almanack_events_lag: "Messages waiting on a bus; absent while it is not connected";
    gauge almanack_bus_connected: "1 while a message bus is connected and serves this node, else 0";
    counter almanack_backups_total by outcome "made failed": "Scheduled backups, by outcome";
    gauge almanack_backup_last_success_timestamp_seconds:
        "Time of the newest scheduled backup";
    gauge almanack_backup_size_bytes: "Size of the newest scheduled backup made by this process";
    gauge almanack_disk_free_bytes: "Free space on the disk of a SQLite store";
    gauge almanack_store_size_bytes: "Size of the store, without its log";
    late almanack_http_requests_total: "Answered requests";
    histogram almanack_http_request_duration_seconds:
        "Time until the response to a request began";
    histogram almanack_database_operation_duration_seconds:
        "Duration of database operations, waiting included";
    histogram almanack_database_pool_wait_seconds:
        "Time that work waited for a database connection";
    counter almanack_trace_spans_total: "Spans sent to the collector";
    counter almanack_trace_spans_dropped_total by why "queue collector": "Spans dropped, by cause";
    late process_cpu_seconds_total: "Processor time of the process";
    gauge process_resident_memory_bytes: "Resident memory of the process";
    gauge process_virtual_memory_bytes: "Address space of the process";
    gauge process_open_fds: "Open files and connections";
    gauge process_max_fds: "Limit of open files and connections";
    gauge process_threads: "Threads of the process";
    gauge process_start_time_seconds: "Start time of the process, in seconds since 1970";
}

/// Describes all of them, and exports the counters that can be known at 0.
pub(super) fn export() {
    for metric in METRICS {
        let Metric {
            name, shape, help, ..
        } = *metric;
        match shape {
            Shape::Counter => metrics::describe_counter!(name, help),
            Shape::Gauge => metrics::describe_gauge!(name, help),
            Shape::Histogram => metrics::describe_histogram!(name, help),
        }
        match metric.zeros {
            None => {}
            Some(("", _)) => metrics::counter!(name).increment(0),
            Some((label, values)) => {
                for value in values.split(' ') {
                    metrics::counter!(name, label => value).increment(0);
                }
            }
        }
    }
}

/// The same for labels that come from the settings: kinds, buses and channels.
pub(super) fn export_configured(settings: &Settings) {
    for kind in settings.kinds.keys() {
        export_kind(kind.as_str());
    }
    let kafka = settings.events.kafka.iter().map(|_| "kafka");
    let nats = settings.events.nats.iter().map(|_| "nats");
    for bus in kafka.chain(nats) {
        for outcome in ["taken", "passed_over", "dead_letter", "not_now"] {
            metrics::counter!("almanack_events_total", "bus" => bus, "outcome" => outcome)
                .increment(0);
        }
        metrics::counter!("almanack_events_redelivered_total", "bus" => bus).increment(0);
    }
    for channel in &settings.alerts.channels {
        for outcome in ["taken", "refused", "failed"] {
            metrics::counter!("almanack_alerts_notified_total", "channel" => channel.name.clone(), "outcome" => outcome)
                .increment(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    /// The names that are quoted in the product's sources, this list aside.
    fn counted(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                counted(&path, found);
            } else if path.extension().is_some_and(|it| it == "rs") && !path.ends_with("table.rs") {
                let text = fs::read_to_string(&path).unwrap();
                let is_name = |it: &&str| {
                    let ours = it.starts_with("almanack_") || it.starts_with("process_");
                    ours && it.chars().all(|c| c.is_ascii_lowercase() || c == '_')
                };
                let called = text.split("!(").skip(1);
                let quoted = called.filter_map(|rest| {
                    let name = rest.trim_start().strip_prefix('"')?;
                    name.split('"').next()
                });
                found.extend(quoted.filter(is_name).map(str::to_owned));
            }
        }
    }

    #[test]
    fn every_metric_is_in_the_list_and_in_the_guide_and_has_base_units() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut found = BTreeSet::new();
        for part in [
            "core", "engine", "server", "cli", "adapters", "bus", "store",
        ] {
            counted(&root.join("crates").join(part).join("src"), &mut found);
        }
        let listed: BTreeSet<String> = METRICS.iter().map(|it| it.name.to_owned()).collect();
        assert_eq!(found, listed, "what is counted, and what is listed");
        let guide = |name| fs::read_to_string(root.join("docs/guide").join(name)).unwrap();
        let guide = guide("operations.md")
            + &guide("events.md")
            + &guide("schedules.md")
            + &guide("editions.md")
            + &guide("pacing.md")
            + &guide("sources.md");
        for metric in METRICS {
            assert!(
                guide.contains(metric.name),
                "{} is in no guide",
                metric.name
            );
            let other = [
                "_hours",
                "_minutes",
                "_ms",
                "_millis",
                "_kib",
                "_mib",
                "_kilobytes",
            ];
            assert!(
                !other.iter().any(|unit| metric.name.contains(unit)),
                "{}",
                metric.name
            );
            let is_total = metric.name.ends_with("_total");
            assert_eq!(is_total, metric.shape == Shape::Counter, "{}", metric.name);
            assert!(metric.help.len() > 10 && !metric.help.ends_with('.'));
        }
    }

    #[test]
    fn counters_are_there_before_they_count_and_everything_is_described() {
        let recorder = super::super::recorder().unwrap();
        let metrics = recorder.handle();
        metrics::with_local_recorder(&recorder, || {
            export();
            export_kind("ARTICLE_PUBLISH");
            metrics::gauge!("almanack_running", "kind" => "K").set(1.0);
        });
        let text = metrics.render();
        for line in [
            "almanack_lease_expired_total 0",
            r#"almanack_reschedule_total{rule="ignored_stale"} 0"#,
            r#"almanack_tasks_failed_total{kind="ARTICLE_PUBLISH"} 0"#,
            r#"almanack_runs_total{kind="ARTICLE_PUBLISH",outcome="done"} 0"#,
            r#"almanack_backups_total{outcome="failed"} 0"#,
            "# HELP almanack_running Attempts running on this node, by kind",
        ] {
            assert!(text.lines().any(|it| it == line), "{line}\n{text}");
        }
        let described = text.lines().filter(|it| it.starts_with("# HELP")).count();
        let typed = text.lines().filter(|it| it.starts_with("# TYPE")).count();
        assert_eq!(described, typed, "{text}");
    }
}
