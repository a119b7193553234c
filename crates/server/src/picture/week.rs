//! What is believed of a source's week, as a picture: a row for each day, a column for each hour, in UTC.
//!
//! The darker an hour, the more entries are expected in it. Bars stand for the last checks, discs for the
//! newest entries, each at its minute of the week: whether the checks come when there is something to see
//! can be seen. The picture follows the reader's light or dark scheme, runs no script, and says in words what it shows.

use std::fmt::Write;

use jiff::{Timestamp, tz::TimeZone};

use crate::{
    picture::hours::{self, EDGE, Hours, WIDTH, believable},
    ui::lang::Lang,
};

/// Hours of a week.
pub const HOURS: usize = 7 * 24;
/// Longest name that fits above the picture.
const NAME_CHARS: usize = 60;
/// Room for the name and the summary above the hours.
const TOP: f64 = 76.0;

/// The only style in the picture; whoever sends it over HTTP names its hash in the content policy.
pub const STYLE: &str = "\
text{font:13px system-ui,sans-serif;fill:#1c2330}.faint{fill:#5c6675;font-size:12px}\
.title{font-size:16px;font-weight:600}.paper{fill:#fff}.cell{fill:#eef1f5}.heat{fill:#1f6feb}\
.check{stroke:#1c2330;stroke-width:1.5}.entry{fill:#9a5b00;stroke:#fff}\
@media(prefers-color-scheme:dark){text{fill:#e6e9ef}.faint{fill:#9aa4b2}.paper{fill:#12161d}\
.cell{fill:#1d232d}.heat{fill:#6ea8fe}.check{stroke:#e6e9ef}.entry{fill:#ffc46b;stroke:#12161d}}";

/// What the picture shows.
#[derive(Debug, Clone, Copy)]
pub struct Week<'a> {
    /// What people call the source.
    pub name: &'a str,
    /// Entries expected in each hour, from Monday 00:00 UTC.
    pub expected: &'a [f64; HOURS],
    /// When it was looked at.
    pub checks: &'a [Timestamp],
    /// When entries of it were published.
    pub entries: &'a [Timestamp],
}

/// Draws the picture, as SVG.
pub fn draw(week: &Week<'_>) -> String {
    let expected = week.expected.map(believable);
    let hours = Hours {
        expected: &expected,
        checks: week.checks,
        entries: week.entries,
        lang: Lang::English,
        zone: &TimeZone::UTC,
        top: TOP,
    };
    let (name, summary) = (escape(&shorten(week.name)), hours.summary());
    let (height, table) = (hours.height(), table(&hours));
    let mut svg = String::new();
    // Writing to a String cannot fail.
    let _ = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-label=\"{name}: {summary}\">\n<title>{name}: {summary}</title>\n<desc>{table}</desc>\n\
         <style>{STYLE}</style>\n<rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\" rx=\"8\"/>\n\
         <text class=\"title\" x=\"{EDGE}\" y=\"28\">{name}</text>\n\
         <text class=\"faint\" x=\"{EDGE}\" y=\"46\">{summary}</text>\n"
    );
    hours.draw(&mut svg);
    svg.push_str("</svg>\n");
    svg
}

/// The numbers for who cannot see the picture: every day with the hours that stand out.
fn table(hours: &Hours<'_>) -> String {
    let rows = (0..7).map(|number| {
        let (day, total) = (hours::day(number, Lang::English), hours.of_day(number));
        let told = hours.stand_out(number);
        let separator = if told.is_empty() { "" } else { ": " };
        format!("{day} {total} entries{separator}{told}.")
    });
    let rows: Vec<String> = rows.collect();
    format!("Entries expected, in UTC.\n{}", rows.join("\n"))
}

fn shorten(name: &str) -> String {
    if name.chars().count() <= NAME_CHARS {
        return name.to_owned();
    }
    name.chars().take(NAME_CHARS - 1).chain(['…']).collect()
}

/// A publisher's text as XML may hold it: marks escaped, and without characters that no XML may hold even
/// escaped.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => {}
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests;
