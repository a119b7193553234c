//! Names that depend on the edition's day: `_posts/{date}-daily.md`.
//!
//! An edition has one name for ever, so that a second delivery replaces the first instead of adding
//! a file. Paths are checked when they are read: whatever the day, none leaves its base folder.

use jiff::civil::Date;

const CHARS_MAX: usize = 500;

/// Why a template was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadTemplate {
    /// Nothing, or too much.
    #[error("a template has 1 to {CHARS_MAX} characters")]
    Length,
    /// A brace without a known placeholder.
    #[error("`{{{0}` is not a placeholder; use {{date}}, {{year}}, {{month}} or {{day}}")]
    Placeholder(String),
    /// Not a path, or one that leaves its base folder.
    #[error(
        "a path is relative, with `/` between its parts, and no part is empty, `.`, `..` or `.git`: not `{0}`"
    )]
    Path(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Date,
    Year,
    Month,
    Day,
}

/// A text with placeholders for the edition's day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(Vec<Piece>);

impl Template {
    pub fn parse(text: &str) -> Result<Self, BadTemplate> {
        if text.is_empty() || text.chars().count() > CHARS_MAX {
            return Err(BadTemplate::Length);
        }
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let known = after
                .split_once('}')
                .and_then(|(name, rest)| Some((placeholder(name)?, rest)));
            let Some((piece, left)) = known else {
                let shown = after.chars().take(20).collect();
                return Err(BadTemplate::Placeholder(shown));
            };
            pieces.push(Piece::Text(before.to_owned()));
            pieces.push(piece);
            rest = left;
        }
        pieces.push(Piece::Text(rest.to_owned()));
        Ok(Self(pieces))
    }

    /// The text for a day.
    pub fn fill(&self, date: Date) -> String {
        let filled = self.0.iter().map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Date => date.to_string(),
            Piece::Year => format!("{:04}", date.year()),
            Piece::Month => format!("{:02}", date.month()),
            Piece::Day => format!("{:02}", date.day()),
        });
        filled.collect()
    }
}

fn placeholder(name: &str) -> Option<Piece> {
    match name {
        "date" => Some(Piece::Date),
        "year" => Some(Piece::Year),
        "month" => Some(Piece::Month),
        "day" => Some(Piece::Day),
        _ => None,
    }
}

/// A template of a path below a base folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathTemplate(Template);

impl PathTemplate {
    /// Reads a path template.
    pub fn parse(text: &str) -> Result<Self, BadTemplate> {
        let template = Template::parse(text)?;
        // Days are digits and dashes: they make no part of a path special.
        let stays = text.split('/').all(is_part) && !text.contains('\\');
        if stays && !text.chars().any(char::is_control) {
            Ok(Self(template))
        } else {
            Err(BadTemplate::Path(text.to_owned()))
        }
    }

    /// The path for a day.
    pub fn fill(&self, date: Date) -> String {
        self.0.fill(date)
    }
}

fn is_part(part: &str) -> bool {
    !part.is_empty() && part != "." && part != ".." && !part.eq_ignore_ascii_case(".git")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ed_34_a_template_names_an_edition_by_its_day() {
        let day = jiff::civil::date(2026, 1, 9);
        for (template, filled) in [
            ("_posts/{date}-daily.md", "_posts/2026-01-09-daily.md"),
            ("{year}/{month}/{day}.md", "2026/01/09.md"),
            ("Add {date} ({date})", "Add 2026-01-09 (2026-01-09)"),
            ("latest.md", "latest.md"),
            ("a}b", "a}b"),
        ] {
            assert_eq!(Template::parse(template).unwrap().fill(day), filled);
        }
    }

    #[test]
    fn what_cannot_be_filled_is_refused() {
        for bad in ["", "{", "{dat}", "{date", "{ date }", "a{}b"] {
            assert!(Template::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(
            Template::parse("x/{week}.md").unwrap_err().to_string(),
            "`{week}.md` is not a placeholder; use {date}, {year}, {month} or {day}"
        );
    }

    #[test]
    fn ed_34_a_path_does_not_leave_its_base_folder() {
        for (path, stays) in [
            ("_posts/{date}-daily.md", true),
            ("a/..b/c.md", true),
            ("../{date}.md", false),
            ("a/../../{date}.md", false),
            ("/etc/{date}", false),
            ("a//b", false),
            ("a/", false),
            ("./a", false),
            ("a\\..\\b", false),
            (".git/hooks/x", false),
            ("a/.GIT/x", false),
            ("a\n", false),
        ] {
            assert_eq!(PathTemplate::parse(path).is_ok(), stays, "{path}");
        }
    }
}
