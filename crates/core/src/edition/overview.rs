//! What opens an edition: a few sentences about the whole.
//!
//! A model writes them once, in one request, beside the summaries of the last batch of stories:
//! from titles and the first sentences of pages ([`draft`]), so that nobody waits for it; under that
//! batch's lease, so that no two nodes pay for it, and out of its budget. Without one, or where it
//! could not, the first stories speak for themselves (ED-36): a line each, with the title and the
//! first sentence of the summary. Nothing is made up, and no sentence of one story runs into that of
//! another.

use super::{
    Account,
    document::Printed,
    port::Article,
    story::{Status, Story},
    summary::{describe, sentences, shorten},
};

/// Stories that an overview names.
const STORIES_MAX: usize = 3;
/// How long the sentence of a story may be, in characters. A longer one is left out rather than
/// cut: a title alone is a line, too.
const SENTENCE_CHARS_MAX: usize = 180;
/// How much of a page a draft holds, in characters.
const DRAFT_CHARS_MAX: usize = 300;
/// Longest overview that a model may write, in characters.
pub const CHARS_MAX: usize = 600;

/// Whether the batch that works on `stories` is the one that opens the edition: nobody has tried
/// to, and no story is left to another batch.
pub fn is_due(account: &Account, stories: &[Story]) -> bool {
    let is_own = |story: &Story| {
        let key = &story.listed.key;
        stories.iter().any(|own| own.listed.key == *key)
    };
    let is_open = |story: &Story| matches!(story.status, Status::Pending | Status::Processing);
    let open = account.stories.iter().filter(|story| is_open(story));
    account.edition.overview.is_none() && open.into_iter().all(is_own)
}

/// A story as far as it is known once its page was looked at: its own title, and the first
/// sentences of the page.
pub fn draft(story: &Story, article: Option<&Article>) -> Printed {
    let sentences = article.map(|article| {
        let description = article.description.as_deref();
        describe(&article.text, description, DRAFT_CHARS_MAX)
    });
    Printed {
        content_summary: sentences.filter(|sentences| !sentences.is_empty()),
        ..Printed::from(story)
    }
}

/// What opens the document of an edition.
pub fn of(account: &Account, stories: &[Printed]) -> Option<String> {
    let written = account.edition.overview.as_ref();
    let written = written.filter(|overview| !overview.is_empty());
    written.cloned().or_else(|| extract(stories))
}

/// A line for each of the first stories that have a summary; none where no story has one.
pub fn extract(stories: &[Printed]) -> Option<String> {
    let lines = stories.iter().filter_map(line).take(STORIES_MAX);
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn line(story: &Printed) -> Option<String> {
    let summary = story.content_summary.as_deref()?;
    let first = sentences(summary).into_iter().next()?;
    let first = first.split_whitespace().collect::<Vec<_>>().join(" ");
    let title = story.title.split_whitespace().collect::<Vec<_>>().join(" ");
    let fits = first.chars().count() <= SENTENCE_CHARS_MAX && !first.ends_with('…');
    let says_more = first.trim_end_matches(['.', '。']) != title;
    Some(match (fits && says_more, title.is_empty()) {
        (_, true) => shorten(&first, SENTENCE_CHARS_MAX),
        (true, false) => format!("{title} — {first}"),
        (false, false) => title,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edition::fixture::{account, listed};

    fn story(title: &str, summary: Option<&str>) -> Printed {
        let mut story = Story::new(listed(1), 1, crate::edition::fixture::NOW);
        story.listed.title = title.to_owned();
        story.written.content_summary = summary.map(str::to_owned);
        Printed::from(&story)
    }

    #[test]
    fn the_last_batch_opens_the_edition_and_no_other() {
        use Status::{Completed, Failed, Pending, Processing};
        for (statuses, own, expected, why) in [
            (vec![Completed, Processing], 1..2, true, "the last one"),
            (vec![Pending, Processing], 1..2, false, "one waits"),
            (
                vec![Processing, Processing],
                1..2,
                false,
                "another batch has one",
            ),
            (
                vec![Failed, Processing],
                1..2,
                true,
                "what failed may never come",
            ),
        ] {
            let mut account = account(&statuses);
            let own = account.stories[own].to_vec();
            assert_eq!(is_due(&account, &own), expected, "{why}");
            account.edition.overview = Some(String::new());
            assert!(!is_due(&account, &own), "it was tried: {why}");
        }
    }

    #[test]
    fn ed_36_an_overview_without_a_model_is_what_the_first_stories_say() {
        let long = "word ".repeat(60);
        let stories = [
            story("Bare", None),
            story("Disks", Some("Disks are slow.  They were\nalways slow.")),
            story("Long", Some(&long)),
            story("数据库", Some("数据库变快了。原因不明。")),
            story("Fourth", Some("It is too late.")),
        ];
        let overview = extract(&stories).unwrap();
        assert_eq!(
            overview,
            "Disks — Disks are slow.\nLong\n数据库 — 数据库变快了。"
        );
        assert_eq!(extract(&stories[..1]), None);
        assert_eq!(extract(&[]), None);
    }
}
