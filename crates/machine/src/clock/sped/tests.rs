use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;

use super::*;

/// A clock whose real time the test controls.
struct ManualTime {
    real_us: Arc<AtomicU64>,
    clock: Arc<SpedClock>,
}

const START: Timestamp = Timestamp::UNIX_EPOCH;

fn speed(times: f64) -> Speed {
    Speed::new(times).unwrap()
}

impl ManualTime {
    fn new(times: f64) -> Self {
        let real_us = Arc::new(AtomicU64::new(7_000_000));
        let seen = Arc::clone(&real_us);
        let elapsed = move || Duration::from_micros(seen.load(Ordering::Relaxed));
        let clock = SpedClock::counting(START, speed(times), Box::new(elapsed));
        Self {
            real_us,
            clock: Arc::new(clock),
        }
    }

    fn pass(&self, real: Duration) {
        let us = u64::try_from(real.as_micros()).unwrap();
        self.real_us.fetch_add(us, Ordering::Relaxed);
    }

    fn shown(&self) -> SignedDuration {
        self.clock.now().duration_since(START)
    }
}

#[test]
fn a_second_is_a_minute_at_sixty_and_a_change_goes_on_from_there() {
    let time = ManualTime::new(60.0);
    assert_eq!(time.shown(), SignedDuration::ZERO);
    time.pass(Duration::from_secs(1));
    assert_eq!(time.shown(), SignedDuration::from_mins(1));
    time.clock.set_speed(speed(3_600.0));
    assert_eq!(time.shown(), SignedDuration::from_mins(1), "no jump");
    time.pass(Duration::from_secs(2));
    assert_eq!(time.shown(), SignedDuration::from_mins(121));
    time.clock.set_speed(Speed::REAL);
    time.pass(Duration::from_mins(1));
    assert_eq!(time.shown(), SignedDuration::from_mins(122));
}

#[test]
fn a_held_clock_stops_and_then_continues_from_there() {
    let time = ManualTime::new(60.0);
    time.clock
        .hold_at(Some(START + SignedDuration::from_mins(2)));
    time.pass(Duration::from_secs(1));
    assert_eq!(time.shown(), SignedDuration::from_mins(1), "not there yet");
    time.pass(Duration::from_secs(9));
    assert_eq!(time.shown(), SignedDuration::from_mins(2));
    time.clock.set_speed(speed(600.0));
    time.pass(Duration::from_secs(1));
    assert_eq!(time.shown(), SignedDuration::from_mins(2), "still held");
    time.clock.hold_at(None);
    assert_eq!(time.shown(), SignedDuration::from_mins(2), "no jump");
    time.pass(Duration::from_secs(1));
    assert_eq!(time.shown(), SignedDuration::from_mins(12));
    time.clock.hold_at(Some(START));
    assert_eq!(time.shown(), SignedDuration::from_mins(12), "never back");
}

#[test]
fn what_is_no_speed_is_none() {
    for times in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(Speed::new(times), None, "{times}");
    }
}

#[test]
fn waits_shrink_with_the_speed_and_the_past_takes_none() {
    let minute = SignedDuration::from_mins(1);
    for (times, real_ms) in [(1.0, 60_000), (60.0, 1_000), (600.0, 100)] {
        let real = Duration::from_millis(real_ms);
        assert_eq!(speed(times).real(minute), real, "{times}");
        assert_eq!(speed(times).shown(real), minute, "{times}");
    }
    assert_eq!(Speed::REAL.real(-minute), Duration::ZERO);
    assert_eq!(speed(1e-300).real(SignedDuration::MAX), Duration::MAX);
    assert_eq!(speed(1e300).shown(Duration::MAX), SignedDuration::MAX);
}

proptest! {
    #[test]
    fn it_never_goes_back_and_shows_what_all_stretches_come_to(
        stretches in prop::collection::vec((0_u64..5_000_000, 1_u32..10_000), 1..20),
    ) {
        let time = ManualTime::new(1.0);
        let (mut expected_us, mut before) = (0.0, time.clock.now());
        for (real_us, times) in stretches {
            time.clock.set_speed(speed(f64::from(times)));
            prop_assert!(time.clock.now() >= before);
            time.pass(Duration::from_micros(real_us));
            #[expect(clippy::cast_precision_loss, reason = "five seconds in microseconds are exact")]
            let real_us = real_us as f64;
            expected_us += real_us * f64::from(times);
            prop_assert!(time.clock.now() >= before);
            before = time.clock.now();
        }
        let shown_us = time.shown().as_secs_f64() * 1e6;
        prop_assert!((shown_us - expected_us).abs() < 100.0, "{shown_us} for {expected_us}");
    }

    #[test]
    fn a_wait_as_long_as_it_says_ends_at_its_instant(times in 1_u32..10_000, ahead_ms in 0_i64..100_000_000) {
        let time = ManualTime::new(f64::from(times));
        let at = START + SignedDuration::from_millis(ahead_ms);
        let wait = time.clock.real_until(at);
        time.pass(wait);
        let early = at.duration_since(time.clock.now());
        // The test counts whole microseconds of real time, of which each is `times` of the clock's.
        prop_assert!(early <= SignedDuration::from_micros(i64::from(times) + 1), "{early}");
    }
}

/// Polls once, to see whether it still waits.
async fn is_over(wait: &mut (impl Future<Output = ()> + Unpin)) -> bool {
    tokio::select! {
        biased;
        () = wait => true,
        () = std::future::ready(()) => false,
    }
}

#[tokio::test(start_paused = true)]
async fn a_sleeper_wakes_at_its_instant_also_after_the_speed_changed() {
    let time = ManualTime::new(1.0);
    let sleeper = SpedSleeper::new(Arc::clone(&time.clock));
    let at = START + SignedDuration::from_hours(1);
    let mut wait = Box::pin(sleeper.until(at));
    assert!(!is_over(&mut wait).await, "an hour is left");
    time.clock.set_speed(speed(3_600.0));
    assert!(!is_over(&mut wait).await, "a second is left");
    time.pass(Duration::from_secs(1));
    // Time is paused and moves only to the end of the nap: a sleeper that did not compute its wait
    // again would nap for a minute.
    let woken = tokio::time::timeout(Duration::from_secs(2), wait).await;
    assert_eq!((woken, time.clock.now()), (Ok(()), at));
}

#[tokio::test(start_paused = true)]
async fn what_has_passed_is_not_waited_for() {
    let time = ManualTime::new(60.0);
    time.pass(Duration::from_secs(1));
    let sleeper = SpedSleeper::new(Arc::clone(&time.clock));
    let mut wait = Box::pin(sleeper.until(START));
    assert!(is_over(&mut wait).await);
}
