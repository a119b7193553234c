//! What is wrong with a configuration, where, why, and what to do about it.
//!
//! All problems are collected and shown together, so that you need not start once for each.
//! INVARIANT: a line of the file is only ever shown through [`Source::line`], which covers what may
//! be a secret.

use std::{fmt::Write as _, ops::Range};

use serde::Serialize;
use serde_json::{Value, json};

use super::source::{Position, Source};

/// Whether a problem prevents the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Severity {
    /// Nothing starts with it.
    Error,
    /// It works, but probably not as meant.
    Warning,
}

/// Where a value was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the file, at these bytes.
    File {
        /// Bytes of the value, or of whatever is wrong.
        span: Range<usize>,
    },
    /// In an environment variable.
    Environment {
        /// Its name.
        variable: String,
        /// What it holds, as it may be shown.
        shown: String,
    },
    /// On the command line.
    Flag {
        /// Its name, with dashes.
        flag: String,
        /// What was given, as it may be shown.
        shown: String,
    },
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// How bad it is.
    pub(crate) severity: Severity,
    /// What is wrong, as a sentence without a full stop. Never contains a secret.
    pub(crate) what: String,
    /// Where; `None` if it is about the whole.
    pub(crate) place: Option<Place>,
    /// What to do about it.
    pub(crate) hint: Option<String>,
}

impl Problem {
    /// A mistake at a place.
    pub(crate) fn error(what: impl Into<String>, place: Option<Place>) -> Self {
        Self {
            severity: Severity::Error,
            what: what.into(),
            place,
            hint: None,
        }
    }

    /// What is wrong with a value, and what to write instead; where it is written is added later.
    pub(crate) fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::error(what, None).hint(hint)
    }

    /// Something that is allowed and probably not meant.
    pub(crate) fn warning(what: impl Into<String>, place: Option<Place>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(what, place)
        }
    }

    /// Where it comes when problems are read from the top of the file down.
    pub(crate) fn reading_order(&self) -> (u8, usize) {
        match &self.place {
            None => (0, 0),
            Some(Place::File { span }) => (1, span.start),
            Some(Place::Environment { .. }) => (2, 0),
            Some(Place::Flag { .. }) => (3, 0),
        }
    }

    /// The same with advice.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }
}

/// Everything that is wrong, and the file it is about.
#[derive(Debug, Clone)]
pub(crate) struct Report {
    /// The file, if one was read.
    pub(crate) source: Option<Source>,
    /// What is wrong, in the order it was found.
    pub(crate) problems: Vec<Problem>,
}

impl Report {
    /// The problems of one severity.
    pub(crate) fn of(&self, severity: Severity) -> impl Iterator<Item = &Problem> {
        let problems = self.problems.iter();
        problems.filter(move |problem| problem.severity == severity)
    }

    /// Whether nothing can start.
    pub(crate) fn has_errors(&self) -> bool {
        self.of(Severity::Error).next().is_some()
    }

    /// All problems of one severity as text, each ending in a line break.
    pub(crate) fn render(&self, severity: Severity) -> String {
        let texts: Vec<String> = self.of(severity).map(|it| self.render_one(it)).collect();
        texts.join("\n")
    }

    /// A problem in one line, for the log: place, reason, advice.
    pub(crate) fn line(&self, problem: &Problem) -> String {
        let place = self.excerpt(problem).map(|it| format!("{}: ", it.name));
        let hint = problem.hint.as_ref().map(|hint| format!(" ({hint})"));
        let (place, hint) = (place.unwrap_or_default(), hint.unwrap_or_default());
        format!("{place}{}{hint}", problem.what)
    }

    /// All problems for a program to read.
    pub(crate) fn views(&self) -> Vec<Value> {
        self.problems.iter().map(|it| self.view(it)).collect()
    }

    fn view(&self, problem: &Problem) -> Value {
        let mut view = json!({ "severity": problem.severity, "message": problem.what });
        if let Some(hint) = &problem.hint {
            view["hint"] = json!(hint);
        }
        match (&problem.place, &self.source) {
            (Some(Place::File { span }), Some(source)) => {
                let Position { line, column } = source.position(span.start);
                view["file"] = json!(source.name);
                view["line"] = json!(line);
                view["column"] = json!(column);
            }
            (Some(Place::Environment { variable, .. }), _) => view["variable"] = json!(variable),
            (Some(Place::Flag { flag, .. }), _) => view["flag"] = json!(flag),
            (Some(Place::File { .. }) | None, _) => {}
        }
        view
    }

    fn render_one(&self, problem: &Problem) -> String {
        let word = match problem.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let mut text = format!("{word}: {}\n", problem.what);
        let excerpt = self.excerpt(problem);
        let margin = excerpt.as_ref().map_or(0, |it| it.number.len());
        text += &excerpt.map(|it| it.render()).unwrap_or_default();
        if let Some(hint) = &problem.hint {
            let _ = writeln!(text, "{:margin$} = hint: {hint}", "");
        }
        text
    }

    fn excerpt(&self, problem: &Problem) -> Option<Excerpt> {
        match (problem.place.as_ref()?, &self.source) {
            (Place::File { span }, Some(source)) => {
                let Position { line, column } = source.position(span.start);
                let (shown, point) = source.line(span);
                let name = format!("{}:{line}:{column}", source.name);
                Some(Excerpt {
                    place: name.clone(),
                    name,
                    number: line.to_string(),
                    line: shown,
                    point,
                })
            }
            (Place::File { .. }, None) => None,
            (Place::Environment { variable, shown }, _) => {
                let line = format!("{variable}={shown}");
                Some(Excerpt::outside("environment", variable, line))
            }
            (Place::Flag { flag, shown }, _) => {
                let line = format!("{flag} {shown}");
                Some(Excerpt::outside("command line", flag, line))
            }
        }
    }
}

/// The line that a problem is about, and where in it to point.
struct Excerpt {
    /// Where the line stands.
    place: String,
    /// The same in the log.
    name: String,
    number: String,
    line: String,
    point: Range<usize>,
}

impl Excerpt {
    /// What follows a name that was given outside of the file.
    fn outside(place: &str, name: &str, line: String) -> Self {
        Self {
            place: place.to_owned(),
            name: name.to_owned(),
            number: String::new(),
            point: name.chars().count() + 1..line.chars().count(),
            line,
        }
    }

    /// Place, line and caret, one below the other.
    fn render(&self) -> String {
        let Self {
            place,
            number,
            line,
            point,
            ..
        } = self;
        let margin = number.len();
        let (before, caret) = (" ".repeat(point.start), "^".repeat(point.len().max(1)));
        format!(
            "{:margin$}--> {place}\n{:margin$} |\n{number} | {line}\n{:margin$} | {before}{caret}\n",
            "", "", ""
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, covered: Option<Range<usize>>, span: Range<usize>) -> String {
        let mut source = Source::new("almanack.toml".into(), text.into());
        if let Some(range) = covered {
            source.cover(range);
        }
        let problem = Problem::error("it is wrong", Some(Place::File { span })).hint("right it");
        Report {
            source: Some(source),
            problems: vec![problem],
        }
        .render(Severity::Error)
    }

    #[test]
    fn the_caret_counts_characters_not_bytes() {
        insta::assert_snapshot!(shown("[log]\nlevel = \"日本\" # x\n", None, 14..22), @r#"
        error: it is wrong
         --> almanack.toml:2:9
          |
        2 | level = "日本" # x
          |         ^^^^
          = hint: right it
        "#);
    }

    #[test]
    fn a_covered_value_is_not_shown_even_when_something_else_on_its_line_is_wrong() {
        let text = "a = { secret = \"hunter2\", urk = 1 }";
        insta::assert_snapshot!(shown(text, Some(15..24), 26..29), @r"
        error: it is wrong
         --> almanack.toml:1:27
          |
        1 | a = { secret = ***, urk = 1 }
          |                     ^^^
          = hint: right it
        ");
    }

    #[test]
    fn a_span_at_the_very_end_still_points_somewhere() {
        assert!(shown("x", None, 1..1).contains("1 | x\n  |  ^\n"));
        assert!(shown("", None, 5..9).contains("1 | \n  | ^\n"));
    }
}
