//! `almanack edition usage`: what models cost in a month, by day, and the caps on it (ED-44).

use crate::commands::prelude::*;

const DAYS: &[Column] = &[
    column("DAY", "/date", plain),
    column("REQUESTS", "/requests", plain),
    column("TOKENS IN", "/tokens_in", plain),
    column("TOKENS OUT", "/tokens_out", plain),
    column("COST", "/cost", plain),
];

const MONTH: &[Column] = &[
    column("edition", "/name", plain),
    column("month", "/month", plain),
    column("requests", "/total/requests", plain),
    column("tokens", "/total", |it, _| {
        format!("{} in, {} out", it["tokens_in"], it["tokens_out"]).into()
    }),
    column("cost", "/total/cost", plain),
    column("cap a day", "/caps", |caps, _| cap(caps, "per_day")),
    column("cap a month", "/caps", |caps, _| cap(caps, "per_month")),
];

/// The caps of a period; nothing without one.
fn cap(caps: &Value, period: &str) -> Cell {
    let (tokens, money) = (
        &caps[format!("tokens_{period}")],
        &caps[format!("money_{period}")],
    );
    let tokens = (!tokens.is_null()).then(|| format!("{tokens} tokens"));
    let money = (!money.is_null()).then(|| format!("cost {money}"));
    let both: Vec<String> = tokens.into_iter().chain(money).collect();
    Cell::new(both.join(", "))
}

/// Shows a month of an edition.
pub(super) async fn run(
    client: &Client,
    (name, month): (Option<&str>, Option<&str>),
    output: &mut Output,
) -> Done {
    let call = Call::get(&["editions", "usage"]);
    let call = call.query("name", name).query("month", month);
    let answer = client.call(call).await?;
    let now = answer.now;
    output.show(&answer, |output, value| {
        output.page(MONTH, &value, now)?;
        let days: Vec<Value> = value["days"].as_array().cloned().unwrap_or_default();
        if days.is_empty() {
            return Ok(());
        }
        output.line("")?;
        output.columns(DAYS, &days, now, true)
    })
}
