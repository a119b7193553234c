//! The hours of a week: a row for each day, a column for each hour.
//!
//! The darker an hour, the more entries are expected; bars are checks, discs are entries. One
//! drawing serves the separate file ([`week`](super::week)) and the figure on a page
//! ([`heat`](super::heat)).

use std::borrow::Cow;

use super::prelude::*;
use super::week::HOURS;

/// Most marks of a kind; more would hide the hours behind them.
pub(super) const MARKS_MAX: usize = 500;
/// An hour is listed in words if its expectation is at least this share of the busiest.
const NOTABLE_SHARE: f64 = 0.1;

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
    /// When it was checked.
    pub(super) checks: &'a [Timestamp],
    /// Publication times of its entries.
    pub(super) entries: &'a [Timestamp],
    pub(super) lang: Lang,
    /// The zone of the hours.
    pub(super) zone: &'a TimeZone,
    /// Top of the first day, below the header.
    pub(super) top: f64,
}

/// A damaged history may contain any number; a picture shows finite ones.
pub(super) fn believable(expected: f64) -> f64 {
    finite(expected).max(0.0)
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
    pub(super) fn draw(&self) -> Markup {
        html! {
            (self.axes())
            @for (hour, expected) in self.expected.iter().enumerate() { (self.cell(hour, *expected)) }
            @for at in newest(self.checks) { (self.check(at)) }
            @for at in newest(self.entries) { (self.entry(at)) }
            (self.legend())
        }
    }

    /// Left edge and top of an hour of the week.
    fn corner(&self, hour: usize) -> [f64; 2] {
        let x = LEFT + real(hour % 24) * CELL_WIDTH;
        [x, self.top + real(hour / 24) * CELL_HEIGHT]
    }

    fn axes(&self) -> Markup {
        html! {
            @for hour in (0..24).step_by(3) {
                (text("faint", [self.corner(hour)[0], self.top - 8.0], format!("{hour:02}:00")))
            }
            @for number in 0..7 {
                @let [_, y] = self.corner(number * 24);
                (text("faint", [EDGE, y + CELL_HEIGHT / 2.0 + 4.0], day_short(number, self.lang)))
            }
        }
    }

    fn cell(&self, hour: usize, expected: f64) -> Markup {
        let place = self.corner(hour);
        let size = [CELL_WIDTH - 2.0, CELL_HEIGHT - 2.0];
        let (day, hour) = (day(hour / 24, self.lang), hour % 24);
        let amount = amount(expected, self.lang);
        let title = say!(self.lang; "{day} {hour:02}:00: {amount} entries",
            "{day} {hour:02}:00：{amount} 条");
        let busiest = self.busiest();
        let share = if busiest > 0.0 {
            expected / busiest
        } else {
            0.0
        };
        titled(
            title,
            html! {
                (rounded("cell", place, size, 3.0))
                @if share >= 0.005 { (shade(share, &rounded("heat", place, size, 3.0))) }
            },
        )
    }

    /// The position of an instant: the left edge of its minute, and the top of its day.
    fn place(&self, at: Timestamp) -> [f64; 2] {
        let civil = self.zone.to_datetime(at);
        let day = usize::try_from(civil.weekday().to_monday_zero_offset()).unwrap_or(0);
        let hour = usize::try_from(civil.hour()).unwrap_or(0);
        let [x, y] = self.corner(day * 24 + hour);
        let minute = f64::from(civil.minute()) / 60.0;
        [x + minute * (CELL_WIDTH - 2.0), y]
    }

    fn check(&self, at: Timestamp) -> Markup {
        let ([x, y], title) = (self.place(at), self.moment(at));
        titled(
            say!(self.lang, "checked {title}", "检查于 {title}"),
            down("check", x, y, y + 9.0),
        )
    }

    fn entry(&self, at: Timestamp) -> Markup {
        let ([x, y], title) = (self.place(at), self.moment(at));
        let title = say!(self.lang, "published {title}", "发布于 {title}");
        titled(title, disc("entry", [x, y + CELL_HEIGHT - 8.0], 3.0))
    }

    /// The separate file writes instants as the API does.
    fn moment(&self, at: Timestamp) -> String {
        if *self.zone == TimeZone::UTC {
            return at.to_string();
        }
        clock::moment(at, self.zone, self.lang)
    }

    fn legend(&self) -> Markup {
        let (lang, y, size) = (self.lang, self.height() - 20.0, [22.0, 12.0]);
        let (most, zone) = (amount(self.busiest(), lang), clock::zone_name(self.zone));
        let scale = say!(lang; "0 to {most} entries an hour, {zone}",
            "每小时 0 至 {most} 条，{zone}");
        // Zones have long names; beyond them stand the two marks.
        let is_short = *self.zone == TimeZone::UTC;
        let bar = LEFT + if is_short { 350.0 } else { 460.0 };
        let disc_at = bar + 100.0;
        html! {
            @for step in 0..5 {
                @let place = [LEFT + real(step) * 22.0, y - 10.0];
                (rect("cell", place, size))
                (shade(real(step) / 4.0, &rect("heat", place, size)))
            }
            (text("faint", [LEFT + 118.0, y], scale))
            (down("check", bar, y - 9.0, y))
            (text("faint", [bar + 8.0, y], lang.pick("checked", "检查")))
            (disc("entry", [disc_at, y - 4.0], 3.0))
            (text("faint", [disc_at + 8.0, y], lang.pick("published", "发布")))
        }
    }

    /// A description in one sentence.
    pub(super) fn summary(&self) -> String {
        let total: f64 = self.expected.iter().sum();
        if total <= 0.0 {
            let unknown = ("weekly rhythm not learned yet", "尚未学到每周规律");
            return self.lang.pick(unknown.0, unknown.1).to_owned();
        }
        let busiest = self.busiest();
        let hour = self
            .expected
            .iter()
            .position(|expected| *expected >= busiest);
        let hour = hour.unwrap_or(0);
        let (total, zone) = (amount(total, self.lang), clock::zone_name(self.zone));
        let (day, hour) = (day(hour / 24, self.lang), hour % 24);
        say!(self.lang; "expected: about {total} entries a week, most on {day} at {hour:02}:00 {zone}",
            "预计每周约 {total} 条，{day} {hour:02}:00（{zone}）最多")
    }

    /// The notable hours of a day, in words.
    pub(super) fn stand_out(&self, day: usize) -> String {
        let (days, _) = self.expected.as_chunks::<24>();
        let busiest = self.busiest();
        let hours = days.get(day).into_iter().flatten().enumerate();
        let title = hours.filter(|(_, expected)| **expected > busiest * NOTABLE_SHARE);
        let title: Vec<String> = title
            .map(|(hour, expected)| format!("{hour:02}:00 {}", amount(*expected, self.lang)))
            .collect();
        title.join(self.lang.pick(", ", "，"))
    }

    /// The expected total of a day.
    pub(super) fn of_day(&self, day: usize) -> String {
        let (days, _) = self.expected.as_chunks::<24>();
        amount(days.get(day).into_iter().flatten().sum(), self.lang)
    }
}

fn newest(times: &[Timestamp]) -> impl Iterator<Item = Timestamp> {
    times.iter().rev().take(MARKS_MAX).copied()
}

/// Fainter for a smaller share.
fn shade(share: f64, ink: &Markup) -> Markup {
    html! { g fill-opacity={ (format!("{share:.2}")) } { (ink) } }
}

/// Names of days, from Monday.
pub(super) fn day(number: usize, lang: Lang) -> &'static str {
    words! { lang, number;
        0 => "Monday", "星期一";
        1 => "Tuesday", "星期二";
        2 => "Wednesday", "星期三";
        3 => "Thursday", "星期四";
        4 => "Friday", "星期五";
        5 => "Saturday", "星期六";
        _ => "Sunday", "星期日";
    }
}

fn day_short(number: usize, lang: Lang) -> Cow<'static, str> {
    let day = day(number, lang);
    match lang {
        Lang::English => Cow::Borrowed(&day[..3]),
        Lang::Chinese => Cow::Owned(day.replace("星期", "周")),
    }
}

/// A number with as many digits as are significant.
fn amount(n: f64, lang: Lang) -> String {
    match n {
        n if n >= 9.95 => format!("{n:.0}"),
        n if n >= 0.995 => format!("{n:.1}"),
        n if n >= 0.099_5 => format!("{n:.2}"),
        n if n >= 0.000_5 => format!("{n:.3}"),
        n if n > 0.0 => lang.pick("below 0.001", "不足 0.001").to_owned(),
        _ => "0".to_owned(),
    }
}
