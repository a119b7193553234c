//! The fleet: which feeds exist, their hosts and their properties.
//!
//! Nothing is stored. A feed is drawn from the fleet's seed and its number when it is requested, so
//! a hundred thousand of them cost nothing until then.

use std::{ops::Range, sync::LazyLock};

use encoding_rs::Encoding;
use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use serde::Serialize;

use super::{
    document::Document,
    fault::{Fault, Rule, When},
    feed::{Declared, Feed, Hints, Ids},
    host,
    language::Language,
    rhythm::{Days, Habit, Hours, Rhythm},
};
use crate::chance::Chance;

/// Default reference time of all feeds: 2026-01-01, UTC.
const EPOCH_S: i64 = 1_767_225_600;
/// Separates draws of faults from draws of feeds.
const TROUBLE: u64 = 0x0066_6174_6500;

/// Zones and languages; a zone listed twice has twice as many feeds.
const PLACES: &[(&str, Language)] = &[
    ("Asia/Shanghai", Language::Chinese),
    ("Asia/Shanghai", Language::Chinese),
    ("Asia/Tokyo", Language::Japanese),
    ("Asia/Singapore", Language::English),
    ("Asia/Kolkata", Language::English),
    ("Europe/London", Language::English),
    ("Europe/Berlin", Language::German),
    ("Europe/Berlin", Language::English),
    ("Europe/Moscow", Language::Russian),
    ("America/New_York", Language::English),
    ("America/New_York", Language::English),
    ("America/Los_Angeles", Language::English),
    ("America/Sao_Paulo", Language::English),
    ("Pacific/Auckland", Language::English),
    ("UTC", Language::English),
];

/// In the order of [`PLACES`]; reading a zone is worth doing once.
static ZONES: LazyLock<Vec<TimeZone>> = LazyLock::new(|| {
    let zone = |(name, _): &(&str, Language)| TimeZone::get(name).unwrap_or(TimeZone::UTC);
    PLACES.iter().map(zone).collect()
});

#[derive(Debug, Clone, Serialize)]
pub struct Fleet {
    /// Seed of everything drawn.
    pub seed: u64,
    /// How many feeds there are, numbered from 0.
    pub feeds: u32,
    /// How many share a host.
    pub feeds_per_host: u32,
    /// Reference time: feeds started years before, dead ones ended before.
    pub epoch: Timestamp,
}

impl Fleet {
    /// A fleet without misbehaviour, four feeds to a host.
    pub fn new(seed: u64, feeds: u32) -> Self {
        Self {
            seed,
            feeds,
            feeds_per_host: 4,
            epoch: Timestamp::from_second(EPOCH_S).unwrap_or(Timestamp::UNIX_EPOCH),
        }
    }

    /// How many hosts there are.
    pub fn hosts(&self) -> u32 {
        self.feeds.div_ceil(self.feeds_per_host.max(1))
    }

    /// The host of a feed.
    pub fn host_of(&self, number: u32) -> u32 {
        number / self.feeds_per_host.max(1)
    }

    /// The feeds of a host.
    pub fn feeds_on(&self, host: u32) -> Range<u32> {
        let each = self.feeds_per_host.max(1);
        let first = host.saturating_mul(each).min(self.feeds);
        first..first.saturating_add(each).min(self.feeds)
    }

    /// The base address of a feed's host.
    pub fn base_url(&self, number: u32, port: u16) -> String {
        let address = host::address(self.host_of(number));
        let address = address.unwrap_or(std::net::Ipv4Addr::LOCALHOST);
        format!("http://{address}:{port}")
    }

    /// The address of a feed's document, as a subscriber knows it. A pure function, so that another
    /// process that knows seed and port knows all addresses.
    pub fn feed_url(&self, number: u32, port: u16) -> String {
        let file = self.document_of(number).file_name();
        format!("{}/feeds/{number}/{file}", self.base_url(number, port))
    }

    /// What a feed's address serves.
    pub fn document_of(&self, number: u32) -> Document {
        let drawn = Chance::of(self.seed, &[u64::from(number), 1]).below(100);
        match drawn {
            0..55 => Document::Rss2,
            55..75 => Document::Atom,
            75..82 => Document::JsonFeed,
            82..87 => Document::Rss1,
            87..89 => Document::Rss091,
            89..93 => Document::Page,
            93..97 => Document::Api,
            _ => Document::Sitemap,
        }
    }

    /// A feed, or none where the number is too large.
    pub fn feed(&self, number: u32) -> Option<Feed> {
        if number >= self.feeds {
            return None;
        }
        let mut chance = Chance::of(self.seed, &[u64::from(number)]);
        let place = usize::try_from(chance.below(PLACES.len() as u64)).unwrap_or(0);
        let (_, language) = PLACES.get(place).copied()?;
        let habit = self.habit(&mut chance, ZONES.get(place)?.clone());
        let (charset, declared) = charset(&mut chance, language);
        Some(Feed {
            number,
            host: self.host_of(number),
            document: self.document_of(number),
            language,
            charset,
            declared,
            shown: chance.pick(&[10, 15, 20, 30, 30, 50]).copied()?,
            hints: hints(&mut chance, &habit, self.epoch),
            etag: chance.happens(800),
            last_modified: chance.happens(700),
            gzip: chance.happens(800),
            brotli: chance.happens(300),
            ids: ids(&mut chance),
            trackers: chance.happens(150),
            habit,
        })
    }

    /// Faults as in a long list of real subscriptions, per thousand hosts and feeds.
    pub fn usual_faults(&self) -> Vec<Rule> {
        let on_host = (0..self.hosts()).filter_map(|host| {
            let mut chance = Chance::of(self.seed, &[TROUBLE, u64::from(host)]);
            let percent = |percent| When::Percent {
                percent,
                seed: u64::from(host),
            };
            let (when, fault) = match chance.below(1000) {
                0..30 => {
                    let wait_ms = 200 + chance.below(2800);
                    (When::Always, Fault::Slow { wait_ms })
                }
                30..70 => (percent(5), Fault::Status(503)),
                70..90 => {
                    let limited = Fault::Limited {
                        status: 429,
                        retry_after_s: 60 * chance.between(1, 60),
                        as_date: chance.happens(300),
                    };
                    (percent(20), limited)
                }
                90..95 => (When::Always, Fault::Hang),
                _ => return None,
            };
            Some(Rule::host(host, when, fault))
        });
        let on_feed = (0..self.feeds).filter_map(|number| {
            let mut chance = Chance::of(self.seed, &[TROUBLE, u64::from(number), 1]);
            let fault = match chance.below(1000) {
                0..10 => Fault::moved(301),
                10..25 => Fault::Status(404),
                25..30 => Fault::Status(403),
                30..35 => Fault::Serve("login.html".to_owned()),
                35..45 => Fault::Status(410),
                _ => return None,
            };
            Some(Rule::feed(number, When::Always, fault))
        });
        on_host.chain(on_feed).collect()
    }

    fn habit(&self, chance: &mut Chance, zone: TimeZone) -> Habit {
        let day = |days: i64| SignedDuration::from_hours(24 * days);
        let rhythm = rhythm(chance);
        let first_at = self.epoch - day(chance.between(800, 2000));
        let dead = chance.happens(60);
        let stopped_at = self.epoch - day(chance.between(10, 700));
        Habit {
            seed: chance.next_u64(),
            rhythm,
            zone,
            round_s: chance.pick(&[1, 1, 60, 300]).copied().unwrap_or(1),
            first_at,
            last_at: dead.then_some(stopped_at),
        }
    }
}

/// Many slow ones, few fast ones, as in any long list of subscriptions.
fn rhythm(chance: &mut Chance) -> Rhythm {
    let (minute, spread) = (chance.between(6 * 60, 23 * 60), chance.between(2, 45));
    let opens = 15 * chance.between(24, 38);
    let per_day = chance.between(20, 150);
    let day = i8::try_from(chance.between(1, 28)).unwrap_or(1);
    let (usual, one) = (960, (1, 1));
    let few = 150 + chance.below(500);
    let bursts = 30 + chance.below(200);
    let burst = (3, chance.between(4, 20));
    let morning = Hours::Between(opens, opens + 3 * 60);
    let about = Hours::About(minute, spread);
    let weekly = Days::Weekly(chance.between(0, 6));
    let waking = Hours::Between(8 * 60, 22 * 60);
    let (name, days, permille, entries, hours) = match chance.below(100) {
        0..12 => (
            "news",
            Days::Every,
            1000,
            (per_day * 4 / 5, per_day * 6 / 5),
            Hours::EditionHarness,
        ),
        12..27 => ("weekday_mornings", Days::Working, usual, (1, 3), morning),
        27..45 => ("daily", Days::Every, usual, one, about),
        45..63 => ("few_a_week", Days::Every, few, one, waking),
        63..79 => ("weekly", weekly, usual, one, about),
        79..89 => (
            "bursty",
            Days::Every,
            bursts,
            burst,
            Hours::Burst(7 * 60, 20 * 60),
        ),
        _ => (
            "monthly",
            Days::Monthly(day),
            usual,
            one,
            Hours::About(minute, 90),
        ),
    };
    Rhythm {
        name,
        days,
        permille,
        entries,
        hours,
    }
}

fn charset(chance: &mut Chance, language: Language) -> (&'static Encoding, Declared) {
    let own = match language {
        Language::Chinese if chance.happens(400) => encoding_rs::GB18030,
        Language::Russian if chance.happens(400) => encoding_rs::WINDOWS_1251,
        Language::Japanese if chance.happens(300) => encoding_rs::SHIFT_JIS,
        _ => encoding_rs::UTF_8,
    };
    let declared = [Declared::Header, Declared::Inside, Declared::Both];
    (
        own,
        chance.pick(&declared).copied().unwrap_or(Declared::Both),
    )
}

fn ids(chance: &mut Chance) -> Ids {
    match chance.below(10) {
        0..5 => Ids::Link,
        5 | 6 => Ids::Tag,
        7 | 8 => Ids::Opaque,
        _ => Ids::None,
    }
}

/// Some feeds have polling hints. The hints never contradict the rhythm: no feed publishes in the
/// hours and on the days it asks to skip.
fn hints(chance: &mut Chance, habit: &Habit, epoch: Timestamp) -> Hints {
    let offset_h = i64::from(habit.zone.to_offset(epoch).seconds()) / 3600;
    let mornings = habit.rhythm.days == Days::Working;
    let daily = habit.rhythm.days == Days::Every && matches!(habit.rhythm.hours, Hours::About(..));
    let by_day = mornings || daily;
    let mut hints = Hints::default();
    if chance.happens(250) {
        hints.ttl_min = chance.pick(&[15, 30, 60, 60, 120, 360]).copied();
    }
    if chance.happens(200) {
        hints.max_age_s = chance.pick(&[300, 600, 1800, 3600]).copied();
    }
    if chance.happens(200) {
        hints.update_period = chance.pick(&["hourly", "hourly", "daily"]).copied();
    }
    if by_day && chance.happens(150) {
        // Local 01:00 to 04:00, in GMT as the format wants it; an hour is left for summer time.
        let gmt = |hour: i64| u8::try_from((hour - offset_h).rem_euclid(24)).unwrap_or(0);
        hints.skip_hours = (1..4).map(gmt).collect();
    }
    // East of that, Monday morning is still Sunday in GMT.
    if mornings && (-5..=2).contains(&offset_h) && chance.happens(300) {
        hints.skip_days = vec!["Saturday", "Sunday"];
    }
    hints
}

#[cfg(test)]
mod tests;
