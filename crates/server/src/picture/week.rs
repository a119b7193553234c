//! The learned week of a source as a picture: a row for each day, a column for each hour, in UTC.
//!
//! The darker an hour, the more entries are expected. Bars are the last checks, discs the newest
//! entries, each at its minute of the week: this shows whether the checks come at the right times.
//! The picture follows the reader's light or dark scheme, runs no script, and describes itself in
//! words.

use super::hours::{self, EDGE, Hours, WIDTH, believable};
use super::prelude::*;
use super::svg::{File, file_style};

/// Hours of a week.
pub const HOURS: usize = 7 * 24;
/// Longest name that fits above the picture.
const NAME_COLUMNS: usize = 60;
/// Room for the name and the summary above the hours.
const TOP: f64 = 76.0;

/// The only style in the picture; over HTTP, the content security policy contains its hash.
pub const STYLE: &str = concat!(
    file_style!(),
    ".cell{fill:#eef1f5}.heat{fill:#1f6feb}",
    ".check{stroke:#1c2330;stroke-width:1.5}.entry{fill:#9a5b00;stroke:#fff}",
    "@media(prefers-color-scheme:dark){.cell{fill:#1d232d}.heat{fill:#6ea8fe}",
    ".check{stroke:#e6e9ef}.entry{fill:#ffc46b;stroke:#12161d}}"
);

/// What the picture shows.
#[derive(Debug, Clone, Copy)]
pub struct Week<'a> {
    pub name: &'a str,
    /// Entries expected in each hour, from Monday 00:00 UTC.
    pub expected: &'a [f64; HOURS],
    /// When it was checked.
    pub checks: &'a [Timestamp],
    /// Publication times of its entries.
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
    let (name, summary) = (fit(week.name, NAME_COLUMNS), hours.summary());
    let file = File {
        title: &format!("{name}: {summary}"),
        description: &table(&hours),
        size: [WIDTH, hours.height()],
        style: STYLE,
    };
    file.write(html! {
        (text("title", [EDGE, 28.0], name))
        (text("faint", [EDGE, 46.0], summary))
        (hours.draw())
    })
}

/// The numbers for readers who cannot see the picture: every day with its notable hours.
fn table(hours: &Hours<'_>) -> String {
    let rows = (0..7).map(|number| {
        let (day, total) = (hours::day(number, Lang::English), hours.of_day(number));
        let label = hours.stand_out(number);
        let separator = if label.is_empty() { "" } else { ": " };
        format!("{day} {total} entries{separator}{label}.")
    });
    let rows: Vec<String> = rows.collect();
    format!("Entries expected, in UTC.\n{}", rows.join("\n"))
}

#[cfg(test)]
mod tests;
