//! Why a task is where it is, from stored facts, in one sentence (WK-04).
//!
//! Instants are the reader's to write: a page has a zone, the API has none. So the sentence is made
//! from the reason, here with instants in UTC, by the pages in the reader's zone.

use jiff::Timestamp;

use super::{Status, Task};
use crate::{
    lang::{Lang, Say},
    pace::{PUT_OFF, Pace, Rate},
    plan::{Cancelled, Pause},
    say,
    time::in_words,
    work::Deliver,
};

/// What is known of a task and its kind.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    pub task: &'a Task,
    /// The pause of its kind, if one holds now.
    pub paused: Option<&'a Pause>,
    pub pace: Option<&'a Pace>,
    /// Who is to take it.
    pub deliver: Deliver,
    /// Who cancelled it, if that is known.
    pub cancelled: Option<&'a Cancelled>,
    pub now: Timestamp,
}

/// The reason.
#[derive(Debug, Clone, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Why {
    /// Its time has not come.
    Waiting {
        until: Timestamp,
    },
    /// The last attempt failed, and the next one is not due yet.
    Retrying {
        until: Timestamp,
        error: Option<String>,
    },
    /// It may have been due for long: its kind is paused.
    Paused {
        due_at: Timestamp,
        pause: Pause,
    },
    /// It was over the rate of its key, and put off. Its turn may have come already.
    RateLimited {
        turn_at: Timestamp,
        rate: Rate,
    },
    /// It is due, and no node or worker has taken it yet. Its kind may have a rate; whether that
    /// holds it up is not known.
    Due {
        due_at: Timestamp,
        deliver: Deliver,
        rate: Option<Rate>,
    },
    Running {
        since: Option<Timestamp>,
        node: Option<String>,
    },
    Done {
        at: Option<Timestamp>,
    },
    Failed {
        at: Option<Timestamp>,
        error: Option<String>,
    },
    Cancelled {
        by: Option<Cancelled>,
    },
}

impl Why {
    /// Its name, for programs.
    pub fn name(&self) -> &'static str {
        self.into()
    }
}

impl Say for Why {
    fn say(&self, lang: Lang) -> String {
        let because = |error: &Option<String>| {
            let error = error.as_deref();
            error.map_or_else(String::new, |error| say!(lang, ": {error}", "：{error}"))
        };
        match self {
            Self::Waiting { until } => {
                let until = in_words(*until);
                say!(lang, "Waiting until {until}.", "等待到 {until}。")
            }
            Self::Retrying { until, error } => {
                let (because, until) = (because(error), in_words(*until));
                say!(lang; "The last attempt failed{because}. The next one is at {until}.",
                    "上一次尝试失败{because}。下一次尝试在 {until}。")
            }
            Self::Paused { due_at, pause } => paused(*due_at, pause, &because(&pause.note), lang),
            Self::RateLimited { turn_at, rate } => {
                let turn_at = in_words(*turn_at);
                say!(lang;
                    "Waiting for its turn ({turn_at}): at most {rate} may start.",
                    "等待轮到它（{turn_at}）：最多启动 {rate}。")
            }
            Self::Due {
                due_at,
                deliver,
                rate,
            } => {
                let nobody = match deliver {
                    Deliver::Push => lang.pick("no node has started it yet", "还没有节点启动它"),
                    Deliver::Pull => lang.pick("no worker has taken it yet", "还没有工作者领取它"),
                };
                let rate = rate.map(|rate| {
                    say!(lang;
                    "; at most {rate} of its kind may start", "；该类型最多启动 {rate}")
                });
                let (rate, due_at) = (rate.unwrap_or_default(), in_words(*due_at));
                say!(
                    lang,
                    "Due since {due_at}; {nobody}{rate}.",
                    "自 {due_at} 起到期；{nobody}{rate}。"
                )
            }
            Self::Running { since, node } => running(*since, node.as_deref(), lang),
            Self::Done { at: Some(at) } => {
                let at = in_words(*at);
                say!(lang, "Done at {at}.", "已于 {at} 完成。")
            }
            Self::Done { at: None } => lang.pick("Done.", "已完成。").to_owned(),
            Self::Failed { at, error } => {
                let at = at.map(|at| say!(lang, " at {}", "（{}）", in_words(at)));
                let at = at.unwrap_or_default();
                let because = because(error);
                say!(lang; "Failed{at}, no retries left{because}.", "失败{at}，已无重试次数{because}。")
            }
            Self::Cancelled {
                by: Some(Cancelled { by, at }),
            } => {
                let at = in_words(*at);
                say!(
                    lang,
                    "Cancelled by {by} at {at}.",
                    "已由 {by} 于 {at} 取消。"
                )
            }
            Self::Cancelled { by: None } => lang.pick("Cancelled.", "已取消。").to_owned(),
        }
    }
}

fn paused(due_at: Timestamp, pause: &Pause, note: &str, lang: Lang) -> String {
    let (due_at, since, by) = (in_words(due_at), in_words(pause.since), &pause.by);
    let until = pause.until.map(in_words);
    let until = until.map(|it| say!(lang, "until {it}", "直到 {it}"));
    let resumed = || lang.pick("until it is resumed", "直到恢复").to_owned();
    let until = until.unwrap_or_else(resumed);
    say!(lang; "Due at {due_at}, but its kind is paused by {by} since {since} {until}{note}.",
        "应于 {due_at} 执行，但其类型自 {since} 起被 {by} 暂停，{until}{note}。")
}

fn running(since: Option<Timestamp>, node: Option<&str>, lang: Lang) -> String {
    let node = node.map_or_else(String::new, |it| say!(lang, " on {it}", "于 {it} "));
    match (since.map(in_words), lang) {
        (Some(since), Lang::English) => format!("Running{node} since {since}."),
        (Some(since), Lang::Chinese) => format!("自 {since} 起{node}运行中。"),
        (None, _) => say!(lang, "Running{node}.", "{node}运行中。"),
    }
}

/// The reason that counts most: what keeps a task from being tried comes before its time.
pub fn why(facts: Facts<'_>) -> Why {
    let task = facts.task;
    let Some(due_at) = task.due_at else {
        return ended_or_running(facts);
    };
    if let Some(pause) = facts.paused {
        let pause = pause.clone();
        return Why::Paused { due_at, pause };
    }
    let is_put_off = task.detail.as_deref() == Some(PUT_OFF);
    if let Some(pace) = facts.pace.filter(|_| is_put_off) {
        return Why::RateLimited {
            turn_at: due_at,
            rate: pace.rate,
        };
    }
    if due_at <= facts.now {
        Why::Due {
            due_at,
            deliver: facts.deliver,
            rate: facts.pace.map(|pace| pace.rate),
        }
    } else if task.status == Status::Fail {
        let error = task.detail.clone();
        Why::Retrying {
            until: due_at,
            error,
        }
    } else {
        Why::Waiting { until: due_at }
    }
}

fn ended_or_running(facts: Facts<'_>) -> Why {
    let task = facts.task;
    match task.status {
        Status::Running => Why::Running {
            since: task.started_at,
            node: task.node.clone(),
        },
        Status::Success => Why::Done {
            at: task.finished_at,
        },
        Status::Cancelled => Why::Cancelled {
            by: facts.cancelled.cloned(),
        },
        Status::Init | Status::Fail => Why::Failed {
            at: task.finished_at,
            error: task.detail.clone(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Standing, at, row};

    fn sentence_of(
        task: &Task,
        paused: Option<&Pause>,
        pace: Option<&Pace>,
        now: Timestamp,
    ) -> String {
        let facts = Facts {
            task,
            paused,
            pace,
            deliver: Deliver::Push,
            cancelled: None,
            now,
        };
        why(facts).say(Lang::English)
    }

    /// Only a task that was put off is known to wait for its turn (WK-05).
    #[test]
    fn wk_04_a_rate_is_a_reason_only_where_it_is_known_to_hold_a_task_up() {
        let mut task = row(Standing::Init);
        let due_at = task.due_at.unwrap();
        let pace = Pace {
            rate: Rate::parse("5/min").unwrap(),
            by: None,
        };
        let mut facts = Facts {
            task: &task.clone(),
            paused: None,
            pace: Some(&pace),
            deliver: Deliver::Push,
            cancelled: None,
            now: due_at,
        };
        let due = "no node has started it yet; at most 5/min of its kind may start.";
        assert_eq!(why(facts).name(), "due");
        assert_eq!(
            why(facts).say(Lang::English),
            format!("Due since {}; {due}", in_words(due_at))
        );
        (facts.deliver, facts.pace) = (Deliver::Pull, None);
        assert_eq!(
            why(facts).say(Lang::English),
            format!(
                "Due since {}; no worker has taken it yet.",
                in_words(due_at)
            )
        );
        task.detail = Some(PUT_OFF.to_owned());
        (facts.task, facts.pace) = (&task, Some(&pace));
        assert_eq!(why(facts).name(), "rate_limited");
    }

    #[test]
    fn wk_04_why_says_who_paused_the_kind_and_until_when() {
        let task = row(Standing::Init);
        let due_at = task.due_at.unwrap();
        let mut pause = Pause {
            since: at(0),
            until: None,
            note: Some("the mail server moves".to_owned()),
            by: "ada".to_owned(),
        };
        for now in [at(0), due_at + jiff::SignedDuration::from_secs(9)] {
            assert_eq!(
                sentence_of(&task, Some(&pause), None, now),
                format!(
                    "Due at {}, but its kind is paused by ada since {} until it is resumed: \
                     the mail server moves.",
                    in_words(due_at),
                    in_words(at(0))
                )
            );
        }
        (pause.until, pause.note) = (Some(at(60)), None);
        let sentence = sentence_of(&task, Some(&pause), None, at(0));
        assert!(sentence.ends_with(&format!(
            "since {} until {}.",
            in_words(at(0)),
            in_words(at(60))
        )));
    }

    #[test]
    fn wk_04_every_task_has_a_reason() {
        for (standing, reason) in [
            (Standing::Init, "waiting"),
            (Standing::Running, "running"),
            (Standing::Success, "done"),
            (Standing::FailWithTries, "retrying"),
            (Standing::FailSpent, "failed"),
            (Standing::Cancelled, "cancelled"),
        ] {
            let task = row(standing);
            let facts = Facts {
                task: &task,
                paused: None,
                pace: None,
                deliver: Deliver::Push,
                cancelled: None,
                now: at(0),
            };
            assert_eq!(why(facts).name(), reason);
        }
        let waiting = row(Standing::Init);
        let due_at = waiting.due_at.unwrap();
        let late = due_at + jiff::SignedDuration::from_secs(1);
        let pace = Pace {
            rate: Rate::parse("5/min").unwrap(),
            by: None,
        };
        let early = due_at - jiff::SignedDuration::from_secs(1);
        assert_eq!(
            sentence_of(&waiting, None, Some(&pace), early),
            format!("Waiting until {}.", in_words(due_at))
        );
        assert_eq!(
            sentence_of(&waiting, None, None, late),
            format!(
                "Due since {}; no node has started it yet.",
                in_words(due_at)
            )
        );
    }
}
