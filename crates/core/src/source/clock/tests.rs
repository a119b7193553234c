use super::*;
use crate::{
    schedule::hash_of,
    source::{
        Definition,
        check::{Document, Look},
        identity::recognise,
        policy::{Budget, Policy},
        recent::PastLook,
        settle::{CompletedCheck, Terms, settle},
    },
};

const HOUR: SignedDuration = SignedDuration::from_hours(1);
const DAY: SignedDuration = SignedDuration::from_hours(24);

fn start() -> Timestamp {
    "2026-03-02T00:00:00Z".parse().unwrap()
}

fn minutes(minutes: i64) -> SignedDuration {
    SignedDuration::from_mins(minutes)
}

/// A source that was added at the start.
fn source() -> Source {
    let definition = Definition {
        address: "https://example.com/feed".to_owned(),
        ..Definition::default()
    };
    Source::new(definition, start())
}

/// A source, by its checks and the entries that each reveals.
struct Life {
    source: Source,
    now: Timestamp,
}

impl Life {
    fn new() -> Self {
        let mut life = Self {
            source: source(),
            now: start(),
        };
        life.check(SignedDuration::ZERO, &[]);
        life
    }

    /// Makes the next check, which reveals entries with these times; they come back corrected.
    fn check(&mut self, after: SignedDuration, stamps: &[Timestamp]) -> Vec<Timestamp> {
        self.now += after;
        let found = stamps.iter().map(|stamp| FoundEntry {
            published_at: Some(*stamp),
            ..FoundEntry::default()
        });
        let mut fresh: Vec<_> = found.map(|found| (String::new(), found)).collect();
        self.source = correct(&self.source, &mut fresh, self.now);
        self.source.recent.add(PastLook {
            at: self.now,
            took_ms: 1,
            outcome: CheckOutcome::New(1),
        });
        let corrected = fresh.iter().filter_map(|(_, found)| found.published_at);
        corrected.collect()
    }

    /// A check that reveals an entry of somewhere in the last gap, stamped so much ahead.
    fn entry(&mut self, gap: SignedDuration, ahead: SignedDuration) -> Timestamp {
        let lot = hash_of("entry", &self.now.to_string()) % 1_000;
        let into = gap.mul_f64(f64::from(u32::try_from(lot).unwrap()) / 1_000.0);
        let appeared = self.now + into;
        let corrected = self.check(gap, &[appeared + ahead]);
        corrected[0]
    }

    fn ahead_min(&self) -> Option<i32> {
        let publisher = &self.source.memory.publisher;
        publisher.clock_ahead_s.map(|ahead| ahead / 60)
    }
}

#[test]
fn ss_25_an_offset_is_believed_once_several_checks_agree() {
    for (why, gap_min, ahead_min, after, believed) in [
        ("an honest clock", 60, 0, 30, None),
        ("two are chance", 60, 480, 2, None),
        ("China", 60, 480, 6, Some(480)),
        ("China, checked every two hours", 120, 480, 12, Some(480)),
        ("Kolkata", 30, 330, 12, Some(330)),
        ("Kathmandu", 15, 345, 12, Some(345)),
        ("behind needs more than four", 20, -300, 4, None),
        ("New York", 20, -300, 8, Some(-300)),
        ("a minute fast is no zone", 30, 1, 30, None),
        ("a server that is forty minutes late", 15, -40, 30, None),
        ("farther than any zone", 60, 1_200, 30, None),
    ] {
        let mut life = Life::new();
        for _ in 0..after {
            life.entry(minutes(gap_min), minutes(ahead_min));
        }
        assert_eq!(life.ahead_min(), believed, "{why}");
    }
}

#[test]
fn ss_25_what_does_not_agree_is_not_believed() {
    let scattered = |number: i64| {
        let lot = hash_of("scattered", &number.to_string()) % 720;
        minutes(i64::try_from(lot).unwrap())
    };
    let mut dated_back = Life::new();
    let mut announced = Life::new();
    let mut dates_only = Life::new();
    for number in 0..60 {
        let off = scattered(number);
        dated_back.entry(HOUR, -off);
        announced.entry(HOUR, off);
        let now = dates_only.now + HOUR * 5;
        let midnight = now.as_second() - now.as_second() % 86_400;
        dates_only.check(HOUR * 5, &[Timestamp::from_second(midnight).unwrap()]);
        for (why, life) in [
            ("dated back", &dated_back),
            ("announced", &announced),
            ("only dates", &dates_only),
        ] {
            assert_eq!(life.ahead_min(), None, "{why}, {number}");
        }
    }
}

#[test]
fn ss_25_new_entries_are_corrected_from_the_check_on_that_decides() {
    let mut life = Life::new();
    let eight = HOUR * 8;
    for _ in 0..6 {
        life.entry(HOUR, eight);
    }
    let before = life.now;
    let old = before - DAY;
    let corrected = life.check(HOUR, &[before + minutes(30) + eight, old + eight]);
    assert_eq!(corrected, [before + minutes(30), old]);
}

#[test]
fn ss_25_an_offset_ends_when_the_feed_is_repaired() {
    let mut life = Life::new();
    for _ in 0..20 {
        life.entry(HOUR, HOUR * 8);
    }
    assert_eq!(life.ahead_min(), Some(480));
    for (repaired, believed) in [(1, Some(480)), (2, None), (3, None)] {
        let before = life.now;
        let corrected = life.entry(HOUR, SignedDuration::ZERO);
        assert!(
            before <= corrected && corrected <= life.now,
            "{repaired}: right as it is"
        );
        assert_eq!(life.ahead_min(), believed, "{repaired}");
    }
}

#[test]
fn ss_25_an_accident_does_not_end_what_was_believed() {
    let mut life = Life::new();
    for round in 0..20 {
        life.entry(HOUR, HOUR * 8);
        if round > 5 && round % 5 == 0 {
            // The one says nothing of the clock, the other contradicts what is believed of it.
            for old in [DAY * 40, HOUR * 3] {
                let stamp = life.now - old;
                life.check(HOUR, &[stamp]);
            }
        }
        assert!(round < 5 || life.ahead_min() == Some(480), "{round}");
    }
}

#[test]
fn ss_25_summer_time_is_followed_at_the_second_entry() {
    let mut life = Life::new();
    for _ in 0..20 {
        life.entry(minutes(30), HOUR);
    }
    assert_eq!(life.ahead_min(), Some(60));
    for (entry, believed) in [(1, Some(60)), (2, Some(120)), (3, Some(120))] {
        life.entry(minutes(30), HOUR * 2);
        assert_eq!(life.ahead_min(), believed, "{entry}");
    }
}

#[test]
fn ss_25_what_is_remembered_is_bounded_and_survives_the_store() {
    let mut life = Life::new();
    for number in 0..200 {
        life.entry(minutes(15), HOUR * (number % 12));
        let publisher = &life.source.memory.publisher;
        let text = serde_json::to_string(publisher).unwrap();
        assert!(text.len() < 400, "{text}");
        let read: Publisher = serde_json::from_str(&text).unwrap();
        assert_eq!(&read, publisher);
    }
}

/// When a made-up source publishes: at work, on weekdays, a little scattered.
fn published(days: i64) -> Vec<Timestamp> {
    let mut times = Vec::new();
    for day in (0..days).filter(|day| day % 7 < 5) {
        for hour in [1, 2, 3, 5, 6, 8] {
            let lot = hash_of("office", &format!("{day} {hour}")) % 40;
            let scatter = minutes(i64::try_from(lot).unwrap());
            times.push(
                start() + DAY.saturating_mul(i32::try_from(day).unwrap()) + HOUR * hour + scatter,
            );
        }
    }
    times
}

/// Mean delay in hours and checks a day of a source whose clock is so much ahead, under the adaptive
/// policy, after the first fortnight.
fn live(ahead: SignedDuration) -> (f64, f64) {
    const DAYS: i64 = 56;
    let terms = Terms {
        policy: Policy::Adaptive,
        fallback: HOUR,
        budget: Budget::default(),
    };
    let times = published(DAYS);
    let (mut source, mut now, mut seen) = (source(), start() + DAY * 7, 0);
    let (mut delays, mut checks) = (Vec::new(), 0.0);
    while seen < times.len() {
        let shown = times.partition_point(|time| *time <= now);
        let entries = (shown.saturating_sub(30)..shown).map(|number| FoundEntry {
            id: Some(number.to_string()),
            published_at: Some(times[number] + ahead),
            ..FoundEntry::default()
        });
        let look = Look::Document(Box::new(Document {
            entries: entries.collect(),
            ..Document::default()
        }));
        let Look::Document(document) = &look else {
            unreachable!()
        };
        let mut recognised = recognise(&source, document, &[], now);
        let corrected = correct(&source, &mut recognised.fresh, now);
        let made = CompletedCheck {
            look: &look,
            fresh: &recognised.fresh,
            remembered: &recognised.remembered,
            took: SignedDuration::ZERO,
            moved_onto: None,
        };
        source = settle(&corrected, made, &terms, now).source;
        if now > start() + DAY * 21 {
            checks += 1.0;
            let new = times[seen..shown].iter();
            delays.extend(new.map(|time| now.duration_since(*time).as_secs_f64() / 3_600.0));
        }
        seen = shown;
        now = source.stats.next_due_at.unwrap();
    }
    let count = f64::from(u32::try_from(delays.len()).unwrap());
    (delays.iter().sum::<f64>() / count, checks / 35.0)
}

#[test]
fn ss_25_a_clock_eight_hours_ahead_costs_no_delay() {
    let (honest, checks) = live(SignedDuration::ZERO);
    for hours in [8, -5] {
        let (delay, made) = live(HOUR * hours);
        assert!(
            delay <= honest * 1.1 && made <= checks * 1.1,
            "{hours} h: {delay:.3} h at {made:.1} checks a day, not {honest:.3} h at {checks:.1}"
        );
    }
}
