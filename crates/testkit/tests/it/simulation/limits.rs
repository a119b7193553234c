//! Limits in all under everything that goes wrong, and the teeth of that: what is taken away must
//! be noticed.
//!
//! Two kinds of houses: in a wide one nodes always have room, look for work all the time and so say
//! all the time what they have. In a narrow one a node is full with one attempt and says nothing
//! while it lasts, so that its heartbeat alone keeps its permit.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use almanack_core::store::{PermitGrant, PermitRequest, Result, Store, Visitor};
use almanack_testkit::{
    fixture::{PUBLISH, kind},
    layer::{Layer, Layered},
};
use async_trait::async_trait;

use super::{SEEDS, no_seed_breaks, open, seeds};
use crate::simulator::{Options, simulate};

/// Seeds within which every missing safeguard must be noticed.
const NOTICED_WITHIN: u64 = 60;

/// So many attempts at once on a node, and so many of a kind in all.
fn house(slots: usize, in_all: usize) -> Options {
    let kinds = [PUBLISH, "AUDIT"].map(kind);
    Options {
        slots,
        limits_in_all: kinds.into_iter().map(|kind| (kind, in_all)).collect(),
        ..Options::default()
    }
}

fn wide() -> Options {
    house(Options::default().slots, 2)
}

fn narrow() -> Options {
    house(1, 1)
}

/// Whatever happens to the nodes, all of them together run as many attempts of a kind as they may,
/// and everything comes to its end all the same.
#[test]
fn no_seed_breaks_a_limit_in_all() {
    for house in [wide(), narrow()] {
        no_seed_breaks(&seeds("tasks", SEEDS / 50), &[], |seed| {
            simulate(seed, &house, open).map(|story| story.log)
        });
    }
}

#[track_caller]
fn assert_noticed<L: Layer + 'static>(house: &Options, layer: impl Fn() -> L, words: &str) {
    let sabotaged = || Layered::over(open(), layer());
    let found = (0..NOTICED_WITHIN).find_map(|seed| simulate(seed, house, sabotaged).err());
    let broken = found.expect("a seed must notice");
    assert!(broken.what.contains(words), "expected `{words}`:\n{broken}");
}

/// A word that asks for nothing is not heard: the heartbeat keeps no permits.
struct KeepsNothing;

#[async_trait]
impl Layer for KeepsNothing {
    async fn request_permits(
        &self,
        below: &dyn Store,
        visitor: &Visitor,
        asks: &[PermitRequest],
    ) -> Result<Vec<PermitGrant>> {
        if asks.iter().any(|ask| ask.wanted > 0) {
            return below.request_permits(visitor, asks).await;
        }
        let free_at = visitor.now;
        let silence = |_: &PermitRequest| PermitGrant {
            granted: 0,
            free_at,
        };
        Ok(asks.iter().map(silence).collect())
    }
}

#[test]
fn a_heartbeat_that_keeps_no_permits_is_noticed() {
    assert_noticed(&narrow(), || KeepsNothing, "others, of 1 in all");
}

/// Changes what a node says, on its way down.
struct Meddle(fn(&mut Visitor, &mut [PermitRequest]));

#[async_trait]
impl Layer for Meddle {
    async fn request_permits(
        &self,
        below: &dyn Store,
        visitor: &Visitor,
        asks: &[PermitRequest],
    ) -> Result<Vec<PermitGrant>> {
        let (mut visitor, mut asks) = (visitor.clone(), asks.to_vec());
        (self.0)(&mut visitor, &mut asks);
        below.request_permits(&visitor, &asks).await
    }
}

#[test]
fn one_permit_too_many_is_noticed() {
    let one_more = || Meddle(|_, asks| asks.iter_mut().for_each(|ask| ask.at_once += 1));
    assert_noticed(&wide(), one_more, "others, of 2 in all");
    assert_noticed(&narrow(), one_more, "others, of 1 in all");
}

/// While their holders still count on them; and they are renewed all the same when others have
/// them by then.
#[test]
fn places_that_pass_on_too_early_are_noticed() {
    let short_lease = || {
        Meddle(|visitor, _| {
            let lease = visitor.lease_until.duration_since(visitor.now);
            visitor.lease_until = visitor.now + lease / 4;
        })
    };
    assert_noticed(&narrow(), short_lease, "others, of 1 in all");
}

/// Permits are taken and never returned.
#[derive(Default)]
struct NeverGivenBack(Mutex<Ever>);

/// The most that a visitor ever had of a limit.
type Ever = BTreeMap<(String, String), usize>;

impl NeverGivenBack {
    fn ever(&self) -> MutexGuard<'_, Ever> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Layer for NeverGivenBack {
    async fn request_permits(
        &self,
        below: &dyn Store,
        visitor: &Visitor,
        asks: &[PermitRequest],
    ) -> Result<Vec<PermitGrant>> {
        let key = |ask: &PermitRequest| (visitor.name.clone(), ask.limit.clone());
        let mut asks = asks.to_vec();
        for ask in &mut asks {
            let ever = self.ever().get(&key(ask)).copied();
            ask.permits = ask.permits.max(ever.unwrap_or(0));
        }
        let answers = below.request_permits(visitor, &asks).await?;
        for (ask, answer) in asks.iter().zip(&answers) {
            let permits = ask.permits + answer.granted;
            self.ever().insert(key(ask), permits);
        }
        Ok(answers)
    }
}

#[test]
fn places_that_are_never_given_back_are_noticed() {
    assert_noticed(&wide(), NeverGivenBack::default, "never came to rest");
}
