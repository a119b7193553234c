//! Timer units of systemd.
//!
//! A timer says when; what it starts is a unit, so the schedule's target is `systemctl start UNIT`.
//! Calendar times become expressions. A period that counts from the last start becomes one that
//! counts from the epoch: every node must see the same slots. Starts that follow the machine's own
//! are no times.

use jiff::SignedDuration;

use super::{Besides, Difference, Import, Imported, Options, Problem, Reason, calendar, period};
use crate::{
    place::{Place, Row, rows},
    plan::{CatchUp, Definition},
    schedule::{Expression, Mode, Span},
    target::{COMMAND_TIMEOUT_DEFAULT, Target},
};

/// Settings that count from a start of something else than the unit.
const BOOT: [&str; 3] = ["OnActiveSec", "OnBootSec", "OnStartupSec"];
const PERIODS: [&str; 2] = ["OnUnitActiveSec", "OnUnitInactiveSec"];
const READ: [&str; 6] = [
    "OnCalendar",
    "Persistent",
    "RandomizedDelaySec",
    "FixedRandomDelay",
    "AccuracySec",
    "Unit",
];

/// A line `Name=value` of the section `[Timer]`.
#[derive(Clone, Copy)]
struct Setting<'a> {
    name: &'a str,
    value: &'a str,
    /// Where in its line the value begins.
    at: usize,
    row: Row<'a>,
}

impl Setting<'_> {
    fn place(self) -> Place {
        self.row
            .place(Span::new(self.at, self.at + self.value.len()))
    }

    fn problem(self, reason: Reason) -> Problem {
        let place = self.place();
        Problem { place, reason }
    }
}

/// When a timer elapses.
struct When {
    /// Its place among all times of the timer, bad ones counted: one that is repaired later renames
    /// no other.
    index: usize,
    expression: String,
    tz: Option<String>,
    place: Place,
    differences: Vec<Difference>,
}

/// Reads a timer unit.
pub fn read(text: &str, options: &Options<'_>) -> Import {
    let mut import = Import::default();
    let settings = settings(text, &mut import.problems);
    let timer = Timer {
        settings: &settings,
        options,
    };
    let mut whens = timer.calendars(&mut import.problems);
    whens.extend(timer.periods(&mut import.problems));
    timer.report_boot(&whens, &mut import);
    if whens.is_empty() && import.problems.is_empty() {
        let place = rows(text).next().map(|row| row.whole());
        let reason = Reason::NoTime {
            wanted: "OnCalendar= in [Timer]",
        };
        import
            .problems
            .extend(place.map(|place| Problem { place, reason }));
    }
    timer.report_general(&whens, &mut import);
    for when in whens {
        match timer.imported(when) {
            Ok(imported) => import.take(imported),
            Err(problem) => import.problems.push(problem),
        }
    }
    import
        .problems
        .sort_by_key(|problem| problem.place.span.start);
    import
}

/// The settings of `[Timer]`. An empty value takes back those before it.
fn settings<'a>(text: &'a str, problems: &mut Vec<Problem>) -> Vec<Setting<'a>> {
    let mut settings: Vec<Setting<'a>> = Vec::new();
    let mut in_timer = false;
    for row in rows(text) {
        let line = row.text.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if line.starts_with('[') {
            in_timer = line == "[Timer]";
            continue;
        }
        if !in_timer {
            continue;
        }
        let Some((name, value)) = row.text.split_once('=') else {
            let (place, reason) = (row.whole(), Reason::Syntax);
            problems.push(Problem { place, reason });
            continue;
        };
        let at = name.len() + 1 + (value.len() - value.trim_start().len());
        let (name, value) = (name.trim(), value.trim());
        let setting = Setting {
            name,
            value,
            at,
            row,
        };
        match value {
            "" => settings.retain(|earlier| earlier.name != name),
            value if value.ends_with('\\') => problems.push(setting.problem(Reason::Continued)),
            _ => settings.push(setting),
        }
    }
    settings
}

struct Timer<'a> {
    settings: &'a [Setting<'a>],
    options: &'a Options<'a>,
}

impl Timer<'_> {
    fn all<'b>(&'b self, names: &'b [&str]) -> impl Iterator<Item = Setting<'b>> {
        let wanted = |setting: &&Setting<'_>| names.contains(&setting.name);
        self.settings.iter().filter(wanted).copied()
    }

    /// The last one counts.
    fn one(&self, name: &str) -> Option<Setting<'_>> {
        self.settings
            .iter()
            .rfind(|setting| setting.name == name)
            .copied()
    }

    fn calendars(&self, problems: &mut Vec<Problem>) -> Vec<When> {
        let mut whens = Vec::new();
        for (index, setting) in self.all(&["OnCalendar"]).enumerate() {
            match calendar::translate(setting.value) {
                Ok(calendar) => whens.push(When {
                    index,
                    expression: calendar.expression,
                    tz: calendar.tz,
                    place: setting.place(),
                    differences: Vec::new(),
                }),
                Err(fault) => problems.push(fault.behind(setting.at).at(setting.row)),
            }
        }
        whens
    }

    fn periods(&self, problems: &mut Vec<Problem>) -> Vec<When> {
        let mut whens = Vec::new();
        let calendars = self.all(&["OnCalendar"]).count();
        for (index, setting) in (calendars..).zip(self.all(&PERIODS)) {
            let expression = period::seconds(setting.value).map(|seconds| format!("@{seconds}s"));
            let given = setting.value.to_owned();
            match expression.filter(|it| Expression::parse(it, Mode::Strict).is_ok()) {
                Some(expression) => whens.push(When {
                    index,
                    expression,
                    tz: Some("UTC".to_owned()),
                    place: setting.place(),
                    differences: vec![Difference::Monotonic],
                }),
                None => problems.push(setting.problem(Reason::Period { given })),
            }
        }
        whens
    }

    /// A start after the machine's own is lost; where it is all there is, that is a problem.
    fn report_boot(&self, whens: &[When], import: &mut Import) {
        for boot in self.all(&BOOT) {
            let setting = boot.name.to_owned();
            if whens.is_empty() {
                import.problems.push(boot.problem(Reason::Boot { setting }));
            } else {
                import.differ(Difference::Boot { setting });
            }
        }
    }

    fn report_general(&self, whens: &[When], import: &mut Import) {
        if whens.is_empty() {
            return;
        }
        let unit = self.unit();
        import.differ(Difference::Unit { unit });
        let by_clock = |when: &When| !when.expression.starts_with('@');
        if self.options.tz.is_none() && whens.iter().any(|when| when.tz.is_none()) {
            import.differ(Difference::LocalTime);
        }
        let accuracy = self
            .one("AccuracySec")
            .and_then(|it| period::seconds(it.value));
        if accuracy.is_none_or(|seconds| seconds > 1) {
            import.differ(Difference::Accuracy);
        }
        let fixed = self
            .one("FixedRandomDelay")
            .is_some_and(|it| is_true(it.value));
        if self.one("RandomizedDelaySec").is_some() && !fixed {
            import.differ(Difference::Delay);
        }
        let moved = |when: &When| self.tz_of(when) != "UTC" && by_clock(when);
        if whens.iter().any(moved) {
            import.differ(Difference::Clocks);
        }
        for setting in self.settings {
            let known = READ.iter().chain(&BOOT).chain(&PERIODS);
            if !known.into_iter().any(|known| *known == setting.name) {
                let setting = setting.name.to_owned();
                import.differ(Difference::Ignored { setting });
            }
        }
    }

    fn unit(&self) -> String {
        match self.one("Unit") {
            Some(unit) => unit.value.to_owned(),
            None => format!("{}.service", self.stem()),
        }
    }

    fn stem(&self) -> &str {
        let file = self.options.file;
        file.strip_suffix(".timer").unwrap_or(file)
    }

    fn tz_of(&self, when: &When) -> String {
        let tz = when.tz.clone().or_else(|| self.options.zone());
        tz.unwrap_or_else(|| "UTC".to_owned())
    }

    fn imported(&self, when: When) -> Result<Imported, Problem> {
        let place = when.place;
        let refused = |unfit| Problem {
            place,
            reason: Reason::Unfit(unfit),
        };
        let unit = self.unit();
        // systemd fills in `%i` and the like when it loads the instance, which we never see.
        if unit.contains("@.") || unit.contains('%') {
            let reason = Reason::Template { unit };
            return Err(Problem { place, reason });
        }
        let argv = ["systemctl".to_owned(), "start".to_owned(), unit];
        let target = Target::Command {
            argv: argv.to_vec(),
            timeout: COMMAND_TIMEOUT_DEFAULT,
        };
        let tz = self.tz_of(&when);
        let mut definition = Definition::new(when.expression, target);
        definition.tz = tz;
        let persistent = self.one("Persistent").is_some_and(|it| is_true(it.value));
        definition.catch_up = if persistent {
            CatchUp::Latest
        } else {
            CatchUp::None
        };
        if let Some(delay) = self.one("RandomizedDelaySec") {
            let seconds = period::seconds(delay.value).and_then(|it| i64::try_from(it).ok());
            let given = delay.value.to_owned();
            let seconds = seconds.ok_or_else(|| delay.problem(Reason::Period { given }))?;
            definition.splay = SignedDuration::from_secs(seconds);
        }
        definition.check().map_err(refused)?;
        let name = super::numbered(self.stem(), when.index).map_err(refused)?;
        Ok(Imported {
            name,
            definition,
            place,
            differences: when.differences,
            besides: Besides::default(),
        })
    }
}

fn is_true(value: &str) -> bool {
    let yes = ["1", "yes", "y", "true", "t", "on"];
    yes.iter().any(|yes| value.eq_ignore_ascii_case(yes))
}
