//! The day's edition as gauges: its state, its stories, its spending.

use almanack_core::edition::{Account, Counts, State};
use almanack_engine::editions::{Editions, Error};
use metrics::gauge;

/// Reads the day's edition.
pub(super) async fn show(editions: &Editions) -> Result<(), Error> {
    let account = match editions.look(editions.today()).await {
        Err(Error::Unknown(_)) => None,
        seen => Some(seen?),
    };
    set(account.as_ref(), editions.settings.rules.budget);
    Ok(())
}

/// All other values are 0: a day without an edition shows nothing of the day before.
fn set(account: Option<&Account>, budget: u32) {
    let state = account.map(|account| account.edition.state);
    for named in State::ALL {
        let is = f64::from(u8::from(state == Some(named)));
        gauge!("almanack_edition_state", "state" => named.as_str()).set(is);
    }
    let counts = account.map_or(Counts::default(), Account::counts);
    for (status, count) in [
        ("pending", counts.pending),
        ("processing", counts.processing),
        ("completed", counts.completed),
        ("failed", counts.failed),
    ] {
        gauge!("almanack_edition_stories", "status" => status).set(f64::from(count));
    }
    let requests = account.map_or(0, Account::requests);
    gauge!("almanack_edition_requests").set(f64::from(requests));
    gauge!("almanack_edition_budget").set(f64::from(budget));
    let last = account.and_then(|account| account.batches.last());
    let spent = last.map_or(0, |batch| batch.spend.requests);
    gauge!("almanack_edition_batch_requests").set(f64::from(spent));
}
