//! `almanack source import` and `export`: lists of feeds, as every reader writes and reads them (SS-16).
//!
//! A broken entry is told with its line and stops nobody; importing a file again is harmless, because no two
//! sources share an address.

use std::{io::Read, path::Path};

use almanack_adapters::opml::{self, BYTES_MAX, Imported, Subscription};
use almanack_core::{
    source::{Definition, SourceType},
    store::{Added, SourceFilter},
};
use almanack_engine::sources::Sources;
use serde_json::{Value, json};
use url::Url;

use super::counted;
use crate::{
    commands::{Desk, progress::progress},
    failure::{Exit, Failure},
    output::Output,
    wiring,
};

/// Sources added in one go: enough to share a commit, few enough to show progress.
const CHUNK: usize = 500;
/// Rows asked for at once.
const PAGE_ROWS: usize = 500;

/// Adds the feeds of a file; `-` is standard input.
pub(super) async fn import(desk: &Desk, file: &str, output: &mut Output) -> Result<Exit, Failure> {
    let imported = opml::import(&read(file)?).map_err(|error| {
        Failure::new(Exit::Usage, format!("{file}: {error}"))
            .hint("export the list as OPML from the reader that has it")
    })?;
    let sources = desk.sources().await?;
    let bar = progress(Some(imported.subscriptions.len() as u64), output);
    let mut tally = Tally::default();
    for problem in &imported.problems {
        tally.refuse(
            &problem.to_string(),
            json!({ "line": problem.line }),
            output,
        )?;
    }
    let mut place = 0;
    for chunk in imported.subscriptions.chunks(CHUNK) {
        let accepted = accepted(&sources, chunk, &mut tally, output)?;
        let count = accepted.len();
        let added = sources.add_after(place, accepted, &desk.origin).await?;
        place += count;
        tally.count(&added);
        bar.inc(chunk.len() as u64);
        bar.set_message(format!("{} added", tally.added));
    }
    bar.finish_and_clear();
    tally.tell(&imported, output)
}

fn read(file: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    // One byte more than is taken, so that more is noticed and not cut.
    let most = BYTES_MAX as u64 + 1;
    let read = match file {
        "-" => std::io::stdin().take(most).read_to_end(&mut bytes),
        file => std::fs::File::open(file).and_then(|file| file.take(most).read_to_end(&mut bytes)),
    };
    read.map_err(|error| Failure::new(Exit::Usage, format!("read `{file}`: {error}")))?;
    Ok(bytes)
}

/// Those of a chunk that can be sources; the others are told.
fn accepted(
    sources: &Sources,
    chunk: &[Subscription],
    tally: &mut Tally,
    output: &mut Output,
) -> Result<Vec<Definition>, Failure> {
    let mut accepted = Vec::with_capacity(chunk.len());
    for feed in chunk {
        let definition = wiring::opml::definition(feed.clone());
        match sources.check(&definition) {
            Ok(()) => accepted.push(definition),
            Err(error) => {
                let address = tellable(&feed.address);
                let what = format!("{address}: {error}");
                tally.refuse(&what, json!({ "address": address }), output)?;
            }
        }
    }
    Ok(accepted)
}

/// An address without what may be secret in it: who is before the `@`, and what is after the `?`. That it holds one may be why it was
/// refused.
fn tellable(address: &str) -> String {
    let Ok(mut url) = Url::parse(address) else {
        return "an address that cannot be read".to_owned();
    };
    // Both fail only where there is no place for what they take away.
    let _ = (url.set_username(""), url.set_password(None));
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}

#[derive(Default)]
struct Tally {
    added: u64,
    existed: u64,
    refused: u64,
}

impl Tally {
    fn count(&mut self, added: &[Added]) {
        for answer in added {
            match answer {
                Added::New(_) => self.added += 1,
                Added::Exists(_) => self.existed += 1,
            }
        }
    }

    fn refuse(&mut self, what: &str, place: Value, output: &mut Output) -> Result<(), Failure> {
        self.refused += 1;
        if output.json {
            let mut told = place;
            told["error"] = json!({ "message": what });
            return output.value(&told);
        }
        output.note(&format!("error: {what}\n"));
        Ok(())
    }

    fn tell(&self, imported: &Imported, output: &mut Output) -> Result<Exit, Failure> {
        let untold = imported.left_out as u64;
        let existed = self.existed + imported.repeated as u64;
        let refused = self.refused + untold;
        if output.json {
            output.value(&json!({
                "added": self.added,
                "existing": existed,
                "refused": refused,
            }))?;
        } else {
            let added = counted(self.added, "source", "sources");
            output.line(&format!(
                "{added} added, {existed} existed, {refused} refused"
            ))?;
            if untold > 0 {
                output.note(&format!("{untold} of them beyond what one file may hold\n"));
            }
        }
        Ok(if refused > 0 { Exit::Failed } else { Exit::Ok })
    }
}

/// Writes the feeds as OPML.
pub(super) async fn export(
    desk: &Desk,
    file: Option<&Path>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let feeds = feeds(desk).await?;
    let text = wiring::opml::write(&feeds, desk.clock.as_ref());
    let count = counted(feeds.len() as u64, "feed", "feeds");
    match file.filter(|file| *file != Path::new("-")) {
        None => output.raw(&text)?,
        Some(file) => {
            let name = file.display();
            std::fs::write(file, text)
                .map_err(|error| Failure::new(Exit::Failed, format!("write `{name}`: {error}")))?;
            if output.json {
                output.value(&json!({ "file": file, "feeds": feeds.len() }))?;
            } else {
                output.line(&format!("{count} written to {name}"))?;
            }
        }
    }
    Ok(Exit::Ok)
}

/// All feeds.
async fn feeds(desk: &Desk) -> Result<Vec<Definition>, Failure> {
    let mut filter = SourceFilter {
        source_type: Some(SourceType::Rss),
        limit: PAGE_ROWS,
        ..SourceFilter::default()
    };
    let mut feeds = Vec::new();
    loop {
        let page = desk.store.list_sources(&filter).await?;
        feeds.extend(page.rows.into_iter().map(|source| source.definition));
        filter.after = page.next;
        if filter.after.is_none() {
            return Ok(feeds);
        }
    }
}
