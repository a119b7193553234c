//! `almanack source try`, and the dry run of `add`: what would be read, and nothing is stored.

use serde_json::Map;

use super::{PUBLISHED, add, load, options, rules};
use crate::commands::prelude::*;

/// Entries shown.
const SHOWN: usize = 20;

/// Reads an address as a new source would be, or a source with changes that are not made.
pub(super) async fn run(client: &Client, given: &SourceTryArguments, output: &mut Output) -> Done {
    let description = &given.description;
    if !is_source(&given.source) {
        let address = given.address.as_deref().unwrap_or(&given.source);
        let new = add::Described::new(address, description, given.no_discover)?;
        return match new.found(client).await? {
            Ok(body) => {
                new.say_where(&body, output);
                show(client, &body, output).await
            }
            Err(found) => add::several(address, &found, output),
        };
    }
    let source = load(client, &given.source).await?;
    let body = json!({
        "source_id": source.id,
        "address": given.address.as_deref().map(add::with_scheme),
        "reading": rules::reading(&description.rules, Some(&source.now["reading"]))?,
        "options": options::patch(&description.options)?,
    });
    show(client, &body, output).await
}

/// Whether a source is meant, not an address.
pub(super) fn is_source(given: &str) -> bool {
    let number = given.strip_prefix(super::PREFIX).unwrap_or(given);
    number.parse::<i64>().is_ok()
}

const ENTRIES: &[Column] = &[
    PUBLISHED,
    column("TITLE", "/title", plain),
    column("LINK", "/link", plain),
    column("DROPPED BY", "/dropped_by", plain),
];

/// Shows the entries that would be read.
pub(super) async fn show(client: &Client, body: &Value, output: &mut Output) -> Done {
    let wanted = ["source_id", "address", "reading", "options"];
    let wanted = wanted.map(|key| (key.to_owned(), body[key].clone()));
    let wanted: Map<String, Value> = wanted.into_iter().collect();
    let call = Call::post(&["sources", "preview"]).json(&wanted);
    let answer = client.call(call).await?;
    output.show(&answer, |output, shown| {
        let entries = items(&shown["entries"]);
        let title = shown["title"].as_str().map(str::to_owned);
        let title = title.unwrap_or_else(|| text(&shown["address"]));
        let count = counted(entries.len() as u64, "entry", "entries");
        output.line(&format!("{title}: {count}"))?;
        let first = &entries[..entries.len().min(SHOWN)];
        output.columns(ENTRIES, first, answer.now, true)?;
        let left_out = shown["left_out"].as_u64().unwrap_or_default();
        let more = entries.len().saturating_sub(SHOWN) as u64 + left_out;
        if more > 0 {
            output.note(&format!("and {more} more\n"));
        }
        for warning in items(&shown["warnings"]) {
            output.note(&format!("warning: {}\n", text(warning)));
        }
        output.note("nothing was stored\n");
        Ok(())
    })
}
