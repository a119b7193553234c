//! What checks of sources found, and the rhythms learned.

use std::collections::{BTreeMap, BTreeSet};

use almanack_core::{
    source::{Attention, Source, recent::CheckOutcome},
    store::{SourceFilter, Store},
};
use jiff::Timestamp;

use super::line::{Lines, Scene, Who, counted, quoted};
use crate::{failure::Result, output::Ink};

const SOURCES_MAX: usize = 200;
/// Sources whose learned rhythm is highlighted; later ones are printed faintly.
const LEARNED_REPORTED_MAX: usize = 3;

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    checks: u64,
    entries: u64,
    failed: u64,
    learned: usize,
}

/// What has been printed about sources.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// Until when the checks of each source were counted.
    seen: BTreeMap<i64, Timestamp>,
    learned: BTreeSet<i64>,
    needy: BTreeMap<i64, Attention>,
    counts: Counts,
    /// The counts at the last summary.
    reported: Counts,
    /// A source to mention in the next summary, and the sentence.
    next: Option<(String, String)>,
    highlighted: usize,
}

impl Sources {
    /// Reads all sources for new checks.
    pub(super) async fn look(&mut self, store: &dyn Store, lines: &mut Lines) -> Result<()> {
        let filter = SourceFilter {
            limit: SOURCES_MAX,
            ..SourceFilter::default()
        };
        for source in store.list_sources(&filter).await?.rows {
            if self.count(&source) {
                self.learn(&source, lines);
            }
            self.attend(&source, lines);
        }
        Ok(())
    }

    /// Counts new checks; returns whether there are any.
    fn count(&mut self, source: &Source) -> bool {
        let seen = self.seen.entry(source.id.0).or_insert(Timestamp::MIN);
        let looks = source.recent.looks().iter().filter(|look| look.at > *seen);
        let mut newest = *seen;
        for look in looks {
            newest = newest.max(look.at);
            self.counts.checks += 1;
            match look.outcome {
                CheckOutcome::New(count) => self.counts.entries += u64::from(count),
                CheckOutcome::Failed(_) => self.counts.failed += 1,
                CheckOutcome::Nothing | CheckOutcome::Unchanged => {}
            }
        }
        let any = newest > *seen;
        *seen = newest;
        any
    }

    fn learn(&mut self, source: &Source, lines: &Lines) {
        let (Some(_), Some(next)) = (source.stats.cadence, source.stats.next_due_at) else {
            return;
        };
        if self.learned.insert(source.id.0) {
            self.counts.learned += 1;
        }
        let why = source
            .reason
            .as_ref()
            .map_or_else(String::new, ToString::to_string);
        let next = lines.until(next);
        let sentence = lines.pick(
            format!("next check {next}: {why}"),
            format!("按学到的规律，下次检查在 {next}"),
        );
        self.next = Some((source.definition.name.clone(), sentence));
    }

    fn attend(&mut self, source: &Source, lines: &mut Lines) {
        let Some(attention) = source.attention else {
            return;
        };
        let known = self.needy.values().any(|it| *it == attention);
        self.needy.insert(source.id.0, attention);
        if known {
            return;
        }
        let usual = "unusually quiet";
        let error = source.stats.last_error.as_deref().unwrap_or(usual);
        let (name, why) = (quoted(&source.definition.name), attention.as_str());
        let what = lines.pick(
            format!("{name} needs attention ({why}): {error}"),
            format!("{name} 需要关注：{error}"),
        );
        let scene = is_readable(&source.definition.name, lines).then_some(Scene::SourceInNeed);
        lines.push(Who::Sources, Ink::Bad, what, scene);
    }

    /// Starts counting anew; learned rhythms stay.
    pub(super) fn begin(&mut self) {
        let before = std::mem::take(self);
        self.seen = before.seen;
        self.learned = before.learned;
    }

    /// Prints what was counted since the last summary.
    pub(super) fn sum_up(&mut self, lines: &mut Lines) {
        let (before, counts) = (self.reported, self.counts);
        self.reported = counts;
        if counts.checks == before.checks {
            return;
        }
        let failed = match counts.failed - before.failed {
            0 => String::new(),
            some => format!(", {some} failed"),
        };
        let learned = match counts.learned - before.learned {
            0 => String::new(),
            _ => format!("; {} of {} learned", self.learned.len(), self.seen.len()),
        };
        let what = format!(
            "{}: {}{failed}{learned}",
            counted(counts.checks - before.checks, "check"),
            counted(counts.entries - before.entries, "new entry")
        );
        lines.add(Who::Sources, Ink::Plain, what);
        if let Some((name, sentence)) = self.next.take() {
            let early = self.highlighted < LEARNED_REPORTED_MAX;
            self.highlighted += 1;
            let ink = if early { Ink::Notable } else { Ink::Faint };
            let what = format!("{}: {sentence}", quoted(&name));
            let scene = is_readable(&name, lines).then_some(Scene::RhythmLearned);
            lines.push(Who::Sources, ink, what, scene);
        }
    }

    /// The counts in words.
    pub(super) fn summary(&self) -> String {
        format!(
            "{} of {}: {}, {} failed; rhythm of {} learned, {} need attention",
            counted(self.counts.checks, "check"),
            counted(self.seen.len(), "source"),
            counted(self.counts.entries, "new entry"),
            self.counts.failed,
            self.learned.len(),
            self.needy.len()
        )
    }
}

/// Whether readers of the story can read a name: feeds are in five languages.
fn is_readable(name: &str, lines: &Lines) -> bool {
    lines.pick(name.is_ascii(), true)
}
