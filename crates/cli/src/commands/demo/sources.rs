//! What sources brought and what was learned of them.

use std::collections::{BTreeMap, BTreeSet};

use almanack_core::{
    source::{Attention, Source, recent::Brought},
    store::{SourceFilter, Store},
};
use jiff::Timestamp;

use super::line::{Line, counted, quoted, until};
use crate::{failure::Failure, output::Ink};

const SOURCES_MAX: usize = 200;
/// Sources whose learning is told each by itself; the others are counted.
const LEARNED_TOLD_MAX: usize = 3;

/// Checks that were counted but not told yet.
#[derive(Debug, Default)]
struct Untold {
    checks: u64,
    entries: u64,
    failed: u64,
    learned: usize,
    /// Of whom something can be said, and what.
    next: Option<(String, String)>,
}

/// What has been seen of sources.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// Up to when the looks at each source were counted.
    seen: BTreeMap<i64, Timestamp>,
    learned: BTreeSet<i64>,
    needy: BTreeMap<i64, Attention>,
    untold: Untold,
    checks: u64,
    entries: u64,
    failed: u64,
    highlighted: usize,
}

impl Sources {
    /// Reads what is new of all sources.
    pub(super) async fn look(
        &mut self,
        store: &dyn Store,
        now: Timestamp,
        lines: &mut Vec<Line>,
    ) -> Result<(), Failure> {
        let filter = SourceFilter {
            limit: SOURCES_MAX,
            ..SourceFilter::default()
        };
        for source in store.list_sources(&filter).await?.rows {
            if self.count(&source) {
                self.learn(&source, now);
            }
            self.attend(&source, now, lines);
        }
        Ok(())
    }

    /// Counts the looks that are new; answers whether there are any.
    fn count(&mut self, source: &Source) -> bool {
        let seen = self.seen.entry(source.id.0).or_insert(Timestamp::MIN);
        let looks = source.recent.looks().iter().filter(|look| look.at > *seen);
        let mut newest = *seen;
        for look in looks {
            newest = newest.max(look.at);
            self.checks += 1;
            self.untold.checks += 1;
            match look.brought {
                Brought::New(count) => {
                    self.entries += u64::from(count);
                    self.untold.entries += u64::from(count);
                }
                Brought::Failed(_) => {
                    self.failed += 1;
                    self.untold.failed += 1;
                }
                Brought::Nothing | Brought::Unchanged => {}
            }
        }
        let any = newest > *seen;
        *seen = newest;
        any
    }

    fn learn(&mut self, source: &Source, now: Timestamp) {
        let (Some(_), Some(next)) = (source.stats.cadence, source.stats.next_due_at) else {
            return;
        };
        if self.learned.insert(source.id.0) {
            self.untold.learned += 1;
        }
        let why = source.reason.clone().unwrap_or_default();
        let said = format!("is checked again {}: {why}", until(now, next));
        self.untold.next = Some((source.definition.name.clone(), said));
    }

    fn attend(&mut self, source: &Source, now: Timestamp, lines: &mut Vec<Line>) {
        let Some(attention) = source.attention else {
            return;
        };
        let told = self.needy.values().any(|known| *known == attention);
        self.needy.insert(source.id.0, attention);
        if told {
            return;
        }
        let usual = "quiet for longer than ever was its habit";
        let error = source.stats.last_error.as_deref().unwrap_or(usual);
        lines.push(Line {
            at: now,
            who: "sources",
            ink: Ink::Bad,
            what: format!(
                "{} needs a person ({}): {error}",
                quoted(&source.definition.name),
                attention.as_str()
            ),
        });
    }

    /// What was seen so far is the past: what was learned stays, nothing of it counts or has been told.
    pub(super) fn begin(&mut self) {
        let (seen, learned) = (
            std::mem::take(&mut self.seen),
            std::mem::take(&mut self.learned),
        );
        *self = Self {
            seen,
            learned,
            ..Self::default()
        };
    }

    /// What was counted since the last time.
    pub(super) fn sum_up(&mut self, now: Timestamp, lines: &mut Vec<Line>) {
        let untold = std::mem::take(&mut self.untold);
        if untold.checks == 0 {
            return;
        }
        let failed = match untold.failed {
            0 => String::new(),
            some => format!(", {some} failed"),
        };
        let learned = match untold.learned {
            0 => String::new(),
            _ => format!("; {} of {} learned", self.learned.len(), self.seen.len()),
        };
        let what = format!(
            "{}: {}{failed}{learned}",
            counted(untold.checks, "check"),
            counted(untold.entries, "new entry")
        );
        lines.push(Line {
            at: now,
            who: "sources",
            ink: Ink::Plain,
            what,
        });
        if let Some((name, said)) = untold.next {
            let early = self.highlighted < LEARNED_TOLD_MAX;
            self.highlighted += 1;
            lines.push(Line {
                at: now,
                who: "sources",
                ink: if early { Ink::Notable } else { Ink::Faint },
                what: format!("{} {said}", quoted(&name)),
            });
        }
    }

    /// What it came to.
    pub(super) fn summary(&self) -> String {
        format!(
            "{} of {}: {}, {} failed; the rhythm of {} learned, {} need a person",
            counted(self.checks, "check"),
            counted(self.seen.len() as u64, "source"),
            counted(self.entries, "new entry"),
            self.failed,
            self.learned.len(),
            self.needy.len()
        )
    }
}
