//! Every metric there is, with what it says: the one list.
//!
//! Whoever reads `/metrics` finds a description for each, and every counter that can be known in advance at 0 from the
//! start: a counter that first appears when something has happened hides that first time from everybody who asks how much it
//! increased. Counters per kind begin with the kinds that are configured, and with any other when it first waits.

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
    /// The label and its values that are exported at 0 from the start; of no label where that is empty.
    zeros: Option<(&'static str, &'static str)>,
}

/// A metric a line: its shape, its name and what it says. A `late` counter is exported by nobody until somebody counts: its labels
/// are not known before. One `by` a label is exported at 0 for each of these values.
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
    gauge almanack_build_info: "Always 1; which version runs";
    gauge almanack_ready: "1 while /readyz says that the node can work, else 0";
    counter almanack_reschedule_total by path
        "created updated cancelled_and_inserted reinserted cancelled ignored_done ignored_stale \
         unchanged":
        "Changes of intent, by rule";
    late almanack_runs_total: "Ended attempts, by kind and outcome";
    late almanack_tasks_failed_total: "Tasks that failed for good, by kind";
    histogram almanack_run_duration_seconds: "How long attempts took, by kind";
    histogram almanack_run_wait_seconds: "How late attempts started, by kind";
    gauge almanack_running: "Attempts running on this node, by kind";
    gauge almanack_queue_depth: "Tasks that wait, by kind: all of them, and those that are due";
    gauge almanack_oldest_due_seconds: "How long the longest due task has been due, by kind";
    counter almanack_lease_expired_total: "Tasks taken back from dead nodes";
    counter almanack_endings_refused_total:
        "Endings of attempts that the database refuses for good";
    counter almanack_fenced_writes_total:
        "Endings refused because the task had been taken from the attempt";
    gauge almanack_clock_skew_seconds: "How far a node's clock is from the database's";
    counter almanack_fires_total by outcome
        "fired caught_up paused too_late not_caught_up over_cap overlap changed":
        "Slots of schedules, by what became of them";
    histogram almanack_fire_lateness_seconds: "How long after its slot a firing was planned";
    counter almanack_events_total by type
        "almanack.task.finished.v1 almanack.edition.published.v1 almanack.source.entries.v1":
        "EventDelivery that subscribers took, by type";
    gauge almanack_sources: "Sources, by state";
    gauge almanack_sources_attention: "Sources that a person should look at, by reason";
    gauge almanack_sources_due: "Active sources whose time has come";
    gauge almanack_sources_in_backoff: "Active sources that failures keep waiting";
    gauge almanack_source_price_seconds: "Delay that one check of a source is worth";
    counter almanack_source_checks_total by outcome "new nothing unchanged":
        "Checks of sources made on this node, by outcome";
    counter almanack_source_entries_total: "New entries found by this node";
    counter almanack_source_alerts_total by attention "silent failing duplicate credentials":
        "Sources that began to want attention, by reason";
    histogram almanack_source_check_seconds: "How long checks of sources took";
    gauge almanack_edition_state: "1 for the state of the day's edition, 0 for the others";
    gauge almanack_edition_stories: "Stories of the day's edition, by status";
    gauge almanack_edition_requests: "Requests spent on the day's edition so far";
    gauge almanack_edition_batch_requests: "Requests spent by the last batch of the day's edition";
    gauge almanack_edition_budget: "Requests that one tick may spend";
    counter almanack_edition_ticks_total: "Ticks of editions";
    counter almanack_edition_batches_total by status "success partial failed":
        "Batches of editions, by how they ended";
    counter almanack_edition_spendthrift_batches_total:
        "Batches that spent more requests than is wise";
    counter almanack_edition_requests_total: "Requests spent on editions";
    counter almanack_edition_tokens_total by direction "in out":
        "Tokens of the language model, by direction";
    late almanack_edition_transitions_total: "Changes of an edition's state, by the new one";
    counter almanack_edition_deliveries_total by outcome "confirmed spent failed unknown":
        "Tries to deliver an edition, by outcome";
    late almanack_alerts_opened_total: "Alerts that opened, by rule";
    gauge almanack_alerts_open: "Alerts that are open, by rule, as this node last saw";
    late almanack_alerts_reported_total: "Messages about alerts, by channel and outcome";
    counter almanack_heartbeats_total by outcome "heard failed": "Outbound heartbeats, by outcome";
    late almanack_events_total: "Messages from a bus, by outcome";
    late almanack_events_redelivered_total: "Messages that a bus had delivered before";
    gauge almanack_events_lag: "Messages that wait on a bus; absent while it is not connected";
    gauge almanack_bus_connected: "1 while a message bus is connected and serves this node, else 0";
    counter almanack_backups_total by outcome "made failed": "Scheduled backups, by outcome";
    gauge almanack_backup_last_success_timestamp_seconds:
        "When the newest scheduled backup was made";
    gauge almanack_backup_size_bytes: "Size of the newest scheduled backup made by this process";
    gauge almanack_disk_free_bytes: "Space left on the disk of a SQLite store";
    gauge almanack_store_size_bytes: "Size of the store, without its log";
    late almanack_http_requests_total: "Answered requests";
    histogram almanack_http_request_duration_seconds:
        "How long requests took until their answer began";
    histogram almanack_database_operation_duration_seconds:
        "How long the database took, waiting included";
    histogram almanack_database_pool_wait_seconds:
        "How long work waited for a connection to the database";
    counter almanack_trace_spans_total: "Spans sent to the collector";
    counter almanack_trace_spans_dropped_total by why "queue collector": "Spans dropped, by why";
    late process_cpu_seconds_total: "Processor time of the process";
    gauge process_resident_memory_bytes: "Memory that the process holds";
    gauge process_virtual_memory_bytes: "Address space of the process";
    gauge process_open_fds: "Open files and connections";
    gauge process_max_fds: "Most open files and connections that are allowed";
    gauge process_threads: "Threads of the process";
    gauge process_start_time_seconds: "When the process started, since 1970";
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

/// The same for what only the settings know: kinds, buses and channels.
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
            metrics::counter!("almanack_alerts_told_total", "channel" => channel.name, "outcome" => outcome)
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
            metrics::gauge!("almanack_running", "queue" => "K").set(1.0);
        });
        let text = metrics.render();
        for line in [
            "almanack_lease_expired_total 0",
            r#"almanack_reschedule_total{path="ignored_stale"} 0"#,
            r#"almanack_tasks_failed_total{queue="ARTICLE_PUBLISH"} 0"#,
            r#"almanack_runs_total{queue="ARTICLE_PUBLISH",outcome="done"} 0"#,
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
