//! The timeline as a picture: one row per schedule, one mark per slot or skipped range.
//!
//! A mark shows its verdict by shape as well as by colour: a disc fired, a diamond was caught up, a
//! bar was skipped. Overlapping marks are drawn once. The picture follows the reader's light or
//! dark scheme, and describes itself in words.

use almanack_core::plan::{Slot, Verdict};
use almanack_engine::simulation::{Part, Simulation};
use almanack_server::picture::svg::{self, File, disc, down, fit, path, real, rect, text, titled};
use jiff::Timestamp;
use maud::{Markup, html};

const WIDTH: f64 = 960.0;
const NAMES: f64 = 180.0;
const ROW: f64 = 26.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 52.0;
const EDGE: f64 = 24.0;
/// Longest name that fits its column.
const NAME_COLUMNS: usize = 24;
/// From its upper corner.
const DIAMOND: &str = "l5.5 5.5l-5.5 5.5l-5.5 -5.5z";

const STYLE: &str = "\
.line{stroke:#dfe3ea}.away{fill:#8a93a2;opacity:.16}\
.fired{fill:#1f6feb}.caught_up{fill:#9a5b00}.skipped{fill:#b3261e}\
@media(prefers-color-scheme:dark){\
.line{stroke:#2b323d}.fired{fill:#6ea8fe}.caught_up{fill:#e3a948}.skipped{fill:#ff8a80}}";

pub(super) fn draw(parts: &[Part], simulation: &Simulation) -> String {
    let scale = Scale::of(simulation);
    let foot = TOP + real(parts.len()) * ROW;
    let height = foot + BOTTOM;
    let title = title(parts, simulation);
    let file = File {
        title: &title,
        description: "",
        size: [WIDTH, height],
        style: &format!("{}{STYLE}", svg::FILE_STYLE),
    };
    file.write(html! {
        (text("title", [EDGE, 30.0], &title))
        @for (from, until) in &simulation.outages { (scale.away((*from, *until), foot)) }
        (scale.axis(foot))
        @for (number, part) in parts.iter().enumerate() {
            (scale.part(part, TOP + real(number) * ROW))
        }
        (legend(height - 18.0))
    })
}

fn title(parts: &[Part], simulation: &Simulation) -> String {
    let clock = |at: Timestamp| at.strftime("%F %H:%M").to_string();
    let schedules = match parts.len() {
        1 => "1 schedule".to_owned(),
        many => format!("{many} schedules"),
    };
    format!(
        "{schedules}, {} to {} UTC",
        clock(simulation.from),
        clock(simulation.until)
    )
}

/// From instants to places.
struct Scale {
    from: Timestamp,
    until: Timestamp,
    seconds: f64,
}

impl Scale {
    fn of(simulation: &Simulation) -> Self {
        let length = simulation.until.duration_since(simulation.from);
        Self {
            from: simulation.from,
            until: simulation.until,
            seconds: length.as_secs_f64().max(1.0),
        }
    }

    fn x(&self, at: Timestamp) -> f64 {
        let at = at.clamp(self.from, self.until);
        let share = at.duration_since(self.from).as_secs_f64() / self.seconds;
        NAMES + EDGE + share * (WIDTH - NAMES - 2.0 * EDGE)
    }

    fn away(&self, (from, until): (Timestamp, Timestamp), foot: f64) -> Markup {
        let (left, right) = (self.x(from), self.x(until));
        let title = format!("no node from {from} to {until}");
        html! {
            @if right > left {
                (titled(title, rect("away", [left, TOP], [right - left, foot - TOP])))
            }
        }
    }

    /// Lines at round times, at most a dozen.
    fn axis(&self, foot: f64) -> Markup {
        let steps = [1_i64, 2, 3, 6, 12, 24, 48, 168, 720];
        let hours = self.seconds / 3_600.0;
        let fits = |step: &&i64| hours / real(**step) <= 12.5;
        let step = steps.iter().find(fits).copied().unwrap_or(8_760) * 3_600;
        let first = (self.from.as_second() + step - 1).div_euclid(step) * step;
        let pattern = if step < 86_400 { "%H:%M" } else { "%d %b" };
        let times = (0..).map_while(|number| Timestamp::from_second(first + number * step).ok());
        html! {
            @for at in times.take_while(|at| *at <= self.until) {
                @let x = self.x(at);
                (down("line", x, TOP - 4.0, foot))
                (text("faint middle", [x, TOP - 10.0], at.strftime(pattern).to_string()))
            }
        }
    }

    fn part(&self, part: &Part, top: f64) -> Markup {
        let middle = top + ROW / 2.0;
        let name = part.name.as_str();
        let fired = part
            .rows
            .iter()
            .filter(|row| row.verdict.is_fired())
            .count();
        let slots: u64 = part.rows.iter().map(|row| row.slots).sum();
        let mut last: Option<(f64, Verdict)> = None;
        let marks = part.rows.iter().filter(|row| {
            // What would lie on top of the last mark is that mark.
            let here = Some(((self.x(row.last_at) * 0.5).round(), row.verdict));
            std::mem::replace(&mut last, here) != here || row.slots > 1
        });
        let title = format!("{name}: {fired} of {slots} slots fired");
        titled(
            title,
            html! {
                (text("", [EDGE, middle + 4.0], fit(name, NAME_COLUMNS)))
                @for row in marks { (self.mark(row, middle)) }
            },
        )
    }

    fn mark(&self, row: &Slot, y: f64) -> Markup {
        let (left, right) = (self.x(row.slot_at), self.x(row.last_at));
        let (slots, at, verdict) = (row.slots, row.slot_at, row.verdict.as_str());
        match row.verdict {
            Verdict::Fired | Verdict::Pinged => disc("fired", [left, y], 3.5),
            Verdict::CaughtUp => titled(
                format!("{at} caught up"),
                path("caught_up", [left, y - 5.5], DIAMOND),
            ),
            Verdict::Skipped(_) => titled(
                format!("{slots} slots from {at}: {verdict}"),
                rect("skipped", [left - 1.5, y - 3.0], [right - left + 3.0, 6.0]),
            ),
        }
    }
}

fn legend(y: f64) -> Markup {
    let middle = y - 4.0;
    html! {
        g aria-hidden="true" {
            (disc("fired", [30.0, middle], 3.5))
            (text("faint", [40.0, y], "fired"))
            (path("caught_up", [94.0, middle - 5.5], DIAMOND))
            (text("faint", [106.0, y], "caught up"))
            (rect("skipped", [182.0, middle - 3.0], [14.0, 6.0]))
            (text("faint", [204.0, y], "skipped"))
            (rect("away", [272.0, middle - 6.0], [14.0, 12.0]))
            (text("faint", [294.0, y], "no node"))
        }
    }
}
