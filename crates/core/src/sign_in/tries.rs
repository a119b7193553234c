//! How often somebody may try to sign in.
//!
//! A password can be guessed, so guessing must be slow. Of each name a few tries are free, for those who mistype; every further one
//! makes the next wait longer, up to [`WAIT_MAX`]. Over all names there is a bucket, which bounds what guessing one
//! password under many names can try and what hashing can cost. Tokens have a bucket of their own: they cannot
//! be guessed, and who holds one must get in while somebody else tries passwords.
//!
//! A try counts when it is asked for, before anybody knows whether it is right, so that many at once are no way around it; and while
//! a name waits, the right password is refused like a wrong one, because the difference would be an answer.
//! A try that is refused counts nowhere, so nobody can make a wait longer by knocking.
//!
//! INVARIANT: what is remembered is bounded: a name is remembered once the bucket let it through, and for [`FORGOTTEN_AFTER`].

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

/// Tries of one name that cost no wait.
pub const FREE_TRIES: u32 = 5;
/// The wait after the last free try; it doubles with every further one.
pub const WAIT_FIRST: SignedDuration = SignedDuration::from_mins(1);
/// The longest wait. Whoever wants to lock somebody out has to come back as often as this.
pub const WAIT_MAX: SignedDuration = SignedDuration::from_mins(15);
/// When the tries of a name are forgotten, after the last of them.
pub const FORGOTTEN_AFTER: SignedDuration = SignedDuration::from_hours(1);
/// Tries at once over all names, and how many of them come back in a minute.
pub const TRIES_PER_MINUTE: u32 = 30;
/// Names remembered. The bucket lets fewer through before they are forgotten; this holds should somebody change it.
const NAMES_MAX: usize = 4_096;
/// Longest part of a name that is told apart; nobody's is longer.
const NAME_CHARS_MAX: usize = 100;

/// By what somebody tries to sign in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By<'a> {
    /// With a password, under this name.
    Name(&'a str),
    /// With a token.
    Token,
}

/// Tries so far.
#[derive(Debug, Default)]
pub struct Tries {
    names: BTreeMap<String, Tried>,
    passwords: Bucket,
    tokens: Bucket,
}

/// Tries of one name.
#[derive(Debug, Clone, Copy)]
struct Tried {
    count: u32,
    last_at: Timestamp,
}

/// A bucket of tries that fills by itself.
#[derive(Debug, Default)]
struct Bucket {
    taken: u32,
    /// Since when tries come back.
    since: Option<Timestamp>,
}

impl Tries {
    /// Takes a try, or answers when there will be one.
    pub fn take(&mut self, by: By<'_>, now: Timestamp) -> Result<(), Timestamp> {
        let By::Name(name) = by else {
            return self.tokens.take(now);
        };
        let name: String = name.chars().take(NAME_CHARS_MAX).collect();
        let tried = self.names.get(&name).map(|tried| tried.seen_at(now));
        if let Some(free_at) = tried.map(Tried::free_at).filter(|at| now < *at) {
            return Err(free_at);
        }
        self.passwords.take(now)?;
        self.forget(now);
        let count = tried.map_or(0, |tried| tried.count).saturating_add(1);
        let last_at = now;
        self.names.insert(name, Tried { count, last_at });
        Ok(())
    }

    /// Forgets the tries of a name: whoever knows the password was not guessing.
    pub fn succeed(&mut self, by: By<'_>) {
        if let By::Name(name) = by {
            self.names.remove(name);
        }
    }

    fn forget(&mut self, now: Timestamp) {
        self.names.retain(|_, tried| {
            *tried = tried.seen_at(now);
            now.duration_since(tried.last_at) < FORGOTTEN_AFTER
        });
        if self.names.len() >= NAMES_MAX {
            let oldest = self.names.iter().min_by_key(|(_, tried)| tried.last_at);
            if let Some(name) = oldest.map(|(name, _)| name.clone()) {
                self.names.remove(&name);
            }
        }
    }
}

impl Tried {
    /// The same after a look at the clock: one that was set back must not make a wait longer.
    fn seen_at(self, now: Timestamp) -> Self {
        let last_at = self.last_at.min(now);
        Self { last_at, ..self }
    }

    fn free_at(self) -> Timestamp {
        let Some(over) = self.count.checked_sub(FREE_TRIES) else {
            return self.last_at;
        };
        let doubled = 2_i32.saturating_pow(over);
        let wait = WAIT_FIRST.saturating_mul(doubled).min(WAIT_MAX);
        self.last_at.saturating_add(wait).unwrap_or(self.last_at)
    }
}

impl Bucket {
    const EVERY: SignedDuration = SignedDuration::from_secs(60 / TRIES_PER_MINUTE as i64);

    fn take(&mut self, now: Timestamp) -> Result<(), Timestamp> {
        let since = self.since.map_or(now, |since| since.min(now));
        let back = now.duration_since(since).as_secs() / Self::EVERY.as_secs();
        let back = u32::try_from(back).unwrap_or(u32::MAX);
        self.taken = self.taken.saturating_sub(back);
        // The part of a try that has come back already is kept, unless nothing was missing.
        let later = i32::try_from(back).map(|back| since.saturating_add(Self::EVERY * back));
        self.since = match later {
            Ok(Ok(later)) if self.taken > 0 => Some(later),
            _ => Some(now),
        };
        if self.taken >= TRIES_PER_MINUTE {
            let free_at = self.since.unwrap_or(now).saturating_add(Self::EVERY);
            return Err(free_at.unwrap_or(now));
        }
        self.taken += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    fn after(tries: &mut Tries, by: By<'_>, second: i64) -> Option<i64> {
        let refused = tries.take(by, at(second)).err();
        refused.map(|until| until.duration_since(at(second)).as_secs())
    }

    #[test]
    fn a_name_waits_longer_with_every_try_past_the_free_ones() {
        let (mut tries, ada) = (Tries::default(), By::Name("ada"));
        for second in 0..5 {
            assert_eq!(after(&mut tries, ada, second), None, "free");
        }
        let mut now = 4;
        for wait in [60, 120, 240, 480, 900, 900] {
            assert_eq!(after(&mut tries, ada, now), Some(wait));
            assert_eq!(after(&mut tries, ada, now + 1), Some(wait - 1), "knocking");
            now += wait;
            assert_eq!(after(&mut tries, ada, now), None, "after {wait} s");
        }
        assert_eq!(after(&mut tries, By::Name("bob"), now), None, "another");
    }

    #[test]
    fn tries_are_forgotten_after_a_success_or_an_hour() {
        let (mut tries, ada) = (Tries::default(), By::Name("ada"));
        for _ in 0..5 {
            assert_eq!(after(&mut tries, ada, 0), None);
        }
        tries.succeed(ada);
        for _ in 0..5 {
            assert_eq!(after(&mut tries, ada, 0), None, "after a success");
        }
        assert_eq!(after(&mut tries, ada, 0), Some(60));
        assert_eq!(after(&mut tries, By::Name("bob"), 3_600), None);
        assert_eq!(tries.names.len(), 1, "only bob is remembered");
    }

    #[test]
    fn over_all_names_a_try_comes_back_every_other_second() {
        let mut tries = Tries::default();
        for number in 0..TRIES_PER_MINUTE {
            let name = format!("user-{number}");
            assert_eq!(after(&mut tries, By::Name(&name), 0), None);
        }
        assert_eq!(after(&mut tries, By::Name("one-more"), 0), Some(2));
        assert_eq!(after(&mut tries, By::Name("one-more"), 1), Some(1));
        assert_eq!(after(&mut tries, By::Token, 1), None, "tokens are apart");
        assert_eq!(after(&mut tries, By::Name("one-more"), 2), None);
        assert_eq!(after(&mut tries, By::Name("another"), 3), Some(1));
    }

    #[test]
    fn a_clock_that_is_set_back_makes_no_wait_longer() {
        let (mut tries, ada) = (Tries::default(), By::Name("ada"));
        for _ in 0..5 {
            assert_eq!(after(&mut tries, ada, 86_400), None);
        }
        assert_eq!(after(&mut tries, ada, 0), Some(60));
        for _ in 0..TRIES_PER_MINUTE {
            assert_eq!(after(&mut tries, By::Token, 86_400), None);
        }
        assert_eq!(after(&mut tries, By::Token, 0), Some(2));
    }

    proptest! {
        /// Whatever is tried when, a minute holds no more than a full bucket and what came back, and a refusal names an instant
        /// at which a try is there.
        #[test]
        fn nobody_gets_more_tries_than_the_bucket_holds(steps in prop::collection::vec((0_i64..20, 0_u8..40), 1..300)) {
            let mut tries = Tries::default();
            let (mut now, mut taken) = (0, Vec::new());
            for (wait, name) in steps {
                now += wait;
                let name = format!("user-{name}");
                match tries.take(By::Name(&name), at(now)) {
                    Ok(()) => taken.push(now),
                    Err(until) => prop_assert!(until > at(now)),
                }
            }
            for (index, start) in taken.iter().enumerate() {
                let within = taken[index..].iter().take_while(|second| **second - start < 60).count();
                prop_assert!(within <= 2 * TRIES_PER_MINUTE as usize, "{within} within a minute");
            }
            prop_assert!(tries.names.len() <= 40);
        }
    }
}
