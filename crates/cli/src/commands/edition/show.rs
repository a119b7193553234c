//! `almanack edition show` and `preview`: documents, as they were made and as they would be.

use almanack_core::edition::document::Document;
use almanack_engine::editions::{Editions, Rebuilt};
use jiff::civil::Date;
use serde_json::json;

use super::{day, diff};
use crate::{
    args::{EditionArguments, EditionShowArguments},
    failure::{Exit, Failure},
    output::{Ink, Output},
    view,
};

/// Prints a document as it was kept, or what differs from it.
pub(super) async fn run(
    editions: &Editions,
    given: &EditionShowArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let date = day(editions, &given.edition)?;
    if let Some(file) = &given.template {
        let template = std::fs::read_to_string(file).map_err(|error| {
            Failure::new(
                Exit::Usage,
                format!("cannot read `{}`: {error}", file.display()),
            )
        })?;
        let rebuilt = editions.rebuild(date, given.revision, Some(&template));
        return compare(&rebuilt.await?, output);
    }
    if given.rebuild {
        let rebuilt = editions.rebuild(date, given.revision, None).await?;
        return prove(date, &rebuilt, output);
    }
    let document = editions.document(date, given.revision).await?;
    print(&document, output)
}

/// Prints what the document would be now.
pub(super) async fn preview(
    editions: &Editions,
    given: &EditionArguments,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let date = day(editions, given)?;
    print(&editions.preview(date).await?, output)
}

fn print(document: &Document, output: &mut Output) -> Result<Exit, Failure> {
    if output.json {
        output.value(&view::document(document))?;
    } else {
        output.raw(&document.body)?;
    }
    Ok(Exit::Ok)
}

/// Says that nothing differs, or what does.
fn prove(date: Date, rebuilt: &Rebuilt, output: &mut Output) -> Result<Exit, Failure> {
    let document = &rebuilt.document;
    let (revision, digest) = (document.inputs.revision, &document.body_digest);
    if !rebuilt.identical {
        let what = match diff::first_difference(&document.body, &rebuilt.body) {
            Some(difference) => {
                format!("the edition of {date} comes out differently: {difference}")
            }
            None => format!(
                "the edition of {date} comes out as it was, but what was kept of it was changed"
            ),
        };
        return Err(Failure::new(Exit::Failed, what));
    }
    if output.json {
        output.value(&json!({
            "date": date,
            "revision": revision,
            "identical": true,
            "body_digest": digest,
        }))?;
    } else {
        output.line(&format!(
            "identical: revision {revision} of {date}, SHA-256 {digest}"
        ))?;
    }
    Ok(Exit::Ok)
}

/// Shows what another template changes.
fn compare(rebuilt: &Rebuilt, output: &mut Output) -> Result<Exit, Failure> {
    let (before, after) = (&rebuilt.document.body, &rebuilt.body);
    let lines = diff::lines(before, after);
    if output.json {
        output.value(&json!({ "identical": before == after, "body": after }))?;
        return Ok(Exit::Ok);
    }
    if lines.is_empty() {
        output.line("identical: this template changes nothing")?;
    }
    for line in lines {
        let ink = match line.chars().next() {
            Some('-') => Ink::Bad,
            Some('+') => Ink::Good,
            Some('@') => Ink::Faint,
            _ => Ink::Plain,
        };
        let painted = output.paint(ink, &line);
        output.line(&painted)?;
    }
    Ok(Exit::Ok)
}
