//! What a run came to, and which promise it broke, if any.
//!
//! Pure: facts in, sentences out. A promise that is broken is a sentence in [`Verdict::broken`]; a run without one held.

use std::collections::{BTreeMap, BTreeSet};

use almanack_core::plan::{Slot, Verdict as Became};
use almanack_lab::{
    article::state::{Article, FORBIDDEN, State},
    customer::book::Figures,
};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

/// How much earlier than its time an article may seem to be published: two clocks, and a node that follows a third.
const EARLY_TOLERATED: SignedDuration = SignedDuration::from_millis(250);

/// What became of the slots of one schedule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct SlotFigures {
    /// Which schedule.
    pub(crate) schedule: String,
    /// Slots that its expression names within the run.
    pub(crate) slots: u64,
    /// Of these, fired in time.
    pub(crate) fired: u64,
    /// Fired late, after an outage.
    pub(crate) caught_up: u64,
    /// Skipped, by reason.
    pub(crate) skipped: BTreeMap<String, u64>,
    /// In no row of the ledger.
    pub(crate) missing: u64,
    /// In two rows or more.
    pub(crate) doubled: u64,
    /// Fired, and its firing did not come to its end by then.
    pub(crate) unfinished: u64,
    /// Fired outside the run: while it was set up, and while it settled.
    pub(crate) fired_beyond: u64,
    /// Firings whose calls the hook took, each once.
    pub(crate) taken: u64,
    /// Calls that it had taken before.
    pub(crate) repeated: u64,
}

/// Holds a ledger against the slots that an expression names. Every slot must be covered by one row.
pub(crate) fn account(schedule: &str, expected: &[Timestamp], ledger: &[Slot]) -> SlotFigures {
    let mut figures = SlotFigures {
        schedule: schedule.to_owned(),
        slots: expected.len() as u64,
        ..SlotFigures::default()
    };
    for slot in expected {
        let covers = |row: &&Slot| (row.slot_at..=row.last_at).contains(slot);
        let mut rows = ledger.iter().filter(covers);
        match (rows.next(), rows.next()) {
            (None, _) => figures.missing += 1,
            (Some(_), Some(_)) => figures.doubled += 1,
            (Some(row), None) => match row.verdict {
                Became::Fired => figures.fired += 1,
                Became::CaughtUp => figures.caught_up += 1,
                Became::Skipped(reason) => {
                    *figures
                        .skipped
                        .entry(reason.as_str().to_owned())
                        .or_default() += 1;
                }
            },
        }
    }
    figures
}

/// What became of the articles.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ArticleFigures {
    /// Written.
    pub(crate) written: usize,
    /// Published once.
    pub(crate) published: usize,
    /// Withdrawn, or refused by the audit, and not published.
    pub(crate) withheld: usize,
    /// Not due by the end.
    pub(crate) ahead: usize,
    /// Calls that reached an article which was published already.
    pub(crate) repeated_calls: i64,
    /// Due and not published.
    pub(crate) lost: BTreeSet<i64>,
    /// Published twice, or although it was withdrawn.
    pub(crate) wrong: BTreeSet<i64>,
    /// Published before its time.
    pub(crate) early: BTreeSet<i64>,
}

/// Holds the article service's table against what its authors wanted by `end`.
pub(crate) fn judge(articles: &[Article], end: Timestamp) -> ArticleFigures {
    let mut figures = ArticleFigures {
        written: articles.len(),
        ..ArticleFigures::default()
    };
    for article in articles {
        let unwanted = article.withdrawn_at.is_some() || article.body.contains(FORBIDDEN);
        figures.repeated_calls += (article.publish_calls - article.publish_effects).max(0);
        match (unwanted, article.publish_effects) {
            (true, 0) => figures.withheld += 1,
            (false, 1) => {
                figures.published += 1;
                let at = article.published_at.unwrap_or(Timestamp::MIN);
                if at < earliest(article.publish_at) {
                    figures.early.insert(article.id);
                }
            }
            (false, 0) if article.publish_at > end => figures.ahead += 1,
            (false, 0) => {
                figures.lost.insert(article.id);
            }
            _ => {
                figures.wrong.insert(article.id);
            }
        }
        if article.publish_effects > 0 && article.state != State::Published {
            figures.wrong.insert(article.id);
        }
    }
    figures
}

fn earliest(publish_at: Timestamp) -> Timestamp {
    publish_at
        .saturating_sub(EARLY_TOLERATED)
        .unwrap_or(Timestamp::MIN)
}

/// What a run came to.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Verdict {
    /// What repeats the blows.
    pub(crate) seed: u64,
    /// How long it ran, in seconds.
    pub(crate) seconds: u64,
    /// How often what went wrong.
    pub(crate) blows: BTreeMap<&'static str, usize>,
    /// Faults that this machine cannot make, and why.
    pub(crate) left_out: BTreeMap<&'static str, String>,
    /// By schedule.
    pub(crate) schedules: Vec<SlotFigures>,
    /// What was promised to the customer.
    pub(crate) customer: Figures,
    /// What was promised to the authors.
    pub(crate) articles: ArticleFigures,
    /// Each node's name and the most memory it had, in kilobytes.
    pub(crate) memory_kb: BTreeMap<String, u64>,
    /// Promises that were broken, as sentences.
    pub(crate) broken: Vec<String>,
}

/// Which promises the figures break.
pub(crate) fn broken(
    schedules: &[SlotFigures],
    customer: &Figures,
    articles: &ArticleFigures,
) -> Vec<String> {
    let mut broken = Vec::new();
    let mut claim = |count: u64, what: &str| {
        if count > 0 {
            broken.push(format!("{count} {what}"));
        }
    };
    for slots in schedules {
        let of = |what: &str| format!("slots of `{}` {what}", slots.schedule);
        claim(slots.missing, &of("are in no row of the ledger"));
        claim(slots.doubled, &of("are in more than one row of the ledger"));
        claim(slots.unfinished, &of("fired and did not come to their end"));
        let fired = slots.fired + slots.caught_up + slots.fired_beyond;
        let strangers = slots.taken.saturating_sub(fired);
        claim(strangers, &of("were called under a second identity"));
    }
    claim(customer.lost as u64, "acknowledged tasks were never called");
    claim(customer.early, "calls came before their time");
    claim(customer.unknown, "calls were about tasks nobody asked for");
    claim(articles.lost.len() as u64, "articles were not published");
    claim(
        articles.wrong.len() as u64,
        "articles were published wrongly",
    );
    claim(
        articles.early.len() as u64,
        "articles were published before their time",
    );
    let refused = customer.refused.iter();
    broken.extend(refused.map(|why| format!("tasks were refused: {why}")));
    broken
}

#[cfg(test)]
mod tests {
    use almanack_core::plan::Reason;

    use super::*;

    fn at(s: i64) -> Timestamp {
        Timestamp::from_second(s).unwrap()
    }

    fn row(from: i64, until: i64, verdict: Became) -> Slot {
        Slot {
            slot_at: at(from),
            last_at: at(until),
            slots: (until - from).unsigned_abs() + 1,
            verdict,
            detail: None,
            revision: 1,
            decided_at: at(until),
        }
    }

    fn slots(seconds: std::ops::Range<i64>) -> Vec<Timestamp> {
        seconds.map(at).collect()
    }

    fn quiet() -> Figures {
        Figures {
            asked: 0,
            acknowledged: 0,
            lost: 0,
            called: 0,
            repeated: 0,
            early: 0,
            unknown: 0,
            refused: None,
            seconds: Vec::new(),
        }
    }

    fn article(id: i64) -> Article {
        Article {
            id,
            title: "Tides".to_owned(),
            body: "All is well.".to_owned(),
            state: State::Published,
            publish_at: at(100),
            revision: 1,
            withdrawn_at: None,
            published_at: Some(at(101)),
            publish_calls: 2,
            publish_effects: 1,
        }
    }

    #[test]
    fn a_ledger_that_covers_every_slot_once_breaks_nothing() {
        let ledger = [
            row(1, 1, Became::Fired),
            row(2, 3, Became::Skipped(Reason::TooLate)),
            row(4, 4, Became::CaughtUp),
        ];
        let figures = account("x", &slots(1..5), &ledger);
        assert_eq!((figures.slots, figures.fired, figures.caught_up), (4, 1, 1));
        assert_eq!(figures.skipped["too_late"], 2);
        assert_eq!(
            broken(&[figures], &quiet(), &ArticleFigures::default()),
            [""; 0]
        );
    }

    #[test]
    fn a_slot_left_out_and_a_slot_told_twice_are_found() {
        let ledger = [row(1, 1, Became::Fired), row(1, 1, Became::CaughtUp)];
        let figures = account("x", &slots(1..3), &ledger);
        assert_eq!((figures.missing, figures.doubled), (1, 1));
        assert_eq!(
            broken(&[figures], &quiet(), &ArticleFigures::default()).len(),
            2
        );
    }

    #[test]
    fn a_firing_under_another_identity_is_found() {
        let mut figures = account("x", &slots(1..2), &[row(1, 1, Became::Fired)]);
        figures.taken = 2;
        let broken = broken(&[figures], &quiet(), &ArticleFigures::default());
        assert_eq!(
            broken,
            ["1 slots of `x` were called under a second identity"]
        );
    }

    #[test]
    fn articles_that_are_lost_doubled_or_early_are_found_and_no_others() {
        let lost = Article {
            state: State::AuditSuccess,
            published_at: None,
            publish_effects: 0,
            ..article(2)
        };
        let doubled = Article {
            publish_effects: 2,
            ..article(3)
        };
        let early = Article {
            published_at: Some(at(99)),
            ..article(4)
        };
        let ahead = Article {
            publish_at: at(1_000),
            ..lost.clone()
        };
        let withdrawn = Article {
            withdrawn_at: Some(at(50)),
            ..lost.clone()
        };
        let published_after_all = Article {
            withdrawn_at: Some(at(50)),
            ..article(5)
        };
        let all = [
            article(1),
            lost,
            doubled,
            early,
            ahead,
            withdrawn,
            published_after_all,
        ];
        let figures = judge(&all, at(500));
        assert_eq!(
            (figures.published, figures.withheld, figures.ahead),
            (2, 1, 1)
        );
        assert_eq!(figures.lost, BTreeSet::from([2]));
        assert_eq!(figures.wrong, BTreeSet::from([3, 5]));
        assert_eq!(figures.early, BTreeSet::from([4]));
        assert_eq!(broken(&[], &quiet(), &figures).len(), 3);
    }

    #[test]
    fn a_customer_who_was_let_down_is_heard() {
        let customer = Figures {
            lost: 1,
            early: 2,
            unknown: 3,
            refused: Some("too many".to_owned()),
            ..quiet()
        };
        assert_eq!(broken(&[], &customer, &ArticleFigures::default()).len(), 4);
    }
}
