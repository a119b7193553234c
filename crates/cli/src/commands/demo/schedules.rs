//! What schedules did, read from their ledgers.

use std::collections::{BTreeMap, BTreeSet};

use almanack_adapters::alert::Language;
use almanack_core::{
    plan::{Definition, Reason, Schedule, Slot, Verdict},
    store::{LedgerPage, ScheduleFilter, Store},
    target::Target,
};
use jiff::Timestamp;

use super::line::{Lines, Scene, Who, counted};
use crate::{config::settings::edition, failure::Result, output::Ink};

/// Ledger rows read per look; fewer fire between two looks.
const ROWS_MAX: usize = 50;
const SCHEDULES_MAX: usize = 50;
/// The outcome of a slot that fired, on time or later.
const FIRED: &str = "fired";

/// What has been printed about schedules.
#[derive(Debug, Default)]
pub(super) struct Schedules {
    /// Slots counted per row, by schedule and first slot.
    seen: BTreeMap<(i64, Timestamp), u64>,
    reported: BTreeSet<(String, &'static str)>,
    /// Counted since the last summary.
    unreported: BTreeMap<&'static str, u64>,
    fired: u64,
    skipped: u64,
    by_target: BTreeMap<&'static str, u64>,
}

impl Schedules {
    /// Reads new rows of all ledgers. Ticks of editions are reported with the editions.
    pub(super) async fn look(&mut self, store: &dyn Store, lines: &mut Lines) -> Result<()> {
        let filter = ScheduleFilter {
            limit: SCHEDULES_MAX,
            ..ScheduleFilter::default()
        };
        for schedule in store.list_schedules(&filter).await?.rows {
            if schedule.name.as_str() == edition::SCHEDULE {
                continue;
            }
            let page = LedgerPage {
                before: Timestamp::MAX,
                limit: ROWS_MAX,
            };
            for row in store.load_slots(schedule.id, page).await?.iter().rev() {
                self.row(&schedule, row, lines);
            }
        }
        Ok(())
    }

    fn row(&mut self, schedule: &Schedule, row: &Slot, lines: &mut Lines) {
        let key = (schedule.id.0, row.slot_at);
        let before = self.seen.insert(key, row.slots).unwrap_or(0);
        let new = row.slots.saturating_sub(before);
        if new == 0 {
            return;
        }
        let Ok(definition) = Definition::from_json(&schedule.definition) else {
            return;
        };
        let fired = row.verdict.is_fired();
        if fired {
            self.fired += new;
            let target = definition.target.type_name();
            *self.by_target.entry(target).or_default() += new;
        } else {
            self.skipped += new;
        }
        let what = if fired { FIRED } else { row.verdict.as_str() };
        if !self.reported.insert((schedule.name.to_string(), what)) {
            *self.unreported.entry(what).or_default() += new;
            return;
        }
        first(schedule.name.as_str(), &definition, row, lines);
    }

    /// Starts counting anew.
    pub(super) fn begin(&mut self) {
        self.seen = std::mem::take(self).seen;
    }

    /// Prints what was counted since the last summary.
    pub(super) fn sum_up(&mut self, lines: &mut Lines) {
        let mut unreported = std::mem::take(&mut self.unreported);
        let fired = unreported.remove(FIRED);
        let fired = fired.map(|count| format!("{} fired", counted(count, "more slot")));
        let skipped = unreported.iter();
        let skipped = skipped.map(|(why, count)| format!("{count} skipped ({why})"));
        let parts: Vec<String> = fired.into_iter().chain(skipped).collect();
        if !parts.is_empty() {
            lines.add(Who::Schedule, Ink::Faint, parts.join(", "));
        }
    }

    /// The counts in words.
    pub(super) fn summary(&self) -> String {
        let targets = self.by_target.iter();
        let targets: Vec<String> = targets
            .map(|(target, count)| counted(*count, target))
            .collect();
        let of = if targets.is_empty() {
            String::new()
        } else {
            format!(" ({})", targets.join(", "))
        };
        format!(
            "{} fired{of}, {} skipped with a reason",
            counted(self.fired, "slot"),
            self.skipped
        )
    }
}

/// The line for a schedule's first firing or skip.
fn first(name: &str, definition: &Definition, row: &Slot, lines: &mut Lines) {
    if !row.verdict.is_fired() {
        let what = format!("{name} skipped a slot: {}", why(row.verdict));
        let overlaps = row.verdict == Verdict::Skipped(Reason::Overlap);
        let scene = overlaps.then_some(Scene::SlotSkipped);
        let chinese = || format!("{name} 跳过了一个时刻：上一次触发尚未结束");
        let what = match lines.language {
            Language::Chinese if overlaps => chinese(),
            _ => what,
        };
        return lines.push(Who::Schedule, Ink::Notable, what, scene);
    }
    let (expression, tz) = (&definition.expression, &definition.tz);
    let at = aimed_at(&definition.target);
    let what = lines.pick(
        format!("first firing of {name} (`{expression}`, {tz}) at {at}"),
        format!("{name} 首次触发（`{expression}`，{tz}）"),
    );
    lines.add_scene(Scene::SlotFired, Who::Schedule, Ink::Good, what);
}

fn why(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Skipped(Reason::Overlap) => "overlap, the previous firing was still running",
        Verdict::Skipped(Reason::TooLate) => "too_late, its grace had passed",
        other => other.as_str(),
    }
}

fn aimed_at(target: &Target) -> String {
    match target {
        Target::Webhook { .. } => "a webhook".to_owned(),
        Target::Workflow { workflow, .. } => format!("the workflow {workflow} on GitHub"),
        Target::Command { .. } => "a command".to_owned(),
        Target::Task { kind, .. } => format!("a task of kind {kind}"),
        Target::Ping { .. } => "nothing: it waits for pings".to_owned(),
    }
}
