use proptest::prelude::*;

use super::*;

const HOME: &str = "192.0.2.1";
const ELSEWHERE: &str = "198.51.100.7";

fn from(address: &str) -> Peer {
    Peer::address(Some(address.parse().unwrap()))
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

fn after_from(tries: &mut Tries, by: By<'_>, address: &str, second: i64) -> Option<i64> {
    let refused = tries.take(by, from(address), at(second)).err();
    refused.map(|until| until.duration_since(at(second)).as_secs())
}

fn after(tries: &mut Tries, by: By<'_>, second: i64) -> Option<i64> {
    after_from(tries, by, HOME, second)
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
    tries.succeed(ada, from(HOME));
    for _ in 0..5 {
        assert_eq!(after(&mut tries, ada, 0), None, "after a success");
    }
    assert_eq!(after(&mut tries, ada, 0), Some(60));
    assert_eq!(after(&mut tries, By::Name("bob"), 3_600), None);
    assert_eq!(tries.names.len(), 1, "only bob is remembered");
}

#[test]
fn an_address_has_a_bucket_over_all_names_and_one_for_tokens() {
    let mut tries = Tries::default();
    for number in 0..TRIES_AT_ONCE {
        let name = format!("user-{number}");
        assert_eq!(after(&mut tries, By::Name(&name), 0), None);
    }
    assert_eq!(after(&mut tries, By::Name("one-more"), 0), Some(6));
    assert_eq!(after(&mut tries, By::Name("one-more"), 1), Some(5));
    assert_eq!(after(&mut tries, By::Token, 1), None, "tokens are apart");
    assert_eq!(after(&mut tries, By::Name("one-more"), 6), None);
    assert_eq!(after(&mut tries, By::Name("another"), 7), Some(5));
}

/// Whatever attackers try, alone or by the thousand, a user at another address has every try.
#[test]
fn sf_05_attackers_take_no_try_from_others() {
    let mut tries = Tries::default();
    for second in 0..3_600 {
        for attacker in 0..3 {
            let address = format!("203.0.113.{attacker}");
            for by in [By::Name("ada"), By::Name("bob"), By::Token] {
                let _ = tries.take(by, from(&address), at(second));
            }
        }
        if second % 60 != 0 {
            continue;
        }
        for by in [By::Name("ada"), By::Token] {
            let refused = after_from(&mut tries, by, ELSEWHERE, second);
            assert_eq!(refused, None, "{by:?} after {second} s of attacks");
            tries.succeed(by, from(ELSEWHERE));
        }
    }
    for number in 0..6_000_u32 {
        let address = std::net::Ipv4Addr::from_bits(0x0a00_0000 + number).to_string();
        let _ = tries.take(By::Name("ada"), from(&address), at(3_600));
    }
    let refused = after_from(&mut tries, By::Name("ada"), ELSEWHERE, 3_601);
    assert_eq!(refused, None, "after thousands of addresses");
    assert!(tries.names.len() <= NAMES_MAX && tries.addresses.len() <= ADDRESSES_MAX);
}

#[test]
fn who_shares_an_address_does_not_pay_for_each_others_successes() {
    let mut tries = Tries::default();
    for number in 0..100 {
        let name = format!("user-{number}");
        assert_eq!(after(&mut tries, By::Name(&name), 0), None, "{number}");
        tries.succeed(By::Name(&name), from(HOME));
        assert_eq!(after(&mut tries, By::Token, 0), None, "{number}");
        tries.succeed(By::Token, from(HOME));
    }
}

#[test]
fn an_address_of_ipv6_counts_with_its_network() {
    for (one, other, same) in [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::2", true),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", false),
        ("192.0.2.1", "192.0.2.2", false),
        ("192.0.2.1", "::ffff:192.0.2.1", true),
    ] {
        assert_eq!(from(one) == from(other), same, "{one} {other}");
    }
    assert_eq!(Peer::address(None), Peer::address(None));
}

#[test]
fn a_clock_that_is_set_back_makes_no_wait_longer() {
    let (mut tries, ada) = (Tries::default(), By::Name("ada"));
    for _ in 0..5 {
        assert_eq!(after(&mut tries, ada, 86_400), None);
    }
    assert_eq!(after(&mut tries, ada, 0), Some(60));
    for _ in 0..TRIES_AT_ONCE {
        assert_eq!(after(&mut tries, By::Token, 86_400), None);
    }
    assert_eq!(after(&mut tries, By::Token, 0), Some(6));
}

proptest! {
    /// Whatever is tried when, a minute holds no more than a full bucket and what came back, and a
    /// refusal names an instant at which a try is there.
    #[test]
    fn no_address_gets_more_tries_than_its_bucket_holds(steps in prop::collection::vec((0_i64..20, 0_u8..40), 1..300)) {
        let mut tries = Tries::default();
        let (mut now, mut taken) = (0, Vec::new());
        for (wait, name) in steps {
            now += wait;
            let name = format!("user-{name}");
            match tries.take(By::Name(&name), from(HOME), at(now)) {
                Ok(()) => taken.push(now),
                Err(until) => prop_assert!(until > at(now)),
            }
        }
        for (index, start) in taken.iter().enumerate() {
            let within = taken[index..].iter().take_while(|second| **second - start < 60).count();
            prop_assert!(within <= 2 * TRIES_AT_ONCE as usize, "{within} within a minute");
        }
        prop_assert!(tries.names.len() <= 40);
    }
}
