//! `almanack source import` and `export`: lists of feeds, as every reader writes and reads them
//! (SS-16).
//!
//! A broken entry is sentence with its line and stops no other. You can import a file again: no two
//! sources share an address.

use std::path::Path;

use crate::commands::prelude::*;

const MEDIA_TYPE: &str = "text/x-opml";

/// Adds the feeds of a file; `-` is standard input.
pub(super) async fn import(client: &Client, file: &str, output: &mut Output) -> Done {
    let list = read_text(file, "read sources from", FILE_BYTES_MAX)?;
    let call = Call::post(&["sources", "opml"]).content(MEDIA_TYPE, list.into_bytes());
    let answer = client.try_call(call).await?;
    let answer = answer.map_err(|refusal| match refusal.code() {
        "invalid_body" => refusal
            .failure()
            .during(file)
            .hint("export the list as OPML from your feed reader"),
        _ => refusal.failure(),
    })?;
    let done = answer.value();
    let number = |name: &str| done[name].as_u64().unwrap_or_default();
    let problems = done["problems"].as_array().into_iter().flatten();
    if !output.json {
        problems.for_each(|problem| output.note(&format!("error: {}\n", text(problem))));
    }
    output.report(&answer, |_| {
        let added = counted(number("added"), "source", "sources");
        format!(
            "{added} added, {} existed, {} refused",
            number("existing"),
            number("refused")
        )
    })?;
    Ok(Exit::failed_if(number("refused") > 0))
}

/// Writes the feeds as OPML.
pub(super) async fn export(client: &Client, file: Option<&Path>, output: &mut Output) -> Done {
    let answer = client.call(Call::get(&["sources", "opml"])).await?;
    let Some(file) = file.filter(|file| *file != Path::new("-")) else {
        output.raw(answer.text())?;
        return Ok(Exit::Ok);
    };
    let name = file.display();
    std::fs::write(file, answer.text())
        .map_err(|error| Failure::failed(format!("write `{name}`: {error}")))?;
    let feeds = answer.text().matches(" xmlUrl=").count();
    let count = counted(feeds as u64, "feed", "feeds");
    let sentence = format!("{count} written to {name}");
    output.say(&json!({ "file": file, "feeds": feeds }), &sentence)
}
