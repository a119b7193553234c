//! What is believed of a source's week, as a picture: a row for each day, a column for each hour, in UTC.
//!
//! The darker an hour, the more entries are expected in it. Bars stand for the last checks, discs for the
//! newest entries, each at its minute of the week: whether the checks come when there is something to see
//! can be seen. The picture follows the reader's light or dark scheme, runs no script, and says in words what it shows.

use std::fmt::Write;

use jiff::{Timestamp, tz::TimeZone};

/// Hours of a week.
pub const HOURS: usize = 7 * 24;
/// Most marks of a kind; more would hide the hours behind them.
const MARKS_MAX: usize = 500;
/// An hour is told in words if this part of the busiest is expected in it.
const TOLD_SHARE: f64 = 0.1;
/// Longest name that fits above the picture.
const NAME_CHARS: usize = 60;

const DAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];
const EDGE: f64 = 20.0;
const LEFT: f64 = 66.0;
const TOP: f64 = 76.0;
const CELL_WIDTH: f64 = 30.0;
const CELL_HEIGHT: f64 = 26.0;
const BOTTOM: f64 = 52.0;
const WIDTH: f64 = LEFT + 24.0 * CELL_WIDTH + EDGE;
const HEIGHT: f64 = TOP + 7.0 * CELL_HEIGHT + BOTTOM;

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
    let busiest = expected.iter().copied().fold(0.0, f64::max);
    let (name, summary) = (escape(&shorten(week.name)), summary(&expected));
    let table = table(&expected, busiest);
    let mut svg = String::new();
    // Writing to a String cannot fail, here and below.
    let _ = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"{name}: {summary}\">\n<title>{name}: {summary}</title>\n<desc>{table}</desc>\n\
         <style>{STYLE}</style>\n<rect class=\"paper\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"8\"/>\n\
         <text class=\"title\" x=\"{EDGE}\" y=\"28\">{name}</text>\n\
         <text class=\"faint\" x=\"{EDGE}\" y=\"46\">{summary}</text>\n"
    );
    axes(&mut svg);
    for (hour, expected) in expected.iter().enumerate() {
        cell(&mut svg, hour, *expected, busiest);
    }
    newest(week.checks).for_each(|at| check(&mut svg, at));
    newest(week.entries).for_each(|at| entry(&mut svg, at));
    legend(&mut svg, busiest);
    svg.push_str("</svg>\n");
    svg
}

/// A damaged history may believe anything; a picture shows numbers.
fn believable(expected: f64) -> f64 {
    if expected.is_finite() {
        expected.max(0.0)
    } else {
        0.0
    }
}

fn newest(times: &[Timestamp]) -> impl Iterator<Item = Timestamp> {
    times.iter().rev().take(MARKS_MAX).copied()
}

/// Left edge and top of an hour of the week.
fn corner(hour: usize) -> (f64, f64) {
    let place = |count: usize| u32::try_from(count).map_or(0.0, f64::from);
    let x = LEFT + place(hour % 24) * CELL_WIDTH;
    (x, TOP + place(hour / 24) * CELL_HEIGHT)
}

fn axes(svg: &mut String) {
    for hour in (0..24).step_by(3) {
        let (x, _) = corner(hour);
        let _ = writeln!(
            svg,
            "<text class=\"faint\" x=\"{x}\" y=\"{}\">{hour:02}:00</text>",
            TOP - 8.0
        );
    }
    for (number, day) in DAYS.iter().enumerate() {
        let (_, y) = corner(number * 24);
        let _ = writeln!(
            svg,
            "<text class=\"faint\" x=\"{EDGE}\" y=\"{}\">{}</text>",
            y + CELL_HEIGHT / 2.0 + 4.0,
            &day[..3]
        );
    }
}

fn cell(svg: &mut String, hour: usize, expected: f64, busiest: f64) {
    let (x, y) = corner(hour);
    let (width, height) = (CELL_WIDTH - 2.0, CELL_HEIGHT - 2.0);
    let place = format!("x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"3\"");
    let told = format!(
        "{} {:02}:00: {} entries",
        DAYS[hour / 24],
        hour % 24,
        Amount(expected)
    );
    let _ = write!(
        svg,
        "<g><title>{told}</title><rect class=\"cell\" {place}/>"
    );
    let share = if busiest > 0.0 {
        expected / busiest
    } else {
        0.0
    };
    if share >= 0.005 {
        let _ = write!(
            svg,
            "<rect class=\"heat\" fill-opacity=\"{share:.2}\" {place}/>"
        );
    }
    svg.push_str("</g>\n");
}

/// Where an instant stands in the week: the left edge of its minute, and the top of its day.
fn place(at: Timestamp) -> (f64, f64) {
    let civil = at.to_zoned(TimeZone::UTC);
    let day = usize::try_from(civil.weekday().to_monday_zero_offset()).unwrap_or(0);
    let hour = usize::try_from(civil.hour()).unwrap_or(0);
    let (x, y) = corner(day * 24 + hour);
    let minute = f64::from(civil.minute()) / 60.0;
    (x + minute * (CELL_WIDTH - 2.0), y)
}

fn check(svg: &mut String, at: Timestamp) {
    let (x, y) = place(at);
    let end = y + 9.0;
    let _ = writeln!(
        svg,
        "<line class=\"check\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{y}\" y2=\"{end}\"><title>checked {at}</title></line>"
    );
}

fn entry(svg: &mut String, at: Timestamp) {
    let (x, y) = place(at);
    let middle = y + CELL_HEIGHT - 8.0;
    let _ = writeln!(
        svg,
        "<circle class=\"entry\" cx=\"{x:.1}\" cy=\"{middle}\" r=\"3\"><title>published {at}</title></circle>"
    );
}

fn legend(svg: &mut String, busiest: f64) {
    let y = HEIGHT - 20.0;
    let mut x = LEFT;
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let place = format!("x=\"{x}\" y=\"{}\" width=\"22\" height=\"12\"", y - 10.0);
        let _ = write!(
            svg,
            "<rect class=\"cell\" {place}/><rect class=\"heat\" fill-opacity=\"{share}\" {place}/>"
        );
        x += 22.0;
    }
    let (bar, disc) = (LEFT + 350.0, LEFT + 450.0);
    let _ = writeln!(
        svg,
        "<text class=\"faint\" x=\"{}\" y=\"{y}\">0 to {} entries an hour, UTC</text>\n\
         <line class=\"check\" x1=\"{bar}\" x2=\"{bar}\" y1=\"{}\" y2=\"{}\"/>\
         <text class=\"faint\" x=\"{}\" y=\"{y}\">checked</text>\n\
         <circle class=\"entry\" cx=\"{disc}\" cy=\"{}\" r=\"3\"/>\
         <text class=\"faint\" x=\"{}\" y=\"{y}\">published</text>",
        x + 8.0,
        Amount(busiest),
        y - 9.0,
        y,
        bar + 8.0,
        y - 4.0,
        disc + 8.0
    );
}

fn summary(expected: &[f64; HOURS]) -> String {
    let total: f64 = expected.iter().sum();
    if total <= 0.0 {
        return "nothing is known of its week yet".to_owned();
    }
    let busiest = expected.iter().copied().fold(0.0, f64::max);
    let hour = expected.iter().position(|expected| *expected >= busiest);
    let hour = hour.unwrap_or(0);
    format!(
        "about {} entries a week expected, most on {} at {:02}:00 UTC",
        Amount(total),
        DAYS[hour / 24],
        hour % 24
    )
}

/// The numbers for who cannot see the picture: every day with the hours that stand out.
fn table(expected: &[f64; HOURS], busiest: f64) -> String {
    let (days, _) = expected.as_chunks::<24>();
    let rows = DAYS.iter().zip(days).map(|(day, hours)| {
        let total: f64 = hours.iter().sum();
        let told = hours.iter().enumerate();
        let told = told.filter(|(_, expected)| **expected > busiest * TOLD_SHARE);
        let told: Vec<String> = told
            .map(|(hour, expected)| format!("{hour:02}:00 {}", Amount(*expected)))
            .collect();
        let separator = if told.is_empty() { "" } else { ": " };
        format!(
            "{day} {} entries{separator}{}.",
            Amount(total),
            told.join(", ")
        )
    });
    let rows: Vec<String> = rows.collect();
    format!("Entries expected, in UTC.\n{}", rows.join("\n"))
}

/// A number with as many digits as can be believed.
struct Amount(f64);

impl std::fmt::Display for Amount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            n if n >= 9.95 => write!(f, "{n:.0}"),
            n if n >= 0.995 => write!(f, "{n:.1}"),
            n if n >= 0.099_5 => write!(f, "{n:.2}"),
            n if n >= 0.000_5 => write!(f, "{n:.3}"),
            n if n > 0.0 => f.write_str("below 0.001"),
            _ => f.write_str("0"),
        }
    }
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
