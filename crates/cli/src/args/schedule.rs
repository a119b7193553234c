//! The arguments of `almanack schedule`, `why` and `tick`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde::Serialize;

const PUT_HELP: &str = "\
Targets, exactly one:
  --target-webhook https://example.org/hook
  --target-workflow owner/name/ci.yml [--target-ref main] [--target-input K=V]
  --target-task EDITION_RUN edition:{date}
  --target-command /usr/bin/rsync --target-command -a --target-command from/
  --target '{\"type\":\"webhook\",\"url\":\"https://example.org/hook\"}'";

/// What to do with schedules.
#[derive(Debug, Subcommand)]
pub(crate) enum ScheduleCommand {
    /// List schedules by name
    List(ScheduleListArguments),
    /// Show a schedule: next times, policies, recent firings
    Show(NameArguments),
    /// Create or change a schedule that is not in a configuration file
    #[command(
        after_help = PUT_HELP,
        override_usage = "almanack schedule put [OPTIONS] <NAME> <EXPR> --target-…"
    )]
    Put(Box<SchedulePutArguments>),
    /// Pause a schedule until you resume it, or until a time
    Pause {
        #[command(flatten)]
        schedule: NameArguments,
        /// Resume automatically at this time; as for `task put --at`
        #[arg(long, value_name = "TIME")]
        until: Option<String>,
        /// Reason to show to others
        #[arg(long)]
        note: Option<String>,
    },
    /// Resume a paused schedule
    Resume(NameArguments),
    /// Plan a schedule again from now, after a clock that was ahead had planned it
    Rewind {
        /// Name of the schedule [default: all that need it]
        name: Option<String>,
    },
    /// Remove a schedule; its history stays
    Remove(NameArguments),
    /// Fire now, in addition to the schedule
    Fire {
        #[command(flatten)]
        schedule: NameArguments,
        /// Fire even if the latest firing has not ended
        #[arg(long)]
        force: bool,
    },
    /// Fire past slots that have not fired
    Backfill(BackfillArguments),
    /// List the slots of a schedule with their outcomes, newest first
    Slots {
        #[command(flatten)]
        schedule: NameArguments,
        /// Most rows to show
        #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = super::some)]
        limit: usize,
    },
    /// Print what a run of a schedule printed: the latest, or that of a slot
    Log(LogArguments),
    /// Compare a configuration file's schedules, and its DISPATCH, with the active ones
    Plan {
        /// Configuration file
        file: PathBuf,
        /// How far ahead to compare
        #[arg(long = "for", value_name = "PERIOD", default_value = "24h")]
        period: String,
    },
}

/// Which schedule.
#[derive(Debug, Args)]
pub(crate) struct NameArguments {
    /// Name of the schedule
    pub(crate) name: String,
}

/// Which schedules.
#[derive(Debug, Args)]
pub(crate) struct ScheduleListArguments {
    /// Only schedules of this origin
    #[arg(long, value_parser = ["file", "dispatch", "api"])]
    pub(crate) origin: Option<String>,
    /// Only schedules in this state
    #[arg(long, value_parser = ["active", "paused", "parked", "removed", "done"])]
    pub(crate) state: Option<String>,
    /// Only schedules with this tag
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Option<String>,
    /// Only schedules of this owner
    #[arg(long, value_name = "NAME")]
    pub(crate) owner: Option<String>,
}

/// What to put.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("at").required(true))]
pub(crate) struct SchedulePutArguments {
    /// Name of the schedule
    pub(crate) name: String,
    /// When it fires, in quotes; `almanack next` explains an expression
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    pub(crate) expression: String,
    /// POST to this address
    #[arg(long, value_name = "URL", group = "at")]
    pub(crate) target_webhook: Option<String>,
    /// Start this GitHub workflow
    #[arg(long, value_name = "OWNER/NAME/FILE", group = "at")]
    pub(crate) target_workflow: Option<String>,
    /// Create a task
    #[arg(long, num_args = 2, value_names = ["KIND", "SUBJECT"], group = "at")]
    pub(crate) target_task: Option<Vec<String>>,
    /// Run a program; repeat for each argument
    #[arg(
        long,
        value_name = "ARGUMENT",
        group = "at",
        allow_hyphen_values = true
    )]
    pub(crate) target_command: Vec<String>,
    /// Any target, as JSON
    #[arg(long, value_name = "JSON", group = "at")]
    pub(crate) target: Option<String>,
    /// Branch or tag of the workflow
    #[arg(long, value_name = "REF")]
    pub(crate) target_ref: Option<String>,
    /// Input of the workflow; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = super::input)]
    pub(crate) target_input: Vec<(String, String)>,
    /// The webhook may answer 202 and report the end within this time [default: its answer is the end]
    #[arg(long, value_name = "DURATION")]
    pub(crate) target_report_within: Option<String>,
    /// Payload of the webhook or the task
    #[arg(long, value_name = "JSON")]
    pub(crate) target_payload: Option<String>,
    /// Method of the webhook: GET, POST, PUT, PATCH or DELETE [default: POST]
    #[arg(long, value_name = "METHOD", hide_possible_values = true,
        value_parser = ["GET", "POST", "PUT", "PATCH", "DELETE"])]
    pub(crate) target_method: Option<String>,
    /// Header of the webhook; secrets as `env:NAME` or `file:PATH`; repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = super::input)]
    pub(crate) target_header: Vec<(String, String)>,
    /// Body of the webhook in place of the firing; {slot} and the like are filled in
    #[arg(long, value_name = "JSON")]
    pub(crate) target_template: Option<String>,
    /// Call this address when a firing starts; {env:NAME} stands for a secret
    #[arg(long, value_name = "URL", help_heading = "Pings")]
    pub(crate) ping_start: Option<String>,
    /// Call this address when a firing has succeeded
    #[arg(long, value_name = "URL", help_heading = "Pings")]
    pub(crate) ping_success: Option<String>,
    /// Call this address when a firing has failed
    #[arg(long, value_name = "URL", help_heading = "Pings")]
    pub(crate) ping_failure: Option<String>,
    #[command(flatten)]
    pub(crate) policies: PolicyArguments,
}

/// How it fires when things do not go as planned; named as the API names them.
#[derive(Debug, Args, Serialize)]
#[command(next_help_heading = "Policies")]
pub(crate) struct PolicyArguments {
    /// Time zone of the expression [default: UTC]
    #[arg(long, value_name = "ZONE")]
    pub(crate) tz: Option<String>,
    /// Another expression, with its own zone behind `@` if it has one; repeatable
    #[arg(long, value_name = "EXPR[@ZONE]", allow_hyphen_values = true)]
    pub(crate) also: Vec<String>,
    /// Calendar on whose days it does not fire; repeatable
    #[arg(long, value_name = "CALENDAR")]
    pub(crate) except: Vec<String>,
    /// Calendar outside whose days it does not fire; repeatable
    #[arg(long, value_name = "CALENDAR")]
    pub(crate) only: Vec<String>,
    /// Where a slot goes whose day is left out [default: it is skipped]
    #[arg(long = "move", value_parser = ["next_workday", "previous_workday"])]
    #[serde(rename = "move")]
    pub(crate) moves: Option<String>,
    /// Hours in which it does not fire, like 22:00-06:00; repeatable
    #[arg(long, value_name = "HOURS")]
    pub(crate) quiet: Vec<String>,
    /// No slot before this time; as for `task put --at`
    #[arg(long, value_name = "TIME")]
    pub(crate) starts_at: Option<String>,
    /// No slot after this time; as for `task put --at`
    #[arg(long, value_name = "TIME")]
    pub(crate) ends_at: Option<String>,
    /// Number of slots that fire; then it is done [default: all]
    #[arg(long, value_name = "COUNT")]
    pub(crate) runs: Option<u32>,
    /// Delay every slot by a random part of this [default: 0s]
    #[arg(long, value_name = "DURATION")]
    pub(crate) jitter: Option<String>,
    /// Which missed slots fire late [default: latest]
    #[arg(long, value_parser = ["none", "latest", "all"])]
    pub(crate) catch_up: Option<String>,
    /// How late a slot may still fire [default: half the gap to the next, at most 12h]
    #[arg(long, value_name = "DURATION")]
    pub(crate) grace: Option<String>,
    /// Most missed slots to fire [default: 100]
    #[arg(long, value_name = "COUNT")]
    pub(crate) max_catch_up: Option<u32>,
    /// Time between two missed slots [default: 1s]
    #[arg(long, value_name = "DURATION")]
    pub(crate) catch_up_pace: Option<String>,
    /// What to do when the previous firing has not ended [default: skip]
    #[arg(long, value_parser = ["skip", "queue_one", "allow", "cancel_running"])]
    pub(crate) overlap: Option<String>,
    /// How long the work of a firing may take before it counts as failed [default: 24h]
    #[arg(long, value_name = "DURATION")]
    pub(crate) run_timeout: Option<String>,
    /// Fire up to this much later, by a part fixed for each schedule [default: 0s]
    #[arg(long, value_name = "DURATION")]
    pub(crate) splay: Option<String>,
    /// Which slots of a pause fire when it ends [default: skip]
    #[arg(long, value_parser = ["skip", "latest"])]
    pub(crate) on_resume: Option<String>,
    /// How long to retry a failed firing [default: the gap to the next slot, 10s to 1h]
    #[arg(long, value_name = "DURATION")]
    pub(crate) retry_for: Option<String>,
    #[command(flatten)]
    pub(crate) retry: RetryArguments,
    /// How long one attempt of a webhook or workflow may take [default: the node's]
    #[arg(long, value_name = "DURATION")]
    pub(crate) timeout: Option<String>,
    /// How many firings run at once, in all nodes together [default: as many as --overlap lets]
    #[arg(long, value_name = "COUNT")]
    pub(crate) firings_max: Option<u32>,
    /// Tag to find it by; repeatable
    #[arg(long = "tag", value_name = "TAG")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tags: Vec<String>,
    /// Who looks after it
    #[arg(long, value_name = "NAME")]
    pub(crate) owner: Option<String>,
    /// Alert channels for its alerts, separated by commas; none notifies nobody [default: all]
    #[arg(long, value_name = "CHANNELS", value_delimiter = ',')]
    pub(crate) alerts: Option<Vec<String>>,
    /// Priority, 0 to 9; 9 runs first [default: 5]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) priority: Option<u8>,
}

/// How a failed firing is retried.
#[derive(Debug, Args, Serialize)]
pub(crate) struct RetryArguments {
    /// Maximum number of retries [default: as many as --retry-for has room for]
    #[arg(long = "retries", value_name = "COUNT")]
    pub(crate) count: Option<u32>,
    /// Longest wait before the first retry; each further one is up to twice as long [default: 2s]
    #[arg(long, value_name = "DURATION")]
    pub(crate) backoff: Option<String>,
    /// Longest wait before any retry [default: 1m]
    #[arg(long, value_name = "DURATION")]
    pub(crate) backoff_max: Option<String>,
}

/// Which run.
#[derive(Debug, Args)]
pub(crate) struct LogArguments {
    #[command(flatten)]
    pub(crate) schedule: NameArguments,
    /// Slot, or time of a manual firing; in the schedule's zone unless it names one [default: the
    /// latest firing]
    #[arg(value_name = "SLOT", allow_hyphen_values = true)]
    pub(crate) slot: Option<String>,
    /// Which attempt, from 1 [default: the latest]
    #[arg(long, value_name = "NUMBER", conflicts_with = "follow")]
    pub(crate) attempt: Option<usize>,
    /// Keep printing until the firing ends, through all its attempts
    #[arg(long, short)]
    pub(crate) follow: bool,
}

/// Which slots.
#[derive(Debug, Args)]
pub(crate) struct BackfillArguments {
    #[command(flatten)]
    pub(crate) schedule: NameArguments,
    /// Start of the range, inclusive; in the schedule's zone unless it names one
    #[arg(long, value_name = "TIME")]
    pub(crate) from: String,
    /// End of the range, exclusive
    #[arg(long, value_name = "TIME", default_value = "now")]
    pub(crate) to: String,
    /// Time between two firings
    #[arg(long, value_name = "DURATION", default_value = "1s")]
    pub(crate) pace: String,
    /// Only list the slots that would fire
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Which slot, or which source.
#[derive(Debug, Args)]
pub(crate) struct WhyArguments {
    /// Name of the schedule, or a source like source:17
    #[arg(value_name = "SCHEDULE")]
    pub(crate) name: String,
    /// When it fired, should have fired or will fire; in the schedule's zone unless it names one
    #[arg(value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) time: Option<String>,
}

/// How long to work.
#[derive(Debug, Args)]
pub(crate) struct TickArguments {
    /// How long to work; the next tick does the rest
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    pub(crate) budget: String,
}
