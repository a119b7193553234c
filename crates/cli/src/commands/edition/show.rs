//! Documents, as stored and as rendered now.

use similar::TextDiff;

use crate::commands::prelude::*;

/// Prints a document: to people the Markdown, to programs with everything it was made from.
pub(super) async fn print(client: &Client, call: Call, output: &mut Output) -> Done {
    let accept = output.json.then_some("application/json");
    let document = client.call(call.header("accept", accept)).await?;
    output.show(&document, |output, _| output.raw(document.text()))
}

/// Reports that nothing differs, or what does.
pub(super) fn prove(rebuilt: &Answer, output: &mut Output) -> Done {
    let answer = rebuilt.value();
    let date = super::identified(&answer);
    if answer["identical"] != true {
        let difference = first_difference(&text(&answer["kept"]), &text(&answer["body"]));
        let what = match difference {
            Some(difference) => {
                format!("the edition of {date} renders differently: {difference}")
            }
            None => {
                format!("the edition of {date} renders the same, but its stored copy was changed")
            }
        };
        return Err(Failure::failed(what));
    }
    output.report(rebuilt, |it| {
        let (revision, digest) = (&it["revision"], text(&it["body_digest"]));
        format!("identical: revision {revision} of {date}, SHA-256 {digest}")
    })
}

/// Shows what another template changes.
pub(super) fn compare(rebuilt: &Answer, output: &mut Output) -> Done {
    output.show(rebuilt, |output, answer| {
        let (kept, body) = (text(&answer["kept"]), text(&answer["body"]));
        if kept == body {
            output.line("identical: this template changes nothing")?;
        }
        let diff = TextDiff::from_lines(&kept, &body);
        let diff = diff.unified_diff().missing_newline_hint(false).to_string();
        diff.lines().try_for_each(|line| {
            let ink = match line.chars().next() {
                Some('-') => Ink::Bad,
                Some('+') => Ink::Good,
                Some('@') => Ink::Faint,
                _ => Ink::Plain,
            };
            output.line(&output.paint(ink, line))
        })
    })
}

/// Where two texts first differ, in words; none if they do not.
fn first_difference(before: &str, after: &str) -> Option<String> {
    if before == after {
        return None;
    }
    let (was, is): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let line = was
        .iter()
        .zip(&is)
        .take_while(|(was, is)| was == is)
        .count();
    if line == was.len() && line == is.len() {
        return Some("only the line breaks differ".to_owned());
    }
    let shown = |lines: &[&str]| match lines.get(line) {
        Some(text) => format!("`{text}`"),
        None => "the end".to_owned(),
    };
    Some(format!(
        "line {} was {} and is {}",
        line + 1,
        shown(&was),
        shown(&is)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named_by_its_line() {
        for (before, after, expected) in [
            ("a\nb\n", "a\nb\n", None),
            ("a\nb\n", "a\nc\n", Some("line 2 was `b` and is `c`")),
            ("a\n", "a\nb\n", Some("line 2 was the end and is `b`")),
            ("a", "a\n", Some("only the line breaks differ")),
        ] {
            let difference = first_difference(before, after);
            assert_eq!(difference.as_deref(), expected, "{before:?}");
        }
    }
}
