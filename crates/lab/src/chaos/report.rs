//! The results of a run, and the promises it broke, if any.
//!
//! Pure: facts in, sentences out. Every broken promise is a sentence in [`ChaosReport::broken`]; a
//! run without one passed.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    article::state::{Article, FORBIDDEN, State},
    customer::book::Figures,
};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

/// Tolerance for articles that seem to be published early: two clocks, and a node that follows a
/// third.
const EARLY_TOLERATED: SignedDuration = SignedDuration::from_millis(250);

/// Results of the slots of one schedule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SlotFigures {
    pub schedule: String,
    /// Slots of its expression within the run.
    pub slots: u64,
    /// Of these, fired in time.
    pub fired: u64,
    /// Fired late, after an outage.
    pub caught_up: u64,
    pub skipped: BTreeMap<String, u64>,
    /// In no row of the ledger.
    pub missing: u64,
    /// In two rows or more.
    pub doubled: u64,
    /// Fired, and its firing did not finish in time.
    pub unfinished: u64,
    /// Fired outside the run: while it was set up, and while it settled.
    pub fired_beyond: u64,
    /// Firings whose calls the hook received, each counted once.
    pub taken: u64,
    /// Repeated calls.
    pub repeated: u64,
}

/// Results of the articles.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ArticleFigures {
    pub written: usize,
    pub published: usize,
    /// Withdrawn or rejected by the audit, and not published.
    pub withheld: usize,
    /// Not due by the end.
    pub ahead: usize,
    /// Calls that reached an article which was published already.
    pub repeated_calls: i64,
    /// Due and not published.
    pub lost: BTreeSet<i64>,
    /// Published twice, or although it was withdrawn.
    pub wrong: BTreeSet<i64>,
    /// Published before its time.
    pub early: BTreeSet<i64>,
}

/// Compares the article service's table with what its authors wanted by `end`.
pub fn check_articles(articles: &[Article], end: Timestamp) -> ArticleFigures {
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

/// The results of a run.
#[derive(Debug, Clone, Serialize)]
pub struct ChaosReport {
    /// The seed that repeats the injections.
    pub seed: u64,
    /// How long it ran, in seconds.
    pub seconds: u64,
    /// How often each fault was injected.
    pub injections: BTreeMap<&'static str, usize>,
    /// Faults that cannot be injected on this machine, with the reason.
    pub left_out: BTreeMap<&'static str, String>,
    pub schedules: Vec<SlotFigures>,
    /// What was promised to the customer.
    pub customer: Figures,
    /// What was promised to the authors.
    pub articles: ArticleFigures,
    /// Each node's name and its peak memory, in kilobytes.
    pub memory_kb: BTreeMap<String, u64>,
    /// Promises that were broken, as sentences.
    pub broken: Vec<String>,
}

/// Which promises the figures break.
pub fn broken(
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
        claim(slots.unfinished, &of("fired and did not finish"));
        let fired = slots.fired + slots.caught_up + slots.fired_beyond;
        let unexpected = slots.taken.saturating_sub(fired);
        claim(unexpected, &of("were called under a second identity"));
    }
    claim(customer.lost as u64, "acknowledged tasks were never called");
    claim(customer.early, "calls came before their time");
    claim(customer.unknown, "calls were for unknown tasks");
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
    use super::*;

    fn at(s: i64) -> Timestamp {
        Timestamp::from_second(s).unwrap()
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
    fn slots_that_are_missing_doubled_or_called_under_another_identity_are_found() {
        let figures = SlotFigures {
            schedule: "x".to_owned(),
            fired: 1,
            missing: 1,
            doubled: 1,
            taken: 2,
            ..SlotFigures::default()
        };
        let broken = broken(&[figures], &quiet(), &ArticleFigures::default());
        assert_eq!(broken.len(), 3);
        assert_eq!(
            broken[2],
            "1 slots of `x` were called under a second identity"
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
        let figures = check_articles(&all, at(500));
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
    fn broken_promises_to_the_customer_are_reported() {
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
