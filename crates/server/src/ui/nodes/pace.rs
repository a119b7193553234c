//! Throughput and start delay of the last hour, minute by minute.
//!
//! The delay is the start of an attempt minus its due time, of tasks that have ended; a repeating
//! task already has its next time, and is left out.

use crate::picture::{histogram, spark};
use crate::ui::prelude::*;

/// Minutes that are counted.
const MINUTES: usize = 60;
/// Most ended tasks read: the cost of a page does not grow with the throughput.
const ENDS: usize = 2_000;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pace {
    /// Start of the first minute.
    from: Timestamp,
    /// Ended tasks per minute, oldest first.
    counts: Vec<u64>,
    /// Start delays of attempts.
    late: Vec<SignedDuration>,
    /// Whether there were more ended tasks than were read.
    cut: bool,
}

impl Pace {
    /// Counts tasks that ended in the last hour.
    pub(super) async fn load(state: &AppState, now: Timestamp) -> Result<Self> {
        let from = begin(now);
        let until = now
            .saturating_add(SignedDuration::from_secs(1))
            .unwrap_or(now);
        let ended = state.store.load_finished(from, until, ENDS).await?;
        Ok(count(from, &ended))
    }

    pub(super) fn throughput(&self, viewer: &Viewer) -> Markup {
        let lang = viewer.lang;
        let sum: u64 = self.counts.iter().sum();
        let newest = self.counts.last().copied().unwrap_or_default();
        let spark = spark::Spark {
            from: self.from,
            step: SignedDuration::from_mins(1),
            counts: &self.counts,
        };
        let caption = lang.pick("Finished tasks per minute", "每分钟结束的任务数");
        html! {
            p { (say!(lang, "Tasks finished in the last hour: {sum}; this minute: {newest}.", "最近一小时结束的任务：{sum}；本分钟：{newest}。"))
                " " a href=(address(Place::Tasks.path(), [("status", "SUCCESS")])) { (lang.pick("Done", "已成功的任务")) }
                " · " a href=(address(Place::Tasks.path(), [("status", "FAIL")])) { (lang.pick("Failed", "失败的任务")) }
            }
            (spark::draw(&spark, &viewer.frame("throughput", caption)))
            (self.said_aloud(viewer))
        }
    }

    pub(super) fn lateness(&self, viewer: &Viewer) -> Markup {
        if self.late.is_empty() {
            return parts::empty(pick!(viewer.lang; "No tasks finished in the last hour.",
                "最近一小时没有任务结束。"));
        }
        let caption = viewer.lang.pick("Start delay of tasks", "任务的开始延迟");
        html! {
            (histogram::draw(&self.late, &viewer.frame("lateness", caption)))
            (self.said_aloud(viewer))
        }
    }

    fn said_aloud(&self, viewer: &Viewer) -> Markup {
        html! {
            @if self.cut {
                p class="hint" { (say!(viewer.lang, "Counts only the {ENDS} tasks that finished last.", "仅统计最近结束的 {ENDS} 个任务。")) }
            }
        }
    }
}

/// An hour before the end of this minute: whole minutes, so that a page changes with its numbers
/// and not with every rendering.
fn begin(now: Timestamp) -> Timestamp {
    let minute = now.as_second().div_euclid(60) + 1;
    let minutes = i64::try_from(MINUTES).unwrap_or(i64::MAX);
    Timestamp::from_second((minute - minutes) * 60).unwrap_or(now)
}

fn count(from: Timestamp, ended: &[TaskLine]) -> Pace {
    let mut counts = vec![0; MINUTES];
    for line in ended {
        let minute = line
            .finished_at
            .map(|at| at.duration_since(from).as_secs() / 60);
        let place = minute.and_then(|minute| usize::try_from(minute).ok());
        if let Some(count) = place.and_then(|place| counts.get_mut(place)) {
            *count += 1;
        }
    }
    let over = ended.iter().filter(|line| line.due_at.is_none());
    let late = over.filter_map(|line| Some(line.started_at?.duration_since(line.execute_at)));
    let late = late.map(|late| late.max(SignedDuration::ZERO)).collect();
    Pace {
        from,
        counts,
        late,
        cut: ended.len() >= ENDS,
    }
}

#[cfg(test)]
mod tests {
    use almanack_core::task::{Identity, Kind, Status, Subject, TaskId};

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn ended(due: i64, started: i64, finished: i64, again: bool) -> TaskLine {
        TaskLine {
            id: TaskId(1),
            identity: Identity {
                subject: Subject::parse("a:1").unwrap(),
                kind: Kind::parse("K").unwrap(),
            },
            status: if again { Status::Init } else { Status::Success },
            execute_at: at(due),
            due_at: again.then(|| at(due)),
            attempt: 1,
            max_retry: 3,
            origin: String::new(),
            node: None,
            detail: None,
            created_at: at(0),
            started_at: Some(at(started)),
            finished_at: Some(at(finished)),
        }
    }

    #[test]
    fn an_hour_ends_with_the_minute_that_runs() {
        for (now, from) in [(7_200, 3_660), (7_259, 3_660), (7_260, 3_720)] {
            assert_eq!(begin(at(now)), at(from), "{now}");
        }
    }

    #[test]
    fn ends_are_counted_in_their_minute_and_what_comes_again_is_not_late() {
        let pace = count(
            at(3_660),
            &[
                ended(7_190, 7_195, 7_199, false),
                ended(9_999, 7_195, 7_200, true),
                ended(3_660, 3_659, 3_660, false),
            ],
        );
        assert_eq!(pace.counts.len(), 60);
        assert_eq!(
            (pace.counts[0], pace.counts[58], pace.counts[59]),
            (1, 1, 1)
        );
        assert_eq!(
            pace.late,
            [SignedDuration::from_secs(5), SignedDuration::ZERO],
            "no task starts early"
        );
    }
}
