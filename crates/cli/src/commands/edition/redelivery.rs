//! What is decided about deliveries: sent again, or skipped (ED-41).

use almanack_core::edition::turn::Chosen;
use almanack_engine::editions::{Editions, Redelivered};

use super::{acts::who_goes_on, day};
use crate::{
    args::RedeliveryArguments,
    commands::Desk,
    failure::{Exit, Failure},
    output::Output,
    view,
};

/// Has what a destination lacks sent again.
pub(super) async fn resend(
    desk: &Desk,
    editions: &Editions,
    given: &RedeliveryArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let (date, chosen) = (day(editions, &given.edition)?, chosen(given));
    let done = editions.resend(date, &chosen, &desk.origin).await?;
    let (parts, next) = (numbers(&done.parts), who_goes_on(editions, date));
    let told = match done.parts.len() {
        0 => format!("No change: what {chosen} lacks is about to be sent; {next}"),
        1 => format!("Sending part {parts} to {chosen} again; {next}"),
        _ => format!("Sending parts {parts} to {chosen} again; {next}"),
    };
    show(&done, &told, output)
}

/// Skips what a destination lacks.
pub(super) async fn skip(
    desk: &Desk,
    editions: &Editions,
    given: &RedeliveryArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let (date, chosen) = (day(editions, &given.edition)?, chosen(given));
    let done = editions.skip(date, &chosen, &desk.origin).await?;
    let parts = numbers(&done.parts);
    let told = match done.parts.len() {
        0 => format!("No change: what {chosen} lacks was skipped before"),
        1 => format!("Skipped part {parts} of {chosen}"),
        _ => format!("Skipped parts {parts} of {chosen}"),
    };
    show(&done, &told, output)
}

fn chosen(given: &RedeliveryArguments) -> Chosen {
    Chosen {
        destination: given.destination.clone(),
        part: given.part,
    }
}

fn numbers(parts: &[u32]) -> String {
    let parts: Vec<String> = parts.iter().map(u32::to_string).collect();
    parts.join(", ")
}

fn show(done: &Redelivered, told: &str, output: &mut Output) -> Result<Exit, Failure> {
    if output.json {
        let mut view = view::account(&done.account);
        view["parts"] = done.parts.clone().into();
        output.value(&view)?;
    } else {
        output.line(told)?;
    }
    Ok(Exit::Ok)
}
