//! Every edition of the day as gauges: its state, its stories, its spending.

use almanack_core::edition::{Account, Counts, EditionName, State};
use almanack_engine::editions::{EditionSet, Editions, Error};
use metrics::gauge;

/// Reads the day's editions. One that cannot be read takes nothing from the others.
pub(super) async fn show(set: &EditionSet) -> Result<(), Error> {
    let mut shown = Ok(());
    for editions in set.iter() {
        shown = shown.and(show_one(editions).await);
    }
    shown
}

async fn show_one(editions: &Editions) -> Result<(), Error> {
    let account = match editions.look(editions.today()).await {
        Err(Error::Unknown(_)) => None,
        seen => Some(seen?),
    };
    let settings = &editions.settings;
    set(settings.name, account.as_ref(), settings.rules.budget);
    Ok(())
}

/// All other values are 0: a day without an edition shows nothing of the day before.
fn set(name: EditionName, account: Option<&Account>, budget: u32) {
    let edition = name.to_string();
    let state = account.map(|account| account.edition.state);
    for named in State::ALL {
        let is = f64::from(u8::from(state == Some(named)));
        let state = named.as_str();
        gauge!("almanack_edition_state", "edition" => edition.clone(), "state" => state).set(is);
    }
    let counts = account.map_or(Counts::default(), Account::counts);
    for (status, count) in [
        ("pending", counts.pending),
        ("processing", counts.processing),
        ("completed", counts.completed),
        ("failed", counts.failed),
    ] {
        gauge!("almanack_edition_stories", "edition" => edition.clone(), "status" => status)
            .set(f64::from(count));
    }
    let requests = account.map_or(0, Account::requests);
    gauge!("almanack_edition_requests", "edition" => edition.clone()).set(f64::from(requests));
    gauge!("almanack_edition_budget", "edition" => edition.clone()).set(f64::from(budget));
    let last = account.and_then(|account| account.batches.last());
    let spent = last.map_or(0, |batch| batch.spend.requests);
    gauge!("almanack_edition_batch_requests", "edition" => edition.clone()).set(f64::from(spent));
}
