//! What a schedule meant there and does not mean here, or not in the same words.

use std::fmt;

use crate::schedule::Field;

/// What to know about an imported schedule.
#[derive(Debug, Clone, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Difference {
    /// There a day must fit both day fields.
    BothDays,
    /// There a day field that begins with `*` does not count as restricted.
    StepDay { field: Field },
    /// There 7 is no weekday.
    NeverSunday,
    /// There a line with a trailing comment is dropped.
    Dropped,
    /// There nothing happens more often than every ten seconds.
    Round {
        /// What is requested.
        period_s: u32,
    },
    /// There what was missed is lost.
    CaughtUp,
    /// There the machine's clock is read, and its zone is unknown.
    LocalTime,
    /// There fixed times are lost in a gap of the clocks, and repeated hours happen once.
    Clocks,
    /// There a random value is drawn again and again.
    Random,
    /// There the shell runs every command; here it has to be requested.
    Shell { shell: String },
    /// There the output is mailed.
    Mail,
    /// There a variable is set for the commands.
    Environment {
        /// Its name; values may be secret.
        name: String,
    },
    /// There the command runs as another user.
    User { user: String },
    /// There a timer may be late on purpose.
    Accuracy,
    /// There every delay is drawn again.
    Delay,
    /// There the period counts from the last start.
    Monotonic,
    /// There a first start follows the machine's own.
    Boot { setting: String },
    /// There a unit is started from inside.
    Unit { unit: String },
    /// A setting that has no counterpart.
    Ignored { setting: String },
    /// There it happens late, or not at all, when much is going on.
    Late,
    /// There it happens every five minutes at most.
    Often,
    /// There the default branch runs.
    Branch,
    /// The workflow cannot be started from outside.
    NotDispatchable,
    /// There jobs know its address.
    PingKey,
    /// There it is paused.
    Paused,
}

impl Difference {
    /// A name for programs.
    pub fn code(&self) -> &'static str {
        self.into()
    }

    /// Whether the schedule was written so that it means here what it meant there.
    pub fn is_kept(&self) -> bool {
        matches!(
            self,
            Self::BothDays | Self::StepDay { .. } | Self::Shell { .. }
        )
    }
}

impl fmt::Display for Difference {
    #[expect(clippy::too_many_lines, reason = "a flat list of sentences")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BothDays => f.write_str(
                "a day had to fit both day fields there and either one here; written with `+`, which asks \
                 for both",
            ),
            Self::StepDay { field } => write!(
                f,
                "{field}: what begins with `*` is no restriction there and one here; written with `+`, so \
                 that the same days fire",
            ),
            Self::NeverSunday => {
                f.write_str("day of week: 7 matched no day there and is Sunday here")
            }
            Self::Dropped => f.write_str(
                "a line with a comment behind it was dropped there; here it fires",
            ),
            Self::Round { period_s } => write!(
                f,
                "nothing fired more often than every 10 s there; here it is every {period_s} s",
            ),
            Self::CaughtUp => f.write_str(
                "missed times were lost there; here the latest one is caught up (catch_up=none loses it)",
            ),
            Self::LocalTime => f.write_str(
                "times are in the machine's own zone there; taken as UTC here (--tz names another)",
            ),
            Self::Clocks => f.write_str(
                "where the clocks skip a fixed time it was lost there and moves to the end of the gap here; \
                 intervals in a repeated hour happened once there and twice here",
            ),
            Self::Random => {
                f.write_str("`~` was drawn at random there; here it always picks the same value")
            }
            Self::Shell { shell } => write!(
                f,
                "the command needs a shell; {shell} is used as its program, because none is started by default",
            ),
            Self::Mail => f.write_str("output was mailed there; here it is kept with the firing"),
            Self::Environment { name } => {
                write!(f, "the variable {name} was set for commands there; here it is not")
            }
            Self::User { user } => {
                write!(f, "ran as user {user} there; here as the node's own user")
            }
            Self::Accuracy => f.write_str(
                "a timer may be late by its AccuracySec there (1min by default); here it fires on the second",
            ),
            Self::Delay => f.write_str(
                "every start was delayed at random there; here the delay is picked once, from the name",
            ),
            Self::Monotonic => f.write_str(
                "the period counted from the last start there; here it is counted from 1970-01-01T00:00:00Z",
            ),
            Self::Boot { setting } => {
                write!(f, "{setting}: nothing fires after a boot here")
            }
            Self::Unit { unit } => write!(
                f,
                "starts {unit} by systemctl: commands must be allowed on the node, and its user must be \
                 allowed to start units",
            ),
            Self::Ignored { setting } => write!(f, "{setting} has no counterpart here"),
            Self::Late => f.write_str(
                "scheduled workflows start late or not at all there when much is going on; here they are \
                 dispatched on time",
            ),
            Self::Often => f.write_str(
                "nothing runs more often than every 5 minutes there; here it does",
            ),
            Self::Branch => {
                f.write_str("the default branch runs there; here it is the branch `main` (ref)")
            }
            Self::NotDispatchable => f.write_str(
                "the workflow has no `workflow_dispatch` trigger and cannot be started from outside; add it \
                 beside `schedule`",
            ),
            Self::PingKey => f.write_str(
                "jobs ping its address there; `almanack monitor key NAME --key UUID` keeps its UUID, so that \
                 only the host changes",
            ),
            Self::Paused => f.write_str(
                "it is paused there; `almanack monitor pause NAME` pauses it here",
            ),
        }
    }
}
