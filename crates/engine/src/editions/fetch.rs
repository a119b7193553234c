//! The list of an edition's stories (ED-03, ED-04).

use std::{collections::BTreeSet, sync::Arc};

use super::{Editions, Error};
use crate::wake::later;
use almanack_core::{
    budget::Budget,
    edition::{
        Account, EditionId,
        day::{day_before, day_of},
        port::{Failure, FailureClass, Sensitivity, Wanted},
        same,
        story::{Listed, Status},
        turn,
    },
};

/// How many times its own number of stories an edition looks past those of earlier days.
const REPEATS_MAX: usize = 3;

fn unread(error: &almanack_core::store::Error) -> Failure {
    let detail = format!(
        "could not read what was published lately: {}",
        error.chain()
    );
    Failure::new(FailureClass::Transient, detail)
}

impl Editions {
    /// Fetches the list and writes it. `false` if it could not be had. A run that finds another at
    /// it has not failed: the next plan waits for them.
    pub(super) async fn fetch(
        &self,
        account: &Account,
        budget: &Arc<Budget>,
    ) -> Result<bool, Error> {
        let (rules, now) = (&self.settings.rules, self.clock.now());
        let mut start = turn::start_fetch(account, rules, now);
        start.edition.due_at = self.due_at(account.edition.id);
        let lease_until = start.edition.fetching_until.unwrap_or(now);
        if self.write(account, start).await?.is_none() {
            return Ok(true);
        }
        let id = account.edition.id;
        let source = self.outside.source.name().to_owned();
        let over_at = later(self.clock.now(), rules.delivery_time);
        let extend = |account: &Account, held, now| turn::extend_fetch(account, held, rules, now);
        let listed = tokio::select! {
            biased;
            listed = self.stories(id, budget) => listed,
            () = self.sleeper.until(over_at) => {
                Err(Failure::new(FailureClass::Transient, "fetching the list exceeded its time limit"))
            }
            () = self.hold_strictly(id, lease_until, extend) => {
                tracing::warn!(edition.id = %id, "fetching the story list outlasted its lease; discarding this list");
                return Ok(true);
            }
        };
        let failed = listed.as_ref().err().cloned();
        if let Some(failure) = &failed {
            tracing::error!(edition.id = %id, error = failure.detail, class = failure.class.as_str(), "could not fetch the story list; the next tick will retry");
        }
        let written = self
            .turn(id, |account, now| {
                let (spent, source) = (budget.spent(), &source);
                let change = match &listed {
                    Ok(listed) => turn::fetched(account, source, listed.clone(), spent, now),
                    Err(failure) => turn::fetch_failed(account, &failure.detail, spent, now),
                };
                change.map(|change| (change, ()))
            })
            .await?;
        match (&failed, written) {
            (None, Some(_)) => {
                tracing::info!(edition.id = %id, requests = budget.spent(), "story list fetched");
            }
            (None, None) => {
                tracing::info!(edition.id = %id, "the edition already has its stories; discarding this list");
            }
            _ => {}
        }
        Ok(failed.is_none())
    }

    /// The pages that editions of this name published within the days in which no story is repeated,
    /// or may still publish.
    async fn published_pages(&self, id: EditionId) -> Result<BTreeSet<String>, Failure> {
        let days = self.settings.rules.repeat_after_days;
        let mut pages = BTreeSet::new();
        let mut date = id.date;
        for _ in 0..days {
            let Ok(before) = date.yesterday() else {
                break;
            };
            date = before;
            let earlier = self.store.load_account(EditionId::new(id.name, date)).await;
            let earlier = match earlier {
                // What cannot be read must not hold up this edition (SF-06).
                Err(error) if error.is_unreadable() => continue,
                earlier => earlier.map_err(|error| unread(&error))?,
            };
            let earlier = earlier.filter(Account::may_have_readers);
            let stories = earlier.map(|account| account.stories).unwrap_or_default();
            let printed = stories
                .iter()
                .filter(|story| story.status == Status::Completed);
            pages.extend(printed.map(|story| same::page_of(&story.listed.url)));
        }
        Ok(pages)
    }

    async fn stories(&self, id: EditionId, budget: &Arc<Budget>) -> Result<Vec<Listed>, Failure> {
        let (now, limit, date) = (self.clock.now(), self.settings.rules.stories, id.date);
        let published = self.published_pages(id).await?;
        let (day_start, day_end) = day_before(date, &self.settings.zone);
        let wanted = Wanted {
            date,
            is_today: day_of(now, &self.settings.zone) == date,
            day_start,
            day_end,
            now,
            // The filter takes some away, and so does what was published lately.
            limit: limit
                + self.settings.filter.map_or(0, |_| limit / 2)
                + published.len().min(limit * REPEATS_MAX),
        };
        let mut listed = self.outside.source.list(&wanted, budget).await?;
        if listed.is_empty() {
            let detail = format!(
                "{} returned no stories for this day",
                self.outside.source.name()
            );
            return Err(Failure::new(FailureClass::Unusable, detail));
        }
        listed = same::without(listed, &published);
        // A filter that leaves nothing has judged: asking again would give the same answer. The
        // edition ends empty.
        if let Some(sensitivity) = self.settings.filter {
            listed = self.filtered(listed, sensitivity, budget).await;
        }
        listed.truncate(limit);
        Ok(listed)
    }

    /// Leaves out what the filter refuses. A filter that does not answer refuses nothing.
    async fn filtered(
        &self,
        listed: Vec<Listed>,
        sensitivity: Sensitivity,
        budget: &Arc<Budget>,
    ) -> Vec<Listed> {
        let titles: Vec<String> = listed.iter().map(|story| story.title.clone()).collect();
        let judged = self
            .outside
            .writer
            .judge(&titles, sensitivity, budget)
            .await;
        let safe = match judged {
            Ok(safe) if safe.len() == listed.len() => safe,
            Ok(_) => {
                tracing::warn!(
                    "the content filter answered for a different number of titles; all titles pass"
                );
                return listed;
            }
            Err(failure) => {
                tracing::warn!(
                    error = failure.detail,
                    "the content filter did not answer; all titles pass"
                );
                return listed;
            }
        };
        let kept: Vec<Listed> = listed
            .into_iter()
            .zip(&safe)
            .filter_map(|(story, safe)| safe.then_some(story))
            .collect();
        let dropped = safe.len() - kept.len();
        if dropped * 2 > safe.len() {
            tracing::warn!(
                dropped,
                titles = safe.len(),
                "the content filter dropped more than half of the titles"
            );
        }
        kept
    }
}
