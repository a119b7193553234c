//! Times for people: in their zone, with its name, and the distance from now.
//!
//! The distance is rendered for readers without the script; with it, the script keeps it current,
//! and live pages omit it ([`Viewer::live`]): a change of the clock alone is no change.

use crate::ui::prelude::*;

impl Viewer {
    /// An instant: `15 Nov 18:22:05 CET`, and its distance.
    pub(crate) fn at(&self, at: Timestamp) -> Markup {
        html! { (self.instant(at)) " " (self.distance(at)) }
    }

    /// An instant that may be unknown.
    pub(crate) fn at_or_dash(&self, at: Option<Timestamp>) -> Markup {
        or_dash(at.map(|at| self.at(at)))
    }

    /// An instant in the reader's zone, without the distance.
    pub(crate) fn instant(&self, at: Timestamp) -> Markup {
        in_zone(at, &self.zone, self.now, self.lang)
    }

    /// An instant in another zone, such as a schedule's.
    pub(crate) fn instant_in(&self, at: Timestamp, zone: &TimeZone) -> Markup {
        in_zone(at, zone, self.now, self.lang)
    }

    /// The distance of an instant, kept current by the script.
    pub(crate) fn distance(&self, at: Timestamp) -> Markup {
        let words = distance(self.lang, at.duration_since(self.now));
        html! {
            span class="distance" data-at=(at.as_millisecond()) {
                @if !self.live { (words) }
            }
        }
    }
}

fn in_zone(at: Timestamp, zone: &TimeZone, now: Timestamp, lang: Lang) -> Markup {
    let zoned = at.to_zoned(zone.clone());
    let same_year = zoned.year() == now.to_zoned(zone.clone()).year();
    let format = match (lang, same_year) {
        (Lang::English, true) => "%-d %b %H:%M:%S %Z",
        (Lang::English, false) => "%-d %b %Y %H:%M:%S %Z",
        (Lang::Chinese, true) => "%-m月%-d日 %H:%M:%S %Z",
        (Lang::Chinese, false) => "%Y年%-m月%-d日 %H:%M:%S %Z",
    };
    let full = zoned.strftime("%Y-%m-%dT%H:%M:%S%:z %Q").to_string();
    html! {
        time datetime=(at) title=(full) { (zoned.strftime(format)) }
    }
}

/// A distance: `in 5 min`, `3 h ago`.
pub(crate) fn distance(lang: Lang, away: SignedDuration) -> String {
    if away.unsigned_abs().as_secs() == 0 {
        return lang.pick("now", "现在").to_owned();
    }
    let length = length(lang, away.abs());
    if away.is_negative() {
        say!(lang, "{length} ago", "{length}前")
    } else {
        say!(lang, "in {length}", "{length}后")
    }
}

/// A duration in its largest unit, with one decimal where useful.
pub(crate) fn length(lang: Lang, length: SignedDuration) -> String {
    let seconds = length.abs().as_secs_f64();
    let (count, unit) = match seconds {
        s if s < 1.0 => (s * 1000.0, lang.pick(" ms", "毫秒")),
        s if s < 60.0 => (s, lang.pick(" s", "秒")),
        s if s < 3_600.0 => (s / 60.0, lang.pick(" min", "分钟")),
        s if s < 172_800.0 => (s / 3_600.0, lang.pick(" h", "小时")),
        s => (s / 86_400.0, lang.pick(" days", "天")),
    };
    let whole = count >= 10.0 || (count - count.round()).abs() < 0.05 || seconds < 1.0;
    let count = if whole {
        format!("{count:.0}")
    } else {
        format!("{count:.1}")
    };
    format!("{count}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_written_in_their_largest_unit() {
        for (ms, english, chinese) in [
            (0, "now", "现在"),
            (400, "now", "现在"),
            (5_000, "in 5 s", "5秒后"),
            (-90_000, "1.5 min ago", "1.5分钟前"),
            (-3_600_000 * 3, "3 h ago", "3小时前"),
            (86_400_000 * 9, "in 9 days", "9天后"),
        ] {
            let away = SignedDuration::from_millis(ms);
            assert_eq!(distance(Lang::English, away), english);
            assert_eq!(distance(Lang::Chinese, away), chinese);
        }
    }
}
