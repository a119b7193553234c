//! `almanack search`: everything whose name or text fits, with the page that shows it.

use crate::commands::prelude::*;

const LIST: &[Column] = &[
    column("TYPE", "/type", plain),
    column("NAME", "/title", plain),
    column("DETAIL", "/detail", plain).or(""),
    column("PAGE", "/page", plain),
];

/// Runs `almanack search`.
pub(super) async fn run(
    at: &Connector<'_>,
    arguments: &SearchArguments,
    output: &mut Output,
) -> Done {
    let client = at.open(DatabaseNeed::Existing).await?;
    let call = Call::get(&["search"]).query("q", Some(arguments.words.join(" ")));
    let answer = client
        .call(call.query("limit", Some(arguments.limit)))
        .await?;
    let done = output.all(&answer, ("hits", LIST), "nothing found")?;
    let more = answer.value();
    let more: Vec<&str> = items(&more["more"])
        .iter()
        .filter_map(Value::as_str)
        .collect();
    if !output.json && !more.is_empty() {
        let more = more.join(", ");
        output.note(&format!(
            "more of: {more}; --limit shows up to 50 of each type\n"
        ));
    }
    Ok(done)
}
