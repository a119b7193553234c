//! Why a source is looked at when it is, in words, from stored facts.
//!
//! The task says when the next look is, because a person may have moved it, or its host asked to
//! wait; the row says why. Where the two differ, the sentence says so instead of giving the row's
//! reason for a time it did not choose.

use jiff::{SignedDuration, Timestamp};

use super::{
    Source, State,
    check::FailureClass,
    hints::{HONOURED_MAX, Hints},
};
use crate::{
    schedule::WEEKDAYS,
    task::{Status, Task},
};

/// A task that is put for now is due a moment after its row was written; that is no difference
/// worth a sentence.
const DIFFERENCE_MIN: SignedDuration = SignedDuration::from_secs(1);

/// When a source is looked at next, by its current task where that is live, else by its row.
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
            format!("Not checked: paused since {}{note}.", second(*since))
        }
        State::Ended { since, reason } => {
            format!("Not checked: ended at {} ({reason}).", second(*since))
        }
        State::Active => active(source, task, now),
    }
}

fn active(source: &Source, task: Option<&Task>, now: Timestamp) -> String {
    let Some(task) = task.filter(|task| task.is_live()) else {
        return "Its task is missing; a node creates it again within minutes.".to_owned();
    };
    if task.status == Status::Running {
        return "It is being checked now.".to_owned();
    }
    let at = task.execute_at;
    let planned = source.stats.next_due_at;
    let begin = if at <= now {
        format!("Due for a check since {}", second(at))
    } else {
        format!("Next check at {}", second(at))
    };
    match planned {
        Some(planned) if planned.duration_since(at).abs() >= DIFFERENCE_MIN => format!(
            "{begin}, not at {} as planned: its task was moved, or its host was busy.",
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
    let fresh = fresh.map(|seconds| format!("Its response is fresh for {}.", Honoured(seconds)));
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
    let days = listed(hints.skip_days, 7, |day| WEEKDAYS[(day + 1) % 7].to_owned());
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
            "its server limits requests; the next check waits as long as it asks, or six hours"
        }
        FailureClass::Unauthorised => {
            "its server requires credentials that are missing or have expired; update them"
        }
        FailureClass::Forbidden => "its server refuses access; the next check is in twelve hours",
        FailureClass::Gone => "its server says it is gone for good; it is no longer checked",
        FailureClass::NotFound => "there is nothing at its address for now",
        FailureClass::Server => "its server has an internal error",
        FailureClass::Dns => "the host name in its address does not resolve",
        FailureClass::Connection => "the connection to its server failed",
        FailureClass::Tls => "the TLS connection to its server failed",
        FailureClass::Timeout => "its server took too long to respond",
        FailureClass::Refused => "this node may not fetch its address",
        FailureClass::Redirect => {
            "too many redirects, or a redirect to an address this node may not fetch"
        }
        FailureClass::TooLarge => "its response is larger than the limit",
        FailureClass::NotAFeed => {
            "its response is not in the expected format; it may be a login page"
        }
        FailureClass::Malformed => "its response is incomplete or malformed",
        FailureClass::Rules => {
            "the source's rules match nothing in the response; the page may have changed"
        }
    }
}

#[cfg(test)]
mod tests;
