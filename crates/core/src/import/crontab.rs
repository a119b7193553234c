//! Crontabs: those of a user, and with a user column those of a system.
//!
//! Read as Vixie cron and its heirs read them: variables hold from their line on, `%` has a
//! meaning, `#` begins a comment only at the beginning of a line, and a day field that begins with
//! `*` does not count as restricted.

use std::collections::BTreeMap;

use super::{
    Besides, Difference, Fault, Import, Imported, Options, Reason, command,
    expression::{rewrite, with_both_days},
    zone_named,
};
use crate::{
    place::{Row, rows, words},
    plan::{CatchUp, Definition, Overlap, derived_name},
    schedule::{Expression, Lint, Span},
    target::{COMMAND_TIMEOUT_DEFAULT, Target},
};

const FIELDS: usize = 5;

/// Reads a crontab.
pub fn read(text: &str, options: &Options<'_>) -> Import {
    let mut reader = Reader {
        options: *options,
        shell: None,
        tz: options.zone(),
        seen: BTreeMap::new(),
        import: Import::default(),
    };
    for row in rows(text) {
        if let Err(fault) = reader.line(row) {
            reader.import.problems.push(fault.at(row));
        }
    }
    reader.import
}

struct Reader<'a> {
    options: Options<'a>,
    /// As `SHELL` says.
    shell: Option<String>,
    /// From `CRON_TZ`, or from the caller.
    tz: Option<String>,
    /// Where each schedule was first seen.
    seen: BTreeMap<String, usize>,
    import: Import,
}

/// A line that requests something, taken apart.
struct Job<'a> {
    expression: &'a str,
    expression_at: usize,
    user: Option<&'a str>,
    command: &'a str,
    command_at: usize,
}

impl Reader<'_> {
    fn line(&mut self, row: Row<'_>) -> Result<(), Fault> {
        let text = row.text.trim_start();
        if text.is_empty() || text.starts_with('#') {
            return Ok(());
        }
        match variable(row.text) {
            Some((name, value, span)) => self.set(name, value, span),
            None => self.job(row),
        }
    }

    fn set(&mut self, name: &str, value: &str, span: Span) -> Result<(), Fault> {
        match name {
            "SHELL" => self.shell = Some(value.to_owned()),
            "CRON_TZ" => {
                let tz = value.to_owned();
                let zone =
                    zone_named(value).ok_or_else(|| Fault::new(span, Reason::Zone { tz }))?;
                self.tz = Some(zone);
            }
            "MAILTO" | "MAILFROM" if value.is_empty() => {}
            "MAILTO" | "MAILFROM" => self.import.differ(Difference::Mail),
            _ => {
                let name = name.to_owned();
                self.import.differ(Difference::Environment { name });
            }
        }
        Ok(())
    }

    fn job(&mut self, row: Row<'_>) -> Result<(), Fault> {
        let job = take_apart(row.text, self.options.with_users)?;
        let (written, expression) =
            rewrite(job.expression).map_err(|fault| fault.behind(job.expression_at))?;
        let command =
            command::unescape(job.command).map_err(|fault| fault.behind(job.command_at))?;
        let mut differences = differences(&job, &expression);
        let written = keep_days(written, &differences);
        let target = self.target(&command, &mut differences);
        let definition = self.definition(written, target);
        let content = format!("{}\n{}\n{command}", definition.expression, definition.tz);
        let whole = Span::new(job.expression_at, row.text.trim_end().len());
        if let Some(line) = self.seen.get(&content) {
            return Err(Fault::new(whole, Reason::Same { line: *line }));
        }
        definition
            .check()
            .map_err(|unfit| Fault::new(whole, unfit))?;
        if self.tz.is_none() && expression.period_s().is_none() {
            self.import.differ(Difference::LocalTime);
        }
        let name = derived_name("crontab", &content);
        self.seen.insert(content, row.number);
        self.import.schedules.push(Imported {
            name,
            definition,
            place: row.whole(),
            differences,
            besides: Besides::default(),
        });
        Ok(())
    }

    fn definition(&self, expression: String, target: Target) -> Definition {
        let mut definition = Definition::new(expression, target);
        definition.tz = self.tz.clone().unwrap_or(definition.tz);
        // Cron starts what is due and looks neither back nor aside.
        definition.catch_up = CatchUp::None;
        definition.overlap = Overlap::Allow;
        definition
    }

    fn target(&self, command: &str, differences: &mut Vec<Difference>) -> Target {
        let shell = self.shell.as_deref().unwrap_or(command::SHELL);
        let shell = command::needs_shell(command).then_some(shell);
        if let Some(shell) = shell {
            let shell = shell.to_owned();
            differences.push(Difference::Shell { shell });
        }
        Target::Command {
            argv: command::argv(command, shell),
            timeout: COMMAND_TIMEOUT_DEFAULT,
        }
    }
}

/// What is different about the times and the user of a job.
fn differences(job: &Job<'_>, expression: &Expression) -> Vec<Difference> {
    let mut differences = Vec::new();
    if let Some(Lint::StepIsRestriction { field }) = expression.day_lint() {
        differences.push(Difference::StepDay { field });
    }
    if job.expression.contains('~') {
        differences.push(Difference::Random);
    }
    if let Some(user) = job.user {
        let user = user.to_owned();
        differences.push(Difference::User { user });
    }
    differences
}

/// Where a day field begins with `*`, Vixie cron requires both of them.
fn keep_days(written: String, differences: &[Difference]) -> String {
    let differs = |difference: &Difference| matches!(difference, Difference::StepDay { .. });
    if differences.iter().any(differs) {
        with_both_days(&written)
    } else {
        written
    }
}

/// `NAME = "value"`: the name, the value without its quotes, and the position of the value.
fn variable(line: &str) -> Option<(&str, &str, Span)> {
    let (name, value) = line.split_once('=')?;
    let start = name.len() + 1 + (value.len() - value.trim_start().len());
    let (name, value) = (name.trim(), value.trim());
    let name = unquoted(name);
    let shaped = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let named = name.starts_with(|c: char| !c.is_ascii_digit()) && name.chars().all(shaped);
    named.then(|| (name, unquoted(value), Span::new(start, start + value.len())))
}

fn unquoted(text: &str) -> &str {
    let quotes = ['"', '\''];
    let inside = |quote: &char| text.strip_prefix(*quote)?.strip_suffix(*quote);
    quotes.iter().find_map(inside).unwrap_or(text)
}

fn take_apart(line: &str, with_users: bool) -> Result<Job<'_>, Fault> {
    let words = words(line);
    let first = words.first().map_or("", |word| word.text);
    let fields = match first {
        "@every" => 2,
        _ if first.starts_with('@') => 1,
        _ => FIELDS,
    };
    let fields = fields.min(words.len());
    let before = fields + usize::from(with_users);
    let start = words.first().map_or(0, |word| word.start);
    let last = fields.checked_sub(1).and_then(|last| words.get(last));
    let end = last.map_or(start, |word| word.span().end);
    let expression = line.get(start..end).unwrap_or_default();
    let Some(program) = words.get(before) else {
        // A line too short to hold an expression is refused as an expression.
        rewrite(expression).map_err(|fault| fault.behind(start))?;
        let end = line.trim_end().len();
        return Err(Fault::new(Span::new(end, end), Reason::NoCommand));
    };
    Ok(Job {
        expression,
        expression_at: start,
        user: words
            .get(fields)
            .filter(|_| with_users)
            .map(|word| word.text),
        command: line.get(program.start..).unwrap_or_default().trim_end(),
        command_at: program.start,
    })
}
