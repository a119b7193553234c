//! The arguments of `almanack schedule`, `why` and `tick`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

const PUT_HELP: &str = "\
Targets, exactly one:
  --target-webhook https://example.org/hook
  --target-workflow owner/name/daily.yml [--target-ref main] [--target-input key=value]…
  --target-task EDITION_RUN edition:{date}
  --target-command /usr/bin/rsync --target-command -a --target-command from/
  --target '{\"type\":\"webhook\",\"url\":\"https://example.org/hook\"}'";

/// What to do with schedules.
#[derive(Debug, Subcommand)]
pub(crate) enum ScheduleCommand {
    /// List schedules by name
    List(ScheduleListArguments),
    /// Show a schedule: when it fires, by which rules, and what became of it
    Show(NameArguments),
    /// Create or change a schedule that belongs to no file
    #[command(after_help = PUT_HELP)]
    Put(Box<SchedulePutArguments>),
    /// Let no slot fire, until it is resumed or until a time
    Pause {
        #[command(flatten)]
        schedule: NameArguments,
        /// Resume by itself at this time; as for `task put --at`
        #[arg(long, value_name = "TIME")]
        until: Option<String>,
        /// Why, for the others
        #[arg(long)]
        note: Option<String>,
    },
    /// Let a paused schedule fire again
    Resume(NameArguments),
    /// Take a schedule back to the present after a clock that was ahead had planned it
    Rewind {
        /// Which; all that need it if none is named
        name: Option<String>,
    },
    /// Take a schedule away; its history stays
    Remove(NameArguments),
    /// Fire now, beside the schedule
    Fire {
        #[command(flatten)]
        schedule: NameArguments,
        /// Even if its newest firing has not ended
        #[arg(long)]
        force: bool,
    },
    /// Fire slots of the past that have not fired
    Backfill(BackfillArguments),
    /// Tell what became of its slots, newest first
    Slots {
        #[command(flatten)]
        schedule: NameArguments,
        /// How many rows at most
        #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = super::some)]
        limit: usize,
    },
    /// Compare the schedules of a configuration file with those in force, and tell what would change
    Plan {
        /// The file
        file: PathBuf,
        /// How far to look ahead
        #[arg(long = "for", value_name = "PERIOD", default_value = "24h")]
        period: String,
    },
}

/// Which schedule.
#[derive(Debug, Args)]
pub(crate) struct NameArguments {
    /// What it is called
    pub(crate) name: String,
}

/// Which schedules.
#[derive(Debug, Args)]
pub(crate) struct ScheduleListArguments {
    /// Only of this origin
    #[arg(long, value_parser = ["file", "dispatch", "api"])]
    pub(crate) origin: Option<String>,
    /// Only in this state
    #[arg(long, value_parser = ["active", "paused", "parked", "removed"])]
    pub(crate) state: Option<String>,
}

/// What to put.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("at").required(true))]
pub(crate) struct SchedulePutArguments {
    /// What to call it
    pub(crate) name: String,
    /// When it fires, in quotes; `almanack next` shows what it means
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    pub(crate) expression: String,
    /// POST to this address
    #[arg(long, value_name = "URL", group = "at")]
    pub(crate) target_webhook: Option<String>,
    /// Start this GitHub workflow
    #[arg(long, value_name = "OWNER/NAME/FILE", group = "at")]
    pub(crate) target_workflow: Option<String>,
    /// Put a task
    #[arg(long, num_args = 2, value_names = ["KIND", "SUBJECT"], group = "at")]
    pub(crate) target_task: Option<Vec<String>>,
    /// Run a program; repeated for each of its arguments
    #[arg(
        long,
        value_name = "ARGUMENT",
        group = "at",
        allow_hyphen_values = true
    )]
    pub(crate) target_command: Vec<String>,
    /// Any target, as in the file but as JSON
    #[arg(long, value_name = "JSON", group = "at")]
    pub(crate) target: Option<String>,
    /// Branch or tag of the workflow
    #[arg(long, value_name = "REF")]
    pub(crate) target_ref: Option<String>,
    /// Input of the workflow; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = super::input)]
    pub(crate) target_input: Vec<(String, String)>,
    /// What the webhook or the task is sent
    #[arg(long, value_name = "JSON")]
    pub(crate) target_payload: Option<String>,
    #[command(flatten)]
    pub(crate) policies: PolicyArguments,
}

/// How it fires when things do not go as planned. What is left out is as by default.
#[derive(Debug, Args)]
#[command(next_help_heading = "Policies")]
pub(crate) struct PolicyArguments {
    /// Whose clock the expression reads [default: UTC]
    #[arg(long, value_name = "ZONE")]
    pub(crate) tz: Option<String>,
    /// Missed slots that fire late [default: latest]
    #[arg(long, value_parser = ["none", "latest", "all"])]
    pub(crate) catch_up: Option<String>,
    /// How late a slot may still fire [default: half the gap to the next, at most 12h]
    #[arg(long, value_name = "DURATION")]
    pub(crate) grace: Option<String>,
    /// Most missed slots that fire [default: 100]
    #[arg(long, value_name = "COUNT")]
    pub(crate) max_catch_up: Option<u32>,
    /// How far apart missed slots fire [default: 1s]
    #[arg(long, value_name = "DURATION")]
    pub(crate) catch_up_pace: Option<String>,
    /// A slot whose predecessor has not ended [default: skip]
    #[arg(long, value_parser = ["skip", "queue_one", "allow", "cancel_running"])]
    pub(crate) overlap: Option<String>,
    /// Fire up to this much later, each schedule by its own fixed part [default: 0s]
    #[arg(long, value_name = "DURATION")]
    pub(crate) splay: Option<String>,
    /// The slots of a pause when it ends [default: skip]
    #[arg(long, value_parser = ["skip", "latest"])]
    pub(crate) on_resume: Option<String>,
    /// How long a failed firing is tried again [default: the gap to the next slot, 10s to 1h]
    #[arg(long, value_name = "DURATION")]
    pub(crate) retry_for: Option<String>,
    /// 0 to 9; 9 goes first [default: 5]
    #[arg(long, value_name = "LEVEL")]
    pub(crate) priority: Option<u8>,
}

/// Which slots.
#[derive(Debug, Args)]
pub(crate) struct BackfillArguments {
    #[command(flatten)]
    pub(crate) schedule: NameArguments,
    /// The first slot is at or after this; without a zone, the schedule's
    #[arg(long, value_name = "TIME")]
    pub(crate) from: String,
    /// The last slot is before this
    #[arg(long, value_name = "TIME", default_value = "now")]
    pub(crate) to: String,
    /// Between two firings
    #[arg(long, value_name = "DURATION", default_value = "1s")]
    pub(crate) pace: String,
    /// Only tell what would fire
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Which slot, or which source.
#[derive(Debug, Args)]
pub(crate) struct WhyArguments {
    /// What the schedule is called, or a source like source:17
    #[arg(value_name = "SCHEDULE")]
    pub(crate) name: String,
    /// When it fired, should have fired or will fire; without a zone, the schedule's
    #[arg(value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) time: Option<String>,
}

/// How long.
#[derive(Debug, Args)]
pub(crate) struct TickArguments {
    /// What is left after this long is for the next tick
    #[arg(long, value_name = "DURATION", default_value = "60s")]
    pub(crate) budget: String,
}
