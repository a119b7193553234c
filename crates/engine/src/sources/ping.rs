//! Pings: a publisher says that something is new, and the source is checked soon.
//!
//! A ping hurries a check, at most one a minute, and never more than that: it neither resumes a
//! source nor shortens what its failures or its host make it wait.

use almanack_core::{
    both,
    source::{Source, SourceId, State, settle::is_waiting_for_host, why::next_look_at},
    task::Status,
};
use jiff::{SignedDuration, Timestamp};

use super::{Error, Sources};
use crate::wake::later;

/// Shortest time from one check to the next that a ping brings about.
const PING_EVERY: SignedDuration = SignedDuration::from_mins(1);

impl Sources {
    /// Checks a source soon, because its publisher says that something is new; answers when it is
    /// checked, `None` while it is not.
    pub async fn ping(&self, id: SourceId, by: &str) -> Result<Option<Timestamp>, Error> {
        let now = self.clock.now();
        let source = self.load(id).await?;
        let task = self.tasks(&[id]).await?.pop().flatten();
        let planned_at = next_look_at(&source, task.as_ref());
        // A check under way may have looked before the publisher wrote.
        let runs = task.is_some_and(|task| task.status == Status::Running);
        let Some(at) = pinged_at(&source, runs, now) else {
            return Ok(planned_at);
        };
        if !runs && planned_at.is_some_and(|planned_at| planned_at <= at) {
            return Ok(planned_at);
        }
        self.edit(id, |source| {
            if source.state == State::Active {
                source.stats.next_due_at = Some(at);
                source.reason = Some(both!(
                    "its publisher says that something is new",
                    "发布者通知有新内容"
                ));
            }
            Ok(())
        })
        .await?;
        self.put(vec![(id, at)], by).await?;
        Ok(Some(at))
    }
}

/// When a ping has a source checked, if it may.
fn pinged_at(source: &Source, runs: bool, now: Timestamp) -> Option<Timestamp> {
    if source.state != State::Active || is_waiting_for_host(source, now) {
        return None;
    }
    let last = source.stats.last_check_at.map(|at| later(at, PING_EVERY));
    let after = runs.then(|| later(now, PING_EVERY));
    let waits = [last, after, source.stats.backoff_until];
    Some(waits.into_iter().flatten().fold(now, Timestamp::max))
}

#[cfg(test)]
mod tests {
    use almanack_core::source::Definition;

    use super::*;

    #[test]
    fn a_ping_hurries_a_check_but_no_wait() {
        const NOW: Timestamp = Timestamp::constant(1_767_600_000, 0);
        let minute = PING_EVERY;
        let source = Source::new(Definition::default(), NOW - minute * 600);
        let with = |change: fn(&mut Source)| {
            let mut source = source.clone();
            change(&mut source);
            source
        };
        for (source, runs, expected, why) in [
            (source.clone(), false, Some(NOW), "at once"),
            (
                source.clone(),
                true,
                Some(NOW + minute),
                "after the one that runs",
            ),
            (
                with(|it| it.stats.last_check_at = Some(NOW - SignedDuration::from_secs(20))),
                false,
                Some(NOW + SignedDuration::from_secs(40)),
                "one a minute",
            ),
            (
                with(|it| it.stats.backoff_until = Some(NOW + PING_EVERY * 15)),
                false,
                Some(NOW + minute * 15),
                "after failures",
            ),
            (
                with(|it| {
                    it.state = State::Paused {
                        since: NOW,
                        note: None,
                    }
                }),
                false,
                None,
                "a pause holds",
            ),
        ] {
            assert_eq!(pinged_at(&source, runs, NOW), expected, "{why}");
        }
    }
}
