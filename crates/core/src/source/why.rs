//! Why a source is looked at when it is, in words, from stored facts.
//!
//! The task says when the next look is, because a person may have moved it, or its host asked to wait; the
//! row says why. Where the two differ, the sentence says so instead of giving the row's reason for a time it did not choose.

use jiff::{SignedDuration, Timestamp};

use super::{
    Source, State,
    check::FailureClass,
    hints::{HONOURED_MAX, Hints},
};
use crate::task::{Status, Task};

const DAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

/// A task that is put for now is due a moment after its row was written; nobody needs to hear of that.
const REPORTED_APART: SignedDuration = SignedDuration::from_secs(1);

/// When a source is looked at next, by its current task where that lives, else by its row.
pub fn next_look_at(source: &Source, task: Option<&Task>) -> Option<Timestamp> {
    let live = task.filter(|task| source.state == State::Active && task.is_live());
    live.map(|task| task.execute_at)
        .or(source.stats.next_due_at)
}

/// Why the next look is when it is, in a sentence.
pub fn next_look(source: &Source, task: Option<&Task>, now: Timestamp) -> String {
    match &source.state {
        State::Paused { since, note } => {
            let note = note.as_ref().map(|note| format!(" ({note})"));
            let note = note.unwrap_or_default();
            format!(
                "It is not checked: it is paused since {}{note}.",
                second(*since)
            )
        }
        State::Ended { since, reason } => {
            format!(
                "It is not checked: it ended at {} ({reason}).",
                second(*since)
            )
        }
        State::Active => active(source, task, now),
    }
}

fn active(source: &Source, task: Option<&Task>, now: Timestamp) -> String {
    let Some(task) = task.filter(|task| task.is_live()) else {
        return "Its task does not live; a node puts it again within minutes.".to_owned();
    };
    if task.status == Status::Running {
        return "It is being checked now.".to_owned();
    }
    let at = task.execute_at;
    let planned = source.stats.next_due_at;
    let begin = if at <= now {
        format!("It is due for a check since {}", second(at))
    } else {
        format!("The next check is at {}", second(at))
    };
    match planned {
        Some(planned) if planned.duration_since(at).abs() >= REPORTED_APART => format!(
            "{begin}, not at {} as it planned itself: its task was moved, or its host was busy.",
            second(planned)
        ),
        _ => format!("{begin}: {}.", reason(source)),
    }
}

/// An instant as people say it.
fn second(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}

fn reason(source: &Source) -> &str {
    let unknown = match source.stats.last_check_at {
        None => "it has not been checked yet",
        Some(_) => "no reason was kept",
    };
    source.reason.as_deref().unwrap_or(unknown)
}

/// What a publisher requests, each request in a sentence; none when it requests nothing.
pub fn requests(hints: &Hints) -> Vec<String> {
    let fresh = hints.fresh_for.filter(|seconds| *seconds > 0);
    let fresh = fresh.map(|seconds| format!("Its answer is fresh for {}.", Honoured(seconds)));
    let every = hints.every.filter(|seconds| *seconds > 0);
    let every = every.map(|seconds| {
        format!(
            "It asks for no more than one check in {}.",
            Honoured(seconds)
        )
    });
    let hours = listed(hints.skip_hours, 24, |hour| format!("{hour:02}:00"));
    let hours = hours
        .map(|hours| format!("It asks not to be checked in the hours beginning at {hours} UTC."));
    let days = listed(hints.skip_days, 7, |day| DAYS[day].to_owned());
    let days = days.map(|days| format!("It asks not to be checked on {days}."));
    [fresh, every, hours, days].into_iter().flatten().collect()
}

/// The places of the bits that are set, in words.
fn listed(bits: u32, count: usize, name: impl Fn(usize) -> String) -> Option<String> {
    let set: Vec<String> = (0..count)
        .filter(|bit| bits >> bit & 1 == 1)
        .map(name)
        .collect();
    (!set.is_empty()).then(|| set.join(", "))
}

/// A request, and how far it is honoured.
struct Honoured(u32);

impl std::fmt::Display for Honoured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let request = SignedDuration::from_secs(i64::from(self.0));
        write!(f, "{request:#}")?;
        if request > HONOURED_MAX {
            write!(f, ", which is honoured up to {HONOURED_MAX:#}")?;
        }
        Ok(())
    }
}

/// What a failure means and what is done about it.
pub fn meaning(class: FailureClass) -> &'static str {
    match class {
        FailureClass::RateLimited => {
            "its server was asked too often; it is left alone for as long as the server says, or six hours"
        }
        FailureClass::Unauthorised => {
            "its server wants credentials that are missing or have expired; a person must act"
        }
        FailureClass::Forbidden => "its server refuses us; it is tried again after twelve hours",
        FailureClass::Gone => {
            "its server says that it is gone for good; it is not checked any more"
        }
        FailureClass::NotFound => "nothing is at its address for now",
        FailureClass::Server => "its server has a problem of its own",
        FailureClass::Dns => "the name in its address leads nowhere",
        FailureClass::Connection => "no connection to its server could be made or kept",
        FailureClass::Tls => "its server could not prove who it is",
        FailureClass::Timeout => "its server took too long",
        FailureClass::Refused => "its address is one that this node does not ask",
        FailureClass::Redirect => {
            "its server sends us from place to place without end, or where we do not go"
        }
        FailureClass::TooLarge => "its answer is larger than what this node reads",
        FailureClass::NotAFeed => {
            "its answer is not what the source is read as, perhaps a page that asks to log in"
        }
        FailureClass::Malformed => "its answer broke off or contradicts itself",
        FailureClass::Rules => {
            "the source's own rules find nothing in the answer; the page may have changed"
        }
    }
}

#[cfg(test)]
mod tests;
