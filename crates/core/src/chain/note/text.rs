//! Notes as people read them: time, what happened, which line, and the rest.

use std::fmt::Write as _;

use jiff::{Timestamp, tz::Offset};

use super::{ChainEvent, LineRef, Note};
use crate::chain::{LOCK_CALLS_MAX, Leave};

impl Note {
    /// The line for people, with times shifted by `offset`.
    pub fn text(&self, offset: Offset) -> String {
        let clock = Clock(offset);
        let (at, label, rest) = (
            clock.show(self.at),
            self.said.label(),
            self.said.rest(&clock),
        );
        match &self.of {
            Some(LineRef { line, expression }) => {
                format!("{at}  {label} {line:>3}  {expression} {rest}")
            }
            None => format!("{at}  {label} {rest}"),
        }
    }
}

struct Clock(Offset);

impl Clock {
    fn show(&self, at: Timestamp) -> String {
        self.0.to_datetime(at).strftime("%F %H:%M:%S").to_string()
    }
}

fn leave_text(leave: Leave) -> String {
    match leave {
        Leave::Newer { run_id } => format!("run {run_id} is newer"),
        Leave::Over => "its time limit is reached".to_owned(),
        Leave::Stopped => "stopped by a signal".to_owned(),
        Leave::Once => "one round was requested".to_owned(),
    }
}

impl ChainEvent {
    fn label(&self) -> &'static str {
        match self {
            Self::Began { .. } => "begins ",
            Self::Keeps { .. } => "keeps  ",
            Self::Refused { .. } => "refused",
            Self::Warned { .. } => "warning",
            Self::Fired { .. } => "fired  ",
            Self::Lost { .. } => "left   ",
            Self::Failed { .. } => "FAILED ",
            Self::Missed { .. } => "MISSED ",
            Self::Skipped { .. } => "skipped",
            Self::Settled { .. } => "settled",
            Self::Unfinished { .. } => "OPEN   ",
            Self::Cleaned { .. } => "cleaned",
            Self::Trouble { .. } => "trouble",
            Self::Left { .. } => "leaves ",
        }
    }

    /// What people read after label and line.
    fn rest(&self, clock: &Clock) -> String {
        match self {
            Self::Began { .. } => self.began(clock),
            Self::Keeps { next_at } => match next_at {
                Some(next) => format!(" next {}", clock.show(*next)),
                None => " never again".to_owned(),
            },
            Self::Refused { line, column, why }
            | Self::Warned {
                line, column, why, ..
            } => format!("line {line}, column {column}: {why}"),
            Self::Fired {
                slot,
                caught_up,
                attempts,
            } => {
                let missed = if *caught_up { ", caught up" } else { "" };
                let tries = (*attempts > 1).then(|| format!(", {attempts} tries"));
                let tries = tries.unwrap_or_default();
                format!(" {}{missed}{tries}", clock.show(*slot))
            }
            Self::Lost { slot } => format!(" {}", clock.show(*slot)),
            Self::Failed { slot, why } | Self::Missed { slot, why } => {
                format!(" {}: {why}", clock.show(*slot))
            }
            Self::Skipped {
                first,
                last,
                slots,
                reason,
            } => {
                let (first, last) = (clock.show(*first), clock.show(*last));
                format!(" {slots} × {reason}, {first} to {last}")
            }
            Self::Settled { slot, how } => format!(" {}: {how}", clock.show(*slot)),
            Self::Unfinished { slot } => format!(
                " {}: this chain leaves before it knows whether the target was started",
                clock.show(*slot)
            ),
            Self::Cleaned { locks } => format!("{locks} old locks"),
            Self::Trouble { doing, why } => format!("{doing}: {why}"),
            Self::Left { leave, open } => format!("{}, {open} firings open", leave_text(*leave)),
        }
    }

    fn began(&self, clock: &Clock) -> String {
        let Self::Began {
            lines,
            round,
            ends_at,
            calls_an_hour,
        } = self
        else {
            return String::new();
        };
        let (round_s, end) = (round.as_secs_f64(), clock.show(*ends_at));
        let plural = if *lines == 1 { "" } else { "s" };
        let mut text = format!(
            "keeps {lines} line{plural} in rounds of {round_s} s until {end}; two chains make about \
             {calls_an_hour} requests an hour"
        );
        if *calls_an_hour > LOCK_CALLS_MAX {
            let _ = write!(
                text,
                ", more than the {LOCK_CALLS_MAX} that GitHub grants: slots will be late or missed"
            );
        }
        text
    }
}
