//! Pace: what a claim knows of rates, and what becomes of tasks over the rate of their key.
//!
//! A rate of a whole kind is kept by the claim itself ([`almanack_core::store::ClaimRequest`]). A
//! rate per key cannot be: the key is in the payload, and there is no end of keys. So tasks are
//! claimed first and ask for a start of their key then ([`Paces::admit`]); those that get none are put off
//! to a time of their own, untried. A key without starts thereby never stands in the way of
//! another, and each task over the rate costs one more claim.
//!
//! Whoever claims, for handlers or for workers elsewhere, goes through here.

use std::collections::BTreeMap;

use almanack_core::{
    pace::{Pace, Rate, Starts},
    store::{self, PaceStore, StartRequest},
    task::{ClaimedTask, Kind},
};
use jiff::Timestamp;

use crate::{runner::TROUBLE_WAIT, wake::later};

/// The paces of kinds, as configured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Paces(pub BTreeMap<Kind, Pace>);

/// What was claimed, sorted by whether it may start.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Admitted {
    pub start: Vec<ClaimedTask>,
    /// The others, and when each comes back.
    pub put_off: Vec<(ClaimedTask, Timestamp)>,
}

impl Paces {
    /// The rates that a claim keeps to.
    pub fn rates(&self) -> Vec<(Kind, Rate)> {
        let rates = self.0.iter();
        rates
            .filter_map(|(kind, pace)| Some((kind.clone(), pace.in_all()?)))
            .collect()
    }

    /// Whether any rate is one per key.
    pub fn is_keyed(&self) -> bool {
        self.0.values().any(|pace| pace.by.is_some())
    }

    /// Asks for starts of the keys of what was claimed at `now`. If the store does not answer,
    /// nothing of it may start, and all of it comes back in a moment.
    pub async fn admit(
        &self,
        store: &(impl PaceStore + ?Sized),
        tasks: Vec<ClaimedTask>,
        now: Timestamp,
    ) -> Admitted {
        let admitted = match self.sort(store, tasks.clone(), now).await {
            Ok(admitted) => admitted,
            Err(error) => {
                tracing::warn!(error = error.chain(), "could not ask for starts of keys");
                let soon = later(now, TROUBLE_WAIT);
                let put_off = tasks.into_iter().map(|task| (task, soon)).collect();
                let start = Vec::new();
                Admitted { start, put_off }
            }
        };
        for (task, _) in &admitted.put_off {
            let kind = task.identity.kind.to_string();
            metrics::counter!("almanack_rate_limited_total", "kind" => kind).increment(1);
        }
        admitted
    }

    async fn sort(
        &self,
        store: &(impl PaceStore + ?Sized),
        tasks: Vec<ClaimedTask>,
        now: Timestamp,
    ) -> store::Result<Admitted> {
        let mut admitted = Admitted::default();
        let mut keyed: BTreeMap<String, (Rate, Vec<ClaimedTask>)> = BTreeMap::new();
        for task in tasks {
            let pace = self.0.get(&task.identity.kind);
            match pace.and_then(|pace| Some((pace.rate, pace.bucket(&task)?))) {
                Some((rate, bucket)) => {
                    let (_, tasks) = keyed.entry(bucket).or_insert((rate, Vec::new()));
                    tasks.push(task);
                }
                None => admitted.start.push(task),
            }
        }
        if keyed.is_empty() {
            return Ok(admitted);
        }
        let asks: Vec<StartRequest> = keyed.iter().map(request).collect();
        let answers = store.take_starts(&asks, now).await?;
        for ((rate, tasks), starts) in keyed.into_values().zip(answers) {
            sort(&mut admitted, (rate, starts), tasks, now);
        }
        Ok(admitted)
    }
}

fn request((bucket, (rate, tasks)): (&String, &(Rate, Vec<ClaimedTask>))) -> StartRequest {
    StartRequest {
        bucket: bucket.clone(),
        wanted: u32::try_from(tasks.len()).unwrap_or(u32::MAX),
        rate: *rate,
    }
}

/// The earliest start; the others come back one by one.
fn sort(
    admitted: &mut Admitted,
    (rate, starts): (Rate, Starts),
    mut tasks: Vec<ClaimedTask>,
    now: Timestamp,
) {
    tasks.sort_by_key(|task| (task.execute_at, task.id));
    let granted = usize::try_from(starts.granted).unwrap_or(usize::MAX);
    let waiting = tasks.split_off(granted.min(tasks.len()));
    admitted.start.extend(tasks);
    let put_off = waiting.into_iter().enumerate();
    let put_off = put_off.map(|(place, task)| (task, starts.comes_at(place, &rate, now)));
    admitted.put_off.extend(put_off);
}
