//! The hours of a week on paper: a row for each day, a column for each hour.
//!
//! The darker an hour, the more entries are expected in it; bars stand for checks, discs for entries. One drawing serves the file
//! of its own ([`week`](super::week)) and the figure on a page ([`heat`](super::heat)), in the reader's language and zone.

use std::{borrow::Cow, fmt::Write};

use jiff::{Timestamp, tz::TimeZone};

use crate::{
    picture::{clock, week::HOURS},
    ui::lang::{Lang, say},
};

/// Most marks of a kind; more would hide the hours behind them.
pub(super) const MARKS_MAX: usize = 500;
/// An hour is told in words if this part of the busiest is expected in it.
const TOLD_SHARE: f64 = 0.1;

pub(super) const EDGE: f64 = 20.0;
const LEFT: f64 = 66.0;
const CELL_WIDTH: f64 = 30.0;
const CELL_HEIGHT: f64 = 26.0;
const BOTTOM: f64 = 52.0;
pub(super) const WIDTH: f64 = LEFT + 24.0 * CELL_WIDTH + EDGE;

/// A week on paper.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hours<'a> {
    /// Entries expected in each hour, from Monday 00:00 in the zone.
    pub(super) expected: &'a [f64; HOURS],
    /// When it was looked at.
    pub(super) checks: &'a [Timestamp],
    /// When entries of it were published.
    pub(super) entries: &'a [Timestamp],
    /// The reader's language.
    pub(super) lang: Lang,
    /// The zone of the hours.
    pub(super) zone: &'a TimeZone,
    /// Where the first day begins, below whatever stands above.
    pub(super) top: f64,
}

/// A damaged history may believe anything; a picture shows numbers.
pub(super) fn believable(expected: f64) -> f64 {
    if expected.is_finite() {
        expected.max(0.0)
    } else {
        0.0
    }
}

impl Hours<'_> {
    /// How high the drawing is.
    pub(super) fn height(&self) -> f64 {
        self.top + 7.0 * CELL_HEIGHT + BOTTOM
    }

    fn busiest(&self) -> f64 {
        self.expected.iter().copied().fold(0.0, f64::max)
    }

    /// The hours, the marks and what they mean, as SVG.
    pub(super) fn draw(&self, svg: &mut String) {
        self.axes(svg);
        for (hour, expected) in self.expected.iter().enumerate() {
            self.cell(svg, hour, *expected);
        }
        newest(self.checks).for_each(|at| self.check(svg, at));
        newest(self.entries).for_each(|at| self.entry(svg, at));
        self.legend(svg);
    }

    /// Left edge and top of an hour of the week.
    fn corner(&self, hour: usize) -> (f64, f64) {
        let place = |count: usize| u32::try_from(count).map_or(0.0, f64::from);
        let x = LEFT + place(hour % 24) * CELL_WIDTH;
        (x, self.top + place(hour / 24) * CELL_HEIGHT)
    }

    fn axes(&self, svg: &mut String) {
        for hour in (0..24).step_by(3) {
            let (x, _) = self.corner(hour);
            // Writing to a String cannot fail, here and below.
            let _ = writeln!(
                svg,
                "<text class=\"faint\" x=\"{x}\" y=\"{}\">{hour:02}:00</text>",
                self.top - 8.0
            );
        }
        for number in 0..7 {
            let (_, y) = self.corner(number * 24);
            let _ = writeln!(
                svg,
                "<text class=\"faint\" x=\"{EDGE}\" y=\"{}\">{}</text>",
                y + CELL_HEIGHT / 2.0 + 4.0,
                day_short(number, self.lang)
            );
        }
    }

    fn cell(&self, svg: &mut String, hour: usize, expected: f64) {
        let (x, y) = self.corner(hour);
        let (width, height) = (CELL_WIDTH - 2.0, CELL_HEIGHT - 2.0);
        let place = format!("x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"3\"");
        let (day, hour, amount) = (
            day(hour / 24, self.lang),
            hour % 24,
            amount(expected, self.lang),
        );
        let told = say!(
            self.lang,
            "{day} {hour:02}:00: {amount} entries",
            "{day} {hour:02}:00：{amount} 条"
        );
        let _ = write!(
            svg,
            "<g><title>{told}</title><rect class=\"cell\" {place}/>"
        );
        let busiest = self.busiest();
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
    fn place(&self, at: Timestamp) -> (f64, f64) {
        let civil = self.zone.to_datetime(at);
        let day = usize::try_from(civil.weekday().to_monday_zero_offset()).unwrap_or(0);
        let hour = usize::try_from(civil.hour()).unwrap_or(0);
        let (x, y) = self.corner(day * 24 + hour);
        let minute = f64::from(civil.minute()) / 60.0;
        (x + minute * (CELL_WIDTH - 2.0), y)
    }

    fn check(&self, svg: &mut String, at: Timestamp) {
        let (x, y) = self.place(at);
        let (end, told) = (y + 9.0, self.told(at));
        let told = say!(self.lang, "checked {told}", "检查于 {told}");
        let _ = writeln!(
            svg,
            "<line class=\"check\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{y}\" y2=\"{end}\"><title>{told}</title></line>"
        );
    }

    fn entry(&self, svg: &mut String, at: Timestamp) {
        let (x, y) = self.place(at);
        let (middle, told) = (y + CELL_HEIGHT - 8.0, self.told(at));
        let told = say!(self.lang, "published {told}", "发布于 {told}");
        let _ = writeln!(
            svg,
            "<circle class=\"entry\" cx=\"{x:.1}\" cy=\"{middle}\" r=\"3\"><title>{told}</title></circle>"
        );
    }

    /// The file of its own gives instants as the API does.
    fn told(&self, at: Timestamp) -> String {
        if *self.zone == TimeZone::UTC {
            return at.to_string();
        }
        clock::moment(at, self.zone, self.lang).into_owned()
    }

    fn legend(&self, svg: &mut String) {
        let y = self.height() - 20.0;
        let mut x = LEFT;
        for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
            let place = format!("x=\"{x}\" y=\"{}\" width=\"22\" height=\"12\"", y - 10.0);
            let _ = write!(
                svg,
                "<rect class=\"cell\" {place}/><rect class=\"heat\" fill-opacity=\"{share}\" {place}/>"
            );
            x += 22.0;
        }
        let (most, zone) = (
            amount(self.busiest(), self.lang),
            clock::zone_name(self.zone),
        );
        let scale = say!(
            self.lang,
            "0 to {most} entries an hour, {zone}",
            "每小时 0 至 {most} 条，{zone}"
        );
        // Zones have long names; beyond them stand the two marks.
        let bar = LEFT
            + if *self.zone == TimeZone::UTC {
                350.0
            } else {
                460.0
            };
        let disc = bar + 100.0;
        let (checked, published) = (
            self.lang.pick("checked", "检查"),
            self.lang.pick("published", "发布"),
        );
        let _ = writeln!(
            svg,
            "<text class=\"faint\" x=\"{}\" y=\"{y}\">{scale}</text>\n\
             <line class=\"check\" x1=\"{bar}\" x2=\"{bar}\" y1=\"{}\" y2=\"{}\"/>\
             <text class=\"faint\" x=\"{}\" y=\"{y}\">{checked}</text>\n\
             <circle class=\"entry\" cx=\"{disc}\" cy=\"{}\" r=\"3\"/>\
             <text class=\"faint\" x=\"{}\" y=\"{y}\">{published}</text>",
            x + 8.0,
            y - 9.0,
            y,
            bar + 8.0,
            y - 4.0,
            disc + 8.0
        );
    }

    /// What is to be seen, in a sentence.
    pub(super) fn summary(&self) -> Cow<'static, str> {
        let total: f64 = self.expected.iter().sum();
        if total <= 0.0 {
            return say!(
                self.lang,
                "nothing is known of its week yet",
                "对其一周规律尚无了解"
            );
        }
        let busiest = self.busiest();
        let hour = self
            .expected
            .iter()
            .position(|expected| *expected >= busiest);
        let hour = hour.unwrap_or(0);
        let (total, zone) = (amount(total, self.lang), clock::zone_name(self.zone));
        let (day, hour) = (day(hour / 24, self.lang), hour % 24);
        say!(
            self.lang,
            "about {total} entries a week expected, most on {day} at {hour:02}:00 {zone}",
            "预计每周约 {total} 条，{day} {hour:02}:00（{zone}）最多"
        )
    }

    /// The hours of a day that stand out, in words.
    pub(super) fn stand_out(&self, day: usize) -> String {
        let (days, _) = self.expected.as_chunks::<24>();
        let busiest = self.busiest();
        let hours = days.get(day).into_iter().flatten().enumerate();
        let told = hours.filter(|(_, expected)| **expected > busiest * TOLD_SHARE);
        let told: Vec<String> = told
            .map(|(hour, expected)| format!("{hour:02}:00 {}", amount(*expected, self.lang)))
            .collect();
        told.join(self.lang.pick(", ", "，"))
    }

    /// What is expected on a day in all.
    pub(super) fn of_day(&self, day: usize) -> Cow<'static, str> {
        let (days, _) = self.expected.as_chunks::<24>();
        amount(days.get(day).into_iter().flatten().sum(), self.lang)
    }
}

fn newest(times: &[Timestamp]) -> impl Iterator<Item = Timestamp> {
    times.iter().rev().take(MARKS_MAX).copied()
}

/// What a day is called, from Monday on.
pub(super) fn day(number: usize, lang: Lang) -> &'static str {
    match number {
        0 => lang.pick("Monday", "星期一"),
        1 => lang.pick("Tuesday", "星期二"),
        2 => lang.pick("Wednesday", "星期三"),
        3 => lang.pick("Thursday", "星期四"),
        4 => lang.pick("Friday", "星期五"),
        5 => lang.pick("Saturday", "星期六"),
        _ => lang.pick("Sunday", "星期日"),
    }
}

fn day_short(number: usize, lang: Lang) -> Cow<'static, str> {
    let day = day(number, lang);
    match lang {
        Lang::English => Cow::Borrowed(&day[..3]),
        Lang::Chinese => Cow::Owned(day.replace("星期", "周")),
    }
}

/// A number with as many digits as can be believed.
fn amount(n: f64, lang: Lang) -> Cow<'static, str> {
    match n {
        n if n >= 9.95 => format!("{n:.0}").into(),
        n if n >= 0.995 => format!("{n:.1}").into(),
        n if n >= 0.099_5 => format!("{n:.2}").into(),
        n if n >= 0.000_5 => format!("{n:.3}").into(),
        n if n > 0.0 => say!(lang, "below 0.001", "不足 0.001"),
        _ => "0".into(),
    }
}
