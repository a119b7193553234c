//! No story twice within the stated days (ED-40), and no story with the text of another (ED-37).
//!
//! Judged is what nobody can have overlooked: stories of editions that were published before the
//! first look at this list began.

use std::collections::BTreeMap;

use almanack_core::edition::{
    Account, EditionId, State,
    story::{Note, Status, Story},
};
use jiff::Timestamp;

use super::Write;

/// When things were seen, by the true clock.
#[derive(Default)]
pub(super) struct Times {
    /// The first look at a list.
    began: BTreeMap<EditionId, Timestamp>,
    /// The last write to an edition.
    written: BTreeMap<EditionId, Timestamp>,
}

impl Times {
    pub(super) fn saw(&mut self, write: &Write<'_>, now: Timestamp) {
        let id = write.after.edition.id;
        if write.after.edition.state == State::Init {
            self.began.entry(id).or_insert(now);
        }
        self.written.insert(id, now);
    }

    /// Checks a list against what the editions of earlier days published.
    pub(super) fn check(
        &self,
        write: &Write<'_>,
        known: &BTreeMap<EditionId, Account>,
    ) -> Result<(), String> {
        let (id, days) = (
            write.after.edition.id,
            write.cast.settings.rules.repeat_after_days,
        );
        let came = write.before.edition.state == State::Init && !write.change.stories.is_empty();
        let Some(began) = self.began.get(&id).filter(|_| came) else {
            return Ok(());
        };
        let mut date = id.date;
        for _ in 0..days {
            date = date.yesterday().unwrap_or(date);
            let earlier = EditionId { date, ..id };
            let untouched = self.written.get(&earlier).is_some_and(|at| at < began);
            let Some(account) = known
                .get(&earlier)
                .filter(|it| untouched && it.was_published())
            else {
                continue;
            };
            let mut printed = account.stories.iter();
            let again = printed.find(|story| {
                let is = |new: &&Story| new.listed.url == story.listed.url;
                story.status == Status::Completed && write.change.stories.iter().any(|it| is(&it))
            });
            if let Some(story) = again {
                let key = &story.listed.key;
                return Err(format!(
                    "{key} was published within {days} days, by {earlier}"
                ));
            }
        }
        Ok(())
    }
}

/// A text is about its own story.
pub(super) fn check_text(story: &Story) -> Result<(), String> {
    let (written, key) = (&story.written, &story.listed.key);
    let number = key.0.rsplit(':').next().unwrap_or_default();
    let by_model = matches!(written.note, None | Some(Note::ShortSummary));
    let summary = written.content_summary.as_deref().filter(|_| by_model);
    let own = |text: &str| text.ends_with(&format!("article {number}"));
    let title = written.title.as_deref();
    let titled = |text: &str| text.ends_with(&story.listed.title);
    if summary.is_some_and(|text| !own(text)) || title.is_some_and(|text| !titled(text)) {
        return Err(format!(
            "{key} has another story's text: {title:?}, {summary:?}"
        ));
    }
    Ok(())
}
