//! Checks of a Healthchecks project, as its management API lists them (`GET /api/v3/checks/`).
//!
//! A check becomes a monitor: its period or expression, its zone and its grace mean the same here.
//! What a check has and a monitor has not is said of each check. Secrets are not repeated: neither
//! its UUID nor its address is in anything that is printed. Its UUID is carried over by whoever
//! writes the monitor, so that for the jobs only the host changes.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Besides, Difference, Import, Imported, Options, Problem, Reason, calendar,
    expression::{rewrite, with_both_days},
    numbered, zone_named,
};
use crate::{
    place::Place,
    plan::{Also, Definition, TAGS_MAX, Unfit, is_tag},
    schedule::{Lint, Span},
    secret::Secret,
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
    let first = check.expression(&mut differences)?;
    let mut definition = Definition::new(first.expression, check.target());
    definition.also = check.further()?;
    definition.tags = check.tags();
    if check.schedule.is_some() {
        let zone = check.zone(options)?.unwrap_or(definition.tz);
        definition.tz = first.tz.unwrap_or_else(|| zone.clone());
        // A further line without a zone reads the check's clock, not that of the first line.
        for also in &mut definition.also {
            also.tz.get_or_insert_with(|| zone.clone());
        }
    }
    definition.grace = check.grace.map(jiff::SignedDuration::from_secs);
    definition.check()?;
    Ok(Imported {
        name: check.named(earlier)?,
        definition,
        place,
        differences,
        besides: Besides {
            ping_key: check.uuid.as_deref().map(Secret::new),
            is_paused: check.is_paused(),
        },
    })
}

/// Where secrets stand in a text: whoever shows lines of it covers them.
pub fn secrets_in(text: &str) -> Vec<Span> {
    let project: Option<Project<'_>> = serde_json::from_str(text).ok();
    let checks = project.map(|it| it.checks).unwrap_or_default();
    let read = |raw: &RawValue| serde_json::from_str::<Check>(raw.get()).ok()?.uuid;
    let mut keys: Vec<String> = checks.into_iter().filter_map(read).collect();
    keys.retain(|key| !key.is_empty());
    let spans = keys.iter().flat_map(|key| {
        let found = text.match_indices(key.as_str());
        found.map(|(start, key)| Span::new(start, start + key.len()))
    });
    spans.collect()
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

    /// What it fires at, or the first line of it, with the zone that line names itself.
    fn expression(&self, differences: &mut Vec<Difference>) -> Result<Also, Reason> {
        let plain = |expression| Also {
            expression,
            tz: None,
        };
        let Some(schedule) = &self.schedule else {
            let wanted = "timeout or schedule";
            let seconds = self.timeout.ok_or(Reason::NoTime { wanted })?;
            return Ok(plain(format!("@every {seconds}s")));
        };
        if let Some(first) = self.calendar_lines().next() {
            return translated(first);
        }
        let (written, read) = rewrite(schedule).map_err(|fault| fault.reason)?;
        if let Some(Lint::StepIsRestriction { field }) = read.day_lint() {
            differences.push(Difference::StepDay { field });
            return Ok(plain(with_both_days(&written)));
        }
        Ok(plain(written))
    }

    /// The lines of a calendar expression after the first.
    fn further(&self) -> Result<Vec<Also>, Reason> {
        self.calendar_lines().skip(1).map(translated).collect()
    }

    /// Lines as systemd writes them; none, if it is written as cron does.
    fn calendar_lines(&self) -> impl Iterator<Item = &str> {
        let schedule = self.schedule.as_deref().unwrap_or_default();
        let lines = schedule.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty());
        let is_calendar = schedule.contains(':') || lines.clone().count() > 1;
        lines.filter(move |_| is_calendar)
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
        if self.is_paused() {
            differences.push(Difference::Paused);
        }
        differences
    }

    fn is_paused(&self) -> bool {
        self.status == "paused"
    }
}

fn translated(line: &str) -> Result<Also, Reason> {
    let piece = || Reason::Calendar {
        piece: line.to_owned(),
    };
    let calendar = calendar::translate(line).map_err(|_| piece())?;
    Ok(Also {
        expression: calendar.expression,
        tz: calendar.tz,
    })
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
  {"name": "Twice", "grace": 60, "schedule": "Mon 8:00\nFri 17:30 Asia/Tokyo", "tz": "Europe/Riga"},
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
                let also = it.definition.also.iter();
                let also = also.map(|it| format!(" + {} ({:?})", it.expression, it.tz));
                format!(
                    "{}: {} ({}){} {grace}s {note:?} {:?} {codes:?} line {}",
                    it.name,
                    it.definition.expression,
                    it.definition.tz,
                    also.collect::<String>(),
                    it.definition.tags,
                    it.place.line
                )
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r#"
        filesystem-backup: @every 3600s (UTC) 600s Some("Filesystem Backup\nRuns incremental backup every hour") ["backup", "fs"] ["ignored", "ping_key"] line 2
        DB-Backup: 15 5 * * * (Europe/Riga) 1200s None [] ["paused"] line 6
        DB-Backup-2: 30 6 * * 1-5 (UTC) 60s None [] ["ignored", "ignored"] line 7
        Twice: 0 8 * * 1 (Europe/Riga) + 30 17 * * 5 (Some("Asia/Tokyo")) 60s None [] [] line 8
        "#);
        let problems: Vec<String> = import.problems.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(problems.join("\n"), @r"
        line 9, column 3: no date fits: this never fires
        line 10, column 3: there is no time zone `Mars/Olympus`
        line 11, column 3: no time is given: timeout or schedule is missing
        line 12, column 3: grace must be between 1s and 8784h
        line 13, column 3: this is not a check
        ");
    }

    #[test]
    fn dp_23_no_secret_of_a_check_is_repeated() {
        let import = read(PROJECT, &Options::default());
        let said = format!("{import:?}");
        assert!(!said.contains("31365bce"), "{said}");
        let spans = secrets_in(PROJECT);
        let found: Vec<&str> = spans.iter().map(|it| &PROJECT[it.start..it.end]).collect();
        assert_eq!(found, ["31365bce-8da9-4729-8ff3-aaa71d56b712"; 2]);
        assert_eq!(secrets_in("{}"), []);
    }

    #[test]
    fn dp_23_what_jobs_ping_by_and_a_pause_can_be_carried_over() {
        let import = read(PROJECT, &Options::default());
        let besides = |name: &str| {
            let found = import
                .schedules
                .iter()
                .find(|it| it.name.to_string() == name);
            found.unwrap().besides.clone()
        };
        let key = besides("filesystem-backup").ping_key.unwrap();
        assert_eq!(key.expose(), "31365bce-8da9-4729-8ff3-aaa71d56b712");
        assert!(!besides("filesystem-backup").is_paused);
        assert!(besides("DB-Backup").is_paused);
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
