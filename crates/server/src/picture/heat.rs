//! The learned week of a source as a figure on a page, in the reader's language and zone.
//!
//! Expectations are stored by UTC hour. For another zone they are shifted by its current offset; if
//! that is not a whole number of hours, an hour takes its share of both hours it overlaps. Marks
//! are at their own local time, so marks from before a clock change are an hour off the
//! expectations.

use super::hours::{Hours, WIDTH, believable, day};
use super::prelude::*;
use super::week::HOURS;

const TOP: f64 = 26.0;
const HOUR: i32 = 3_600;

/// The learned week of a source.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heat<'a> {
    /// Entries expected in each hour, from Monday 00:00 UTC.
    pub(crate) expected: &'a [f64; HOURS],
    /// When it was checked.
    pub(crate) checks: &'a [Timestamp],
    /// Publication times of its entries.
    pub(crate) entries: &'a [Timestamp],
    /// Determines the offset of the zone from UTC.
    pub(crate) now: Timestamp,
}

pub(crate) fn draw(heat: &Heat<'_>, frame: &Frame<'_>) -> Markup {
    let ahead = frame.zone.to_offset(heat.now).seconds();
    let expected = local(&heat.expected.map(believable), ahead);
    let hours = Hours {
        expected: &expected,
        checks: heat.checks,
        entries: heat.entries,
        lang: frame.lang,
        zone: frame.zone,
        top: TOP,
    };
    let size = [WIDTH, hours.height()];
    let (lang, zone) = (frame.lang, clock::zone_name(frame.zone));
    let columns = [
        lang.pick("Day", "星期").to_owned(),
        lang.pick("Entries expected", "预计条数").to_owned(),
        say!(lang, "Busiest hours ({zone})", "最忙的时段（{zone}）"),
    ];
    let row = |number| {
        [
            Cell::from(day(number, lang)),
            hours.of_day(number).into(),
            hours.stand_out(number).into(),
        ]
    };
    Figure::new(frame, hours.summary())
        .wide("wide week", size, Marks::Plain, &hours.draw())
        .table_under(&columns, (0..7).map(row))
        .render()
}

/// Shifts UTC hours to a zone that is `ahead` seconds ahead.
fn local(expected: &[f64; HOURS], ahead: i32) -> [f64; HOURS] {
    let (whole, part) = (ahead.div_euclid(HOUR), ahead.rem_euclid(HOUR));
    let share = f64::from(part) / f64::from(HOUR);
    let back = usize::try_from(whole.rem_euclid(7 * 24)).unwrap_or(0);
    std::array::from_fn(|hour| {
        let later = expected[(hour + HOURS - back) % HOURS];
        let earlier = expected[(hour + HOURS - back - 1) % HOURS];
        later * (1.0 - share) + earlier * share
    })
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;
    use almanack_core::lang::Lang;

    fn one(hour: usize) -> [f64; HOURS] {
        std::array::from_fn(|n| if n == hour { 1.0 } else { 0.0 })
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn beliefs_move_with_the_zone() {
        for (why, hour, ahead, expected) in [
            ("UTC", 9, 0, &[(9, 1.0)][..]),
            ("Berlin", 9, 3_600, &[(10, 1.0)]),
            ("New York", 2, -5 * 3_600, &[(HOURS - 3, 1.0)]),
            ("Kolkata", 9, 19_800, &[(14, 0.5), (15, 0.5)]),
            (
                "Kathmandu, over the end of the week",
                HOURS - 6,
                20_700,
                &[(HOURS - 1, 0.25), (0, 0.75)],
            ),
        ] {
            let moved = local(&one(hour), ahead);
            assert!(close(moved.iter().sum(), 1.0), "{why}");
            for (hour, share) in expected {
                assert!(
                    close(moved[*hour], *share),
                    "{why}: {hour} has {}",
                    moved[*hour]
                );
            }
        }
    }

    #[test]
    fn a_week_is_described_in_the_readers_language_and_zone() {
        let zone = TimeZone::get("Asia/Shanghai").unwrap();
        let frame = Frame {
            id: "h",
            caption: "一周",
            lang: Lang::Chinese,
            zone: &zone,
        };
        let now: Timestamp = "2026-01-05T09:30:00Z".parse().unwrap();
        let html = draw(
            &Heat {
                expected: &one(1),
                checks: &[now],
                entries: &[],
                now,
            },
            &frame,
        )
        .into_string();
        for text in [
            "预计每周约 1.0 条，星期一 09:00（Asia/Shanghai）最多",
            "检查于 1月5日 17:30",
            "<th scope=\"row\">星期一</th><td>1.0</td><td>09:00 1.0</td>",
        ] {
            assert!(html.contains(text), "{text}: {html}");
        }
        assert!(
            !html.contains("<style"),
            "the page's own style sheet has it"
        );
    }
}
