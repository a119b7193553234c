//! What people decide about deliveries: send one again, or leave it out (ED-41).
//!
//! Both are fenced like everything else about an edition: they are written on the version that was
//! seen. A part that is being sent cannot be changed, and what a destination confirmed is never
//! sent again; so two requests send once.

use std::fmt;

use jiff::Timestamp;
use serde::Deserialize;

use super::person::{Day, NotNow, at_work};
use crate::edition::{
    Account, State,
    account::Change,
    delivery::{self, Delivery, Step},
    turn::cut,
};

/// Which deliveries are meant: all parts of a destination, or one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = RedeliveryBody))]
#[serde(deny_unknown_fields)]
pub struct Chosen {
    /// Name of the destination in the configuration.
    #[cfg_attr(feature = "schema", schema(example = "telegram"))]
    pub destination: String,
    /// One part, from 1. Default: all undelivered parts.
    #[cfg_attr(feature = "schema", schema(minimum = 1))]
    pub part: Option<u32>,
}

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            Some(part) => write!(f, "`{}` (part {part})", self.destination),
            None => write!(f, "`{}`", self.destination),
        }
    }
}

/// Has deliveries sent again that did not arrive, or may not have. Returns which parts; with none,
/// they are about to be sent already and nothing is written.
pub fn resend(
    account: &Account,
    chosen: &Chosen,
    day: Day,
    now: Timestamp,
) -> Result<(Option<Change>, Vec<u32>), NotNow> {
    let parts = chosen_parts(account, chosen, now)?;
    let waiting = |part: &&&Delivery| part.step(now) != Step::Send;
    let again: Vec<Delivery> = parts
        .iter()
        .filter(|part| !is_confirmed(part))
        .filter(waiting)
        .map(|part| Delivery {
            state: delivery::State::Intended,
            lease_until: None,
            retry_at: None,
            updated_at: now,
            ..(*part).clone()
        })
        .collect();
    if again.is_empty() {
        return Ok((None, Vec::new()));
    }
    let numbers = again.iter().map(|part| part.part).collect();
    let mut change = Change::of(at_work(account, State::Aggregating, day, now));
    change.deliveries = again;
    Ok((Some(change), numbers))
}

/// Skips deliveries that did not arrive, or may not have. Returns which parts; with none, they were
/// skipped before and nothing is written.
pub fn skip(
    account: &Account,
    chosen: &Chosen,
    by: &str,
    now: Timestamp,
) -> Result<(Option<Change>, Vec<u32>), NotNow> {
    let parts = chosen_parts(account, chosen, now)?;
    let open = |part: &&&Delivery| !part.state.is_settled() || part.is_doubtful();
    let left_out: Vec<Delivery> = parts
        .iter()
        .filter(open)
        .map(|part| Delivery {
            state: delivery::State::Skipped,
            lease_until: None,
            retry_at: None,
            detail: Some(cut(&format!("skipped by {by}"))),
            updated_at: now,
            ..(*part).clone()
        })
        .collect();
    if left_out.is_empty() {
        return Ok((None, Vec::new()));
    }
    let numbers = left_out.iter().map(|part| part.part).collect();
    let mut change = Change::of(account.touched(now));
    change.deliveries = left_out;
    Ok((Some(change), numbers))
}

fn is_confirmed(part: &Delivery) -> bool {
    part.state == delivery::State::Confirmed
}

/// The deliveries that are meant, if something can be decided about them now.
fn chosen_parts<'a>(
    account: &'a Account,
    chosen: &Chosen,
    now: Timestamp,
) -> Result<Vec<&'a Delivery>, NotNow> {
    let edition = &account.edition;
    // A document that is rendered again goes to every destination by itself.
    if edition.revision == 0 || !delivers(edition.archived_from.unwrap_or(edition.state)) {
        return Err(NotNow::NoDocument);
    }
    let meant = |delivery: &&Delivery| {
        delivery.destination == chosen.destination
            && chosen.part.is_none_or(|part| part == delivery.part)
    };
    let parts: Vec<&Delivery> = account.deliveries.iter().filter(meant).collect();
    if parts.is_empty() {
        return Err(NotNow::NoDelivery(chosen.clone()));
    }
    if let Some(until) = parts.iter().find_map(|part| part.sending_until(now)) {
        return Err(NotNow::Sending(until));
    }
    if parts.iter().all(|part| is_confirmed(part)) {
        return Err(NotNow::Delivered(chosen.clone()));
    }
    Ok(parts)
}

fn delivers(state: State) -> bool {
    matches!(state, State::Aggregating | State::Published)
}
