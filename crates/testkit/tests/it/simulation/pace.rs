//! Rates under everything that goes wrong, and the teeth of that: what is taken away must be
//! noticed.
//!
//! One kind has a rate for all of it, another one for each tenant. Both are slow enough that work
//! waits for its turn, and the nodes crash, freeze, drift and lose replies meanwhile.

use almanack_core::{
    event::incoming::mapping::Path,
    pace::{Pace, Rate, Starts},
    store::{ClaimRequest, Claimed, Result, StartRequest, Store},
};
use almanack_engine::pace::Paces;
use almanack_testkit::{
    fixture::{PUBLISH, kind},
    layer::{Layer, Layered},
};
use async_trait::async_trait;
use jiff::Timestamp;

use super::{SEEDS, no_seed_breaks, open, seeds};
use crate::simulator::{Options, simulate};

/// Seeds within which every missing safeguard must be noticed.
const NOTICED_WITHIN: u64 = 60;

fn paced() -> Options {
    let rate = |text: &str| Rate::parse(text).expect("a rate").with_burst(2);
    let pace = |rate, by| Pace { rate, by };
    let tenant = Path::parse("$.tenant").expect("a path");
    let paces = [
        (kind(PUBLISH), pace(rate("30/min"), None)),
        (kind("AUDIT"), pace(rate("20/min"), Some(tenant))),
    ];
    Options {
        paces: Paces(paces.into()),
        ..Options::default()
    }
}

/// Whatever happens to the nodes, no more starts than the rates allow, of the kind in all and of
/// each key, and everything comes to its end all the same.
#[test]
fn wk_05_no_seed_starts_more_than_a_rate_allows() {
    let troubles = ["ended: not_now"];
    no_seed_breaks(&seeds("tasks", SEEDS / 50), &troubles, |seed| {
        simulate(seed, &paced(), open).map(|story| story.log)
    });
}

#[track_caller]
fn assert_noticed<L: Layer + 'static>(layer: impl Fn() -> L, words: &str) {
    let sabotaged = || Layered::over(open(), layer());
    let found = (0..NOTICED_WITHIN).find_map(|seed| simulate(seed, &paced(), sabotaged).err());
    let broken = found.expect("a seed must notice");
    assert!(broken.what.contains(words), "expected `{words}`:\n{broken}");
}

/// A claim that keeps to no rate.
struct Unpaced;

#[async_trait]
impl Layer for Unpaced {
    async fn claim(&self, below: &dyn Store, mut request: ClaimRequest) -> Result<Claimed> {
        request.rates.clear();
        below.claim(request).await
    }
}

#[test]
fn wk_05_a_claim_without_rates_is_noticed() {
    assert_noticed(|| Unpaced, "of ARTICLE_PUBLISH started");
}

/// One start more than there is, now and then.
struct OneMore;

#[async_trait]
impl Layer for OneMore {
    async fn take_starts(
        &self,
        below: &dyn Store,
        asks: &[StartRequest],
        now: Timestamp,
    ) -> Result<Vec<Starts>> {
        let mut granted = below.take_starts(asks, now).await?;
        for (ask, starts) in asks.iter().zip(&mut granted) {
            starts.granted = ask.wanted.min(starts.granted + 1);
        }
        Ok(granted)
    }
}

#[test]
fn wk_05_one_start_too_many_of_a_key_is_noticed() {
    assert_noticed(|| OneMore, "of AUDIT ");
}
