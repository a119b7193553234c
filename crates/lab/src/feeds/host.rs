//! Hosts: every address under 127.0.0.0/8 is one, and each has a character.
//!
//! The server listens on all of them at once, so a client sees thousands of hosts that differ in
//! their address, with its own connections, limits and failures, on one machine and without DNS.

use std::{net::Ipv4Addr, time::Duration};

use serde::{Deserialize, Serialize};

use crate::chance::Chance;

/// Last octets run from 1 to 254, so that no host looks like a network or a broadcast.
const PER_OCTET: u32 = 254;
/// Keeps draws about hosts apart from draws about feeds.
const SALT: u64 = 0x0068_6F73_7400;
/// Of a thousand requests to a flaky host so many fail.
const FLAKY_PERMILLE: u64 = 50;

/// How a host treats its callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Character {
    /// Answers at once.
    Steady,
    /// Answers after a wait.
    Slow {
        /// How long.
        wait_ms: u64,
    },
    /// Fails 5 % of the time: 500, 503 or a cut connection.
    Flaky,
    /// Answers 429 to whoever comes again before `gap_s` have passed.
    Limiting {
        /// The shortest time between two requests to this host.
        gap_s: i64,
        /// What it then asks for by `Retry-After`.
        retry_after_s: i64,
        /// As an HTTP date instead of seconds.
        as_date: bool,
    },
    /// Takes requests and never answers.
    Hanging,
}

/// Of a thousand hosts so many have a character, and of a thousand feeds so many a fate. The default
/// is a world without misbehaviour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Shares {
    /// Hosts that are slow.
    pub slow: u16,
    /// Hosts that fail now and then.
    pub flaky: u16,
    /// Hosts that limit their callers.
    pub limiting: u16,
    /// Hosts that never answer.
    pub hanging: u16,
    /// Feeds that answer 301.
    pub moved: u16,
    /// Feeds that answer 410 from some moment on.
    pub gone: u16,
    /// Feeds that answer 404.
    pub missing: u16,
    /// Feeds that answer 403.
    pub forbidden: u16,
    /// Feeds behind a login page.
    pub login: u16,
}

impl Shares {
    /// About what a long list of real subscriptions looks like.
    pub fn usual() -> Self {
        Self {
            slow: 30,
            flaky: 40,
            limiting: 20,
            hanging: 5,
            moved: 10,
            gone: 10,
            missing: 15,
            forbidden: 5,
            login: 5,
        }
    }

    /// The character of one host.
    pub fn character(&self, seed: u64, host: u32) -> Character {
        let mut chance = Chance::of(seed, &[SALT, u64::from(host)]);
        let drawn = u16::try_from(chance.below(1000)).unwrap_or(0);
        let slow = self.slow;
        let flaky = slow.saturating_add(self.flaky);
        let limiting = flaky.saturating_add(self.limiting);
        let hanging = limiting.saturating_add(self.hanging);
        match drawn {
            _ if drawn < slow => Character::Slow {
                wait_ms: 200 + chance.below(2800),
            },
            _ if drawn < flaky => Character::Flaky,
            _ if drawn < limiting => Character::Limiting {
                gap_s: chance.between(5, 60),
                retry_after_s: 60 * chance.between(1, 60),
                as_date: chance.happens(300),
            },
            _ if drawn < hanging => Character::Hanging,
            _ => Character::Steady,
        }
    }
}

impl Character {
    /// The wait of a slow host.
    pub fn wait(self) -> Duration {
        match self {
            Self::Slow { wait_ms } => Duration::from_millis(wait_ms),
            _ => Duration::ZERO,
        }
    }

    /// How the request of this number fails on a flaky host, if it does: 0 stands for a cut.
    pub fn failure(self, seed: u64, host: u32, request: u64) -> Option<u16> {
        let mut chance = Chance::of(seed, &[SALT, u64::from(host), request]);
        if self != Self::Flaky || !chance.happens(FLAKY_PERMILLE) {
            return None;
        }
        chance.pick(&[500, 503, 0]).copied()
    }
}

/// The address of a host: 127.1.1.1 is the first. `None` once 127.0.0.0/8 is used up.
pub fn address(host: u32) -> Option<Ipv4Addr> {
    let (rest, last) = (host / PER_OCTET, host % PER_OCTET);
    let (second, third) = (rest / PER_OCTET, rest % PER_OCTET);
    let octet = |number: u32| u8::try_from(number + 1).ok().filter(|it| *it < 255);
    Some(Ipv4Addr::new(
        127,
        octet(second)?,
        octet(third)?,
        octet(last)?,
    ))
}

/// The host of an address; none for 127.0.0.1 and its like, and none outside loopback.
pub fn host_at(address: Ipv4Addr) -> Option<u32> {
    let [127, second, third, last] = address.octets() else {
        return None;
    };
    let index = |octet: u8| u32::from(octet).checked_sub(1).filter(|it| *it < PER_OCTET);
    Some((index(second)? * PER_OCTET + index(third)?) * PER_OCTET + index(last)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_hosts_are_each_others_inverse() {
        assert_eq!(address(0), Some(Ipv4Addr::new(127, 1, 1, 1)));
        assert_eq!(address(253), Some(Ipv4Addr::new(127, 1, 1, 254)));
        assert_eq!(address(254), Some(Ipv4Addr::new(127, 1, 2, 1)));
        for host in (0..16_387_064).step_by(9973) {
            let address = address(host).unwrap();
            assert!(address.is_loopback());
            assert_eq!(host_at(address), Some(host));
        }
        assert_eq!(address(16_387_064), None, "127.0.0.0/8 is used up");
    }

    #[test]
    fn addresses_that_are_no_hosts_are_told_apart() {
        for other in ["127.0.0.1", "127.1.0.1", "127.1.1.255", "10.1.1.1"] {
            assert_eq!(host_at(other.parse().unwrap()), None, "{other}");
        }
    }

    #[test]
    fn characters_come_as_often_as_asked_and_repeat() {
        let shares = Shares {
            slow: 100,
            flaky: 100,
            limiting: 100,
            hanging: 100,
            ..Shares::default()
        };
        let all: Vec<Character> = (0..5000).map(|host| shares.character(3, host)).collect();
        let count = |wanted: fn(&Character) -> bool| all.iter().filter(|it| wanted(it)).count();
        for seen in [
            count(|it| matches!(it, Character::Slow { .. })),
            count(|it| *it == Character::Flaky),
            count(|it| matches!(it, Character::Limiting { .. })),
            count(|it| *it == Character::Hanging),
        ] {
            assert!((420..580).contains(&seen), "10 % of 5000, but {seen}");
        }
        assert!((0..5000).all(|host| shares.character(3, host) == all[host as usize]));
        let calm = Shares::default();
        assert!((0..5000).all(|host| calm.character(3, host) == Character::Steady));
    }

    #[test]
    fn a_flaky_host_fails_one_request_in_twenty_and_a_steady_one_none() {
        let failed = |character: Character| {
            let fails = |request: &u64| character.failure(1, 2, *request).is_some();
            (0..10_000).filter(fails).count()
        };
        assert!((420..580).contains(&failed(Character::Flaky)));
        assert_eq!(failed(Character::Steady), 0);
    }
}
