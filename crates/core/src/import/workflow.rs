//! Scheduled workflows of GitHub Actions.
//!
//! The YAML is read elsewhere, this crate knows no YAML; what arrives here are the entries of
//! `on.schedule` and whether the workflow can be dispatched at all.

use jiff::{SignedDuration, Timestamp};

use super::{
    Besides, Difference, Import, Imported, Options, Problem, Reason, expression::rewrite,
    zone_named,
};
use crate::{
    place::Place,
    plan::Definition,
    schedule::{Expression, Zone},
    target::Target,
};

/// What a workflow file says about its times.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Source {
    /// The entries of `on.schedule`.
    pub entries: Vec<Entry>,
    /// Whether `on` holds `workflow_dispatch`.
    pub dispatchable: bool,
}

/// An entry of `on.schedule`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// `cron`.
    pub expression: String,
    pub place: Place,
    /// `timezone`, if there is one, and its position.
    pub tz: Option<(String, Place)>,
}

/// Nothing runs there more often.
const OFTEN: SignedDuration = SignedDuration::from_mins(5);
/// Gaps to look at: a day of every five minutes, with some to spare.
const GAPS: usize = 300;

/// Makes schedules of a workflow's times.
pub fn read(source: &Source, options: &Options<'_>) -> Import {
    let mut import = Import::default();
    for (index, entry) in source.entries.iter().enumerate() {
        // By its place among all entries: one that is repaired later renames no other.
        match imported(index, entry, options) {
            Ok(imported) => import.take(imported),
            Err(problem) => import.problems.push(problem),
        }
    }
    if import.schedules.is_empty() {
        return import;
    }
    import.differ(Difference::Late);
    import.differ(Difference::Branch);
    if !source.dispatchable {
        import.differ(Difference::NotDispatchable);
    }
    import
}

fn imported(index: usize, entry: &Entry, options: &Options<'_>) -> Result<Imported, Problem> {
    let at = |place: Place| move |reason: Reason| Problem { place, reason };
    let (written, expression) =
        rewrite(&entry.expression).map_err(|fault| at(entry.place)(fault.reason))?;
    let target = Target::Workflow {
        repository: options.repository.to_owned(),
        workflow: options.file.to_owned(),
        git_ref: "main".to_owned(),
        inputs: std::collections::BTreeMap::new(),
    };
    let mut definition = Definition::new(written, target);
    definition.tz = match &entry.tz {
        Some((tz, place)) => zone_named(tz).ok_or_else(|| {
            let tz = tz.clone();
            at(*place)(Reason::Zone { tz })
        })?,
        None => options.zone().unwrap_or(definition.tz),
    };
    definition
        .check()
        .map_err(|unfit| at(entry.place)(unfit.into()))?;
    let stem = options
        .file
        .rsplit_once('.')
        .map_or(options.file, |(stem, _)| stem);
    let name = super::numbered(stem, index).map_err(|unfit| at(entry.place)(unfit.into()))?;
    let often = shortest_gap(&expression).is_some_and(|gap| gap < OFTEN);
    Ok(Imported {
        name,
        definition,
        place: entry.place,
        differences: often.then_some(Difference::Often).into_iter().collect(),
        besides: Besides::default(),
    })
}

fn shortest_gap(expression: &Expression) -> Option<SignedDuration> {
    let (timetable, zone) = (expression.compile(""), Zone::utc());
    let next = |at: Timestamp| timetable.next_after(at, &zone);
    let first = next(Timestamp::UNIX_EPOCH);
    let times: Vec<Timestamp> = std::iter::successors(first, |at| next(*at))
        .take(GAPS)
        .collect();
    let gaps = times.windows(2).map(|pair| pair[1].duration_since(pair[0]));
    gaps.min()
}
