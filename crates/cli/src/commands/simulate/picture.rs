//! The timeline as a picture: one row per schedule, one mark per slot or skipped range.
//!
//! A mark tells its verdict by shape as well as by colour, so that it can be read without colours: a disc
//! fired, a diamond was caught up, a bar was skipped. Marks that would lie on top of each other are drawn
//! once. The picture follows the reader's light or dark scheme, and says in words what it shows.

use std::fmt::Write;

use almanack_core::plan::{Slot, Verdict};
use almanack_engine::rehearsal::{Part, Rehearsal};
use jiff::Timestamp;

const WIDTH: f64 = 960.0;
const NAMES: f64 = 180.0;
const ROW: f64 = 26.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 52.0;
const EDGE: f64 = 24.0;
/// Longest name that fits its column.
const NAME_CHARS: usize = 24;

const STYLE: &str = "\
  text{font:13px system-ui,sans-serif;fill:#1c2330}.faint{fill:#5c6675;font-size:12px}\
.title{font-size:16px;font-weight:600}.paper{fill:#fff}.line{stroke:#dfe3ea}.away{fill:#8a93a2;opacity:.16}\
.fired{fill:#1f6feb}.caught_up{fill:#9a5b00}.skipped{fill:#b3261e}\
@media(prefers-color-scheme:dark){text{fill:#e6e9ef}.faint{fill:#9aa4b2}.paper{fill:#12161d}\
.line{stroke:#2b323d}.fired{fill:#6ea8fe}.caught_up{fill:#e3a948}.skipped{fill:#ff8a80}}";

/// Draws a timeline.
pub(super) fn draw(parts: &[Part], rehearsal: &Rehearsal) -> String {
    let scale = Scale::of(rehearsal);
    let rows = u32::try_from(parts.len()).map_or(0.0, f64::from);
    let height = TOP + rows * ROW + BOTTOM;
    let mut svg = String::new();
    let title = title(parts, rehearsal);
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-labelledby=\"title\">\n<title id=\"title\">{title}</title>\n<style>\n{STYLE}\n</style>\n\
         <rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\" rx=\"8\"/>\n\
         <text class=\"title\" x=\"{EDGE}\" y=\"30\">{title}</text>"
    );
    let foot = TOP + rows * ROW;
    for (from, until) in &rehearsal.outages {
        scale.away(&mut svg, (*from, *until), foot);
    }
    scale.axis(&mut svg, foot);
    for (number, part) in (0_u32..).zip(parts) {
        scale.part(&mut svg, part, TOP + f64::from(number) * ROW);
    }
    legend(&mut svg, height - 18.0);
    svg.push_str("</svg>\n");
    svg
}

fn title(parts: &[Part], rehearsal: &Rehearsal) -> String {
    let clock = |at: Timestamp| at.strftime("%F %H:%M").to_string();
    let schedules = match parts.len() {
        1 => "1 schedule".to_owned(),
        many => format!("{many} schedules"),
    };
    format!(
        "{schedules}, {} to {} UTC",
        clock(rehearsal.from),
        clock(rehearsal.until)
    )
}

/// From instants to places.
struct Scale {
    from: Timestamp,
    until: Timestamp,
    seconds: f64,
}

impl Scale {
    fn of(rehearsal: &Rehearsal) -> Self {
        let length = rehearsal.until.duration_since(rehearsal.from);
        Self {
            from: rehearsal.from,
            until: rehearsal.until,
            seconds: length.as_secs_f64().max(1.0),
        }
    }

    fn x(&self, at: Timestamp) -> f64 {
        let at = at.clamp(self.from, self.until);
        let share = at.duration_since(self.from).as_secs_f64() / self.seconds;
        NAMES + EDGE + share * (WIDTH - NAMES - 2.0 * EDGE)
    }

    fn away(&self, svg: &mut String, (from, until): (Timestamp, Timestamp), foot: f64) {
        let (left, right) = (self.x(from), self.x(until));
        if right > left {
            let (width, height) = (right - left, foot - TOP);
            let _ = writeln!(
                svg,
                "<rect class=\"away\" x=\"{left:.1}\" y=\"{TOP}\" width=\"{width:.1}\" \
                 height=\"{height}\"><title>no node from {from} to {until}</title></rect>"
            );
        }
    }

    /// Whole hours, as many as are easy to read.
    fn axis(&self, svg: &mut String, foot: f64) {
        let steps = [1_i64, 2, 3, 6, 12, 24, 48, 168, 720];
        let hours = self.seconds / 3_600.0;
        let fits = |step: &&i64| i32::try_from(**step).is_ok_and(|s| hours / f64::from(s) <= 12.5);
        let step = steps.iter().find(fits).copied().unwrap_or(8_760) * 3_600;
        let mut second = (self.from.as_second() + step - 1).div_euclid(step) * step;
        while let Ok(at) = Timestamp::from_second(second)
            && at <= self.until
        {
            let x = self.x(at);
            let pattern = if step < 86_400 { "%H:%M" } else { "%d %b" };
            let label = at.strftime(pattern);
            let (top, label_y) = (TOP - 4.0, TOP - 10.0);
            let _ = writeln!(
                svg,
                "<line class=\"line\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{top}\" y2=\"{foot}\"/>\
                 <text class=\"faint\" x=\"{x:.1}\" y=\"{label_y}\" text-anchor=\"middle\">{label}</text>"
            );
            second += step;
        }
    }

    fn part(&self, svg: &mut String, part: &Part, top: f64) {
        let middle = top + ROW / 2.0;
        let baseline = middle + 4.0;
        let name = part.name.as_str();
        let shown: String = if name.chars().count() > NAME_CHARS {
            name.chars().take(NAME_CHARS - 1).chain(['…']).collect()
        } else {
            name.to_owned()
        };
        let fired = part
            .rows
            .iter()
            .filter(|row| row.verdict.is_fired())
            .count();
        let slots: u64 = part.rows.iter().map(|row| row.slots).sum();
        let _ = writeln!(
            svg,
            "<g><title>{name}: {fired} of {slots} slots fired</title>\
             <text x=\"{EDGE}\" y=\"{baseline}\">{shown}</text>"
        );
        let mut last: Option<(i64, Verdict)> = None;
        for row in &part.rows {
            // In tenths of a picture's unit: what would lie on top of the last mark is that mark.
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a place in a picture is small"
            )]
            let place = (self.x(row.last_at) * 0.5).round() as i64;
            if last != Some((place, row.verdict)) || row.slots > 1 {
                self.mark(svg, row, middle);
            }
            last = Some((place, row.verdict));
        }
        svg.push_str("</g>\n");
    }

    fn mark(&self, svg: &mut String, row: &Slot, y: f64) {
        let (left, right) = (self.x(row.slot_at), self.x(row.last_at));
        let verdict = row.verdict.as_str();
        let _ = match row.verdict {
            Verdict::Fired => writeln!(
                svg,
                "<circle class=\"fired\" cx=\"{left:.1}\" cy=\"{y}\" r=\"3.5\"/>"
            ),
            Verdict::CaughtUp => writeln!(
                svg,
                "<path class=\"caught_up\" d=\"M{left:.1} {}l5.5 5.5l-5.5 5.5l-5.5 -5.5z\">\
                 <title>{} caught up</title></path>",
                y - 5.5,
                row.slot_at
            ),
            Verdict::Skipped(_) => writeln!(
                svg,
                "<rect class=\"skipped\" x=\"{:.1}\" y=\"{}\" width=\"{:.1}\" height=\"6\">\
                 <title>{} slots from {}: {verdict}</title></rect>",
                left - 1.5,
                y - 3.0,
                right - left + 3.0,
                row.slots,
                row.slot_at
            ),
        };
    }
}

fn legend(svg: &mut String, y: f64) {
    let middle = y - 4.0;
    let _ = writeln!(
        svg,
        "<g aria-hidden=\"true\"><circle class=\"fired\" cx=\"30\" cy=\"{middle}\" r=\"3.5\"/>\
         <text class=\"faint\" x=\"40\" y=\"{y}\">fired</text>\
         <path class=\"caught_up\" d=\"M94 {}l5.5 5.5l-5.5 5.5l-5.5 -5.5z\"/>\
         <text class=\"faint\" x=\"106\" y=\"{y}\">caught up</text>\
         <rect class=\"skipped\" x=\"182\" y=\"{}\" width=\"14\" height=\"6\"/>\
         <text class=\"faint\" x=\"204\" y=\"{y}\">skipped</text>\
         <rect class=\"away\" x=\"272\" y=\"{}\" width=\"14\" height=\"12\"/>\
         <text class=\"faint\" x=\"294\" y=\"{y}\">no node</text></g>",
        middle - 5.5,
        middle - 3.0,
        middle - 6.0
    );
}
