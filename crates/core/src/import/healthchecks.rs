//! Checks of a Healthchecks project, as its management API lists them (`GET /api/v3/checks/`).
//!
//! A check becomes a monitor: its period or expression, its zone and its grace mean the same here.
//! What a check has and a monitor has not is said of each check. Secrets are not repeated: neither
//! its UUID nor its address is in anything that is printed.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Difference, Import, Imported, Options, Problem, Reason, calendar,
    expression::{rewrite, with_both_days},
    numbered, zone_named,
};
use crate::{
    place::Place,
    plan::{Definition, TAGS_MAX, Unfit, is_tag},
    schedule::{Lint, Span},
    target::Target,
};

#[derive(Deserialize)]
struct Project<'a> {
    #[serde(borrow)]
    checks: Vec<&'a RawValue>,
}

/// One check. What is not read here has no effect on when an alert is raised.
#[derive(Default, Deserialize)]
#[serde(default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the fields of a foreign answer"
)]
struct Check {
    name: String,
    slug: String,
    tags: String,
    desc: String,
    /// The period, in seconds.
    timeout: Option<u64>,
    grace: Option<i64>,
    schedule: Option<String>,
    tz: Option<String>,
    status: String,
    methods: String,
    filter_subject: bool,
    filter_body: bool,
    filter_http_body: bool,
    filter_default_fail: bool,
    channels: String,
    uuid: Option<String>,
}

/// Reads the checks of a project.
pub fn read(text: &str, options: &Options<'_>) -> Import {
    let mut import = Import::default();
    let project: Project<'_> = match serde_json::from_str(text) {
        Ok(project) => project,
        Err(error) => {
            import.problems.push(not_json(text, &error));
            return import;
        }
    };
    for raw in project.checks {
        let place = Place::of(text, span_of(text, raw.get()));
        match imported(raw.get(), &import, place, options) {
            Ok(imported) => import.schedules.push(imported),
            Err(reason) => import.problems.push(Problem { place, reason }),
        }
    }
    import
}

fn not_json(text: &str, error: &serde_json::Error) -> Problem {
    let start: usize = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum();
    let at = (start + error.column().saturating_sub(1)).min(text.len());
    let what = "expected the answer of GET /api/v3/checks/: {\"checks\": [...]}";
    Problem {
        place: Place::of(text, Span::new(at, at)),
        reason: Reason::Shape { what },
    }
}

/// Where a part of a text is in it.
fn span_of(text: &str, part: &str) -> Span {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    Span::new(start, start + part.len())
}

fn imported(
    raw: &str,
    earlier: &Import,
    place: Place,
    options: &Options<'_>,
) -> Result<Imported, Reason> {
    let what = "this is not a check";
    let check: Check = serde_json::from_str(raw).map_err(|_| Reason::Shape { what })?;
    let mut differences = check.differences();
    let expression = check.expression(&mut differences)?;
    let mut definition = Definition::new(expression, check.target());
    definition.tags = check.tags();
    if check.schedule.is_some() {
        definition.tz = check.zone(options)?.unwrap_or(definition.tz);
    }
    definition.grace = check.grace.map(jiff::SignedDuration::from_secs);
    definition.check()?;
    Ok(Imported {
        name: check.named(earlier)?,
        definition,
        place,
        differences,
    })
}

impl Check {
    /// Its slug, or its name; with a number where another has it already.
    fn named(&self, earlier: &Import) -> Result<crate::plan::ScheduleName, Unfit> {
        let stem = [&self.slug, &self.name];
        let stem = stem.into_iter().find(|text| !text.is_empty());
        let stem = stem.map_or("check", String::as_str);
        let stem = stem.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
        let stem = if stem.is_empty() { "check" } else { stem };
        let mut index = 0;
        loop {
            let name = numbered(stem, index)?;
            if earlier.schedules.iter().all(|it| it.name != name) {
                return Ok(name);
            }
            index += 1;
        }
    }

    /// Its tags, in lower case and each once, as ours are.
    fn tags(&self) -> Vec<String> {
        let tags = self.tags.split_whitespace().map(str::to_lowercase);
        let tags: BTreeSet<String> = tags.filter(|tag| is_tag(tag)).collect();
        tags.into_iter().take(TAGS_MAX).collect()
    }

    fn target(&self) -> Target {
        let named = [&self.slug, &self.name].contains(&&String::new()) || self.slug == self.name;
        let name = (!named).then_some(self.name.as_str());
        let desc = Some(self.desc.trim()).filter(|desc| !desc.is_empty());
        let parts: Vec<&str> = [name, desc].into_iter().flatten().collect();
        let note = parts.join("\n").replace(['\r', '\t'], " ");
        let note = Some(note).filter(|note| !note.is_empty());
        Target::Ping { note }
    }

    fn expression(&self, differences: &mut Vec<Difference>) -> Result<String, Reason> {
        let Some(schedule) = &self.schedule else {
            let wanted = "timeout or schedule";
            let seconds = self.timeout.ok_or(Reason::NoTime { wanted })?;
            return Ok(format!("@every {seconds}s"));
        };
        let calendar = schedule.contains(':') || schedule.lines().count() > 1;
        if calendar {
            let piece = schedule.clone();
            let translated = calendar::translate(schedule);
            let translated = translated.map_err(|_| Reason::Calendar { piece })?;
            return Ok(translated.expression);
        }
        let (written, read) = rewrite(schedule).map_err(|fault| fault.reason)?;
        if let Some(Lint::StepIsRestriction { field }) = read.day_lint() {
            differences.push(Difference::StepDay { field });
            return Ok(with_both_days(&written));
        }
        Ok(written)
    }

    fn zone(&self, options: &Options<'_>) -> Result<Option<String>, Reason> {
        let Some(tz) = &self.tz else {
            return Ok(options.zone());
        };
        let known = zone_named(tz).ok_or_else(|| Reason::Zone { tz: tz.clone() })?;
        Ok(Some(known))
    }

    /// What it has there and not here.
    fn differences(&self) -> Vec<Difference> {
        let filters = [
            self.filter_subject,
            self.filter_body,
            self.filter_http_body,
            self.filter_default_fail,
        ];
        let ignored = [
            ("methods", !self.methods.is_empty()),
            ("keyword filters", filters.contains(&true)),
            ("channels", !self.channels.is_empty()),
        ];
        let ignored = ignored.into_iter().filter(|(_, given)| *given);
        let mut differences: Vec<Difference> = ignored
            .map(|(setting, _)| Difference::Ignored {
                setting: setting.to_owned(),
            })
            .collect();
        if self.uuid.is_some() {
            differences.push(Difference::PingKey);
        }
        if self.status == "paused" {
            differences.push(Difference::Paused);
        }
        differences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the API answers, version 3, shortened.
    const PROJECT: &str = r#"{"checks": [
  {"name": "Filesystem Backup", "slug": "filesystem-backup", "tags": "backup fs",
   "desc": "Runs incremental backup every hour", "grace": 600, "n_pings": 1, "status": "up",
   "timeout": 3600, "channels": "4ec5a071", "methods": "", "uuid": "31365bce-8da9-4729-8ff3-aaa71d56b712",
   "ping_url": "https://hc-ping.com/31365bce-8da9-4729-8ff3-aaa71d56b712"},
  {"name": "DB Backup", "slug": "", "grace": 1200, "status": "paused", "schedule": "15 5 * * *", "tz": "Europe/Riga"},
  {"name": "DB Backup", "slug": "", "grace": 60, "status": "new", "schedule": "Mon..Fri 6:30", "tz": "UTC", "methods": "POST", "filter_body": true},
  {"name": "never", "grace": 60, "schedule": "0 0 30 2 *", "tz": "UTC"},
  {"name": "nowhere", "grace": 60, "schedule": "* * * * *", "tz": "Mars/Olympus"},
  {"name": "empty", "grace": 60},
  {"name": "hasty", "grace": -5, "timeout": 60},
  42
]}"#;

    #[test]
    fn dp_23_checks_become_monitors_and_what_they_lose_is_said() {
        let import = read(PROJECT, &Options::default());
        let shown: Vec<String> = import
            .schedules
            .iter()
            .map(|it| {
                let codes: Vec<&str> = it.differences.iter().map(Difference::code).collect();
                let Target::Ping { note } = &it.definition.target else {
                    panic!("{it:?}");
                };
                let grace = it.definition.grace.unwrap().as_secs();
                format!(
                    "{}: {} ({}) {grace}s {note:?} {:?} {codes:?} line {}",
                    it.name,
                    it.definition.expression,
                    it.definition.tz,
                    it.definition.tags,
                    it.place.line
                )
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r#"
        filesystem-backup: @every 3600s (UTC) 600s Some("Filesystem Backup\nRuns incremental backup every hour") ["backup", "fs"] ["ignored", "ping_key"] line 2
        DB-Backup: 15 5 * * * (Europe/Riga) 1200s None [] ["paused"] line 6
        DB-Backup-2: 30 6 * * 1-5 (UTC) 60s None [] ["ignored", "ignored"] line 7
        "#);
        let problems: Vec<String> = import.problems.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(problems.join("\n"), @r"
        line 8, column 3: no date fits: this never fires
        line 9, column 3: there is no time zone `Mars/Olympus`
        line 10, column 3: no time is given: timeout or schedule is missing
        line 11, column 3: grace must be between 1s and 8784h
        line 12, column 3: this is not a check
        ");
    }

    #[test]
    fn dp_23_no_secret_of_a_check_is_repeated() {
        let import = read(PROJECT, &Options::default());
        let said = format!("{import:?}");
        assert!(!said.contains("31365bce"), "{said}");
    }

    #[test]
    fn what_is_no_project_is_refused_whole() {
        for (text, column) in [
            ("", 1),
            ("[]", 1),
            ("{\"checks\": 3}", 12),
            ("{\"checks\": [", 13),
        ] {
            let import = read(text, &Options::default());
            assert!(import.schedules.is_empty(), "{text}");
            let problem = import.problems.first().unwrap();
            assert_eq!(problem.reason.code(), "shape", "{text}");
            assert!(problem.place.column <= column + 1, "{text}: {problem}");
        }
    }
}
