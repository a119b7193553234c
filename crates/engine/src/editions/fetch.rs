//! The list of an edition's stories (ED-03, ED-04).

use std::sync::Arc;

use almanack_core::{
    budget::Budget,
    edition::{
        Account,
        day::{day_before, day_of},
        port::{Failure, FailureClass, Sensitivity, Wanted},
        story::Listed,
        turn,
    },
};
use jiff::civil::Date;

use super::{Editions, Error};
use crate::wake::later;

impl Editions {
    /// Fetches the list and writes it. `false` if it could not be had. A run that finds another at
    /// it has not failed: the next plan waits for them.
    pub(super) async fn fetch(
        &self,
        account: &Account,
        budget: &Arc<Budget>,
    ) -> Result<bool, Error> {
        let (rules, now) = (&self.settings.rules, self.clock.now());
        let start = turn::start_fetch(account, rules, now);
        let lease_until = start.edition.fetching_until.unwrap_or(now);
        if self.write(account, start).await?.is_none() {
            return Ok(true);
        }
        let date = account.edition.date;
        let source = self.outside.source.name().to_owned();
        let over_at = later(self.clock.now(), rules.delivery_time);
        let extend = |account: &Account, held, now| turn::extend_fetch(account, held, rules, now);
        let listed = tokio::select! {
            biased;
            listed = self.stories(date, budget) => listed,
            () = self.sleeper.until(over_at) => {
                Err(Failure::new(FailureClass::Transient, "fetching the list exceeded its time limit"))
            }
            () = self.hold_strictly(date, lease_until, extend) => {
                tracing::warn!(edition.date = %date, "fetching the story list outlasted its lease; discarding this list");
                return Ok(true);
            }
        };
        let failed = listed.as_ref().err().cloned();
        if let Some(failure) = &failed {
            tracing::error!(edition.date = %date, error = failure.detail, class = failure.class.as_str(), "could not fetch the story list; the next tick will retry");
        }
        let written = self
            .turn(date, |account, now| {
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
                tracing::info!(edition.date = %date, requests = budget.spent(), "story list fetched");
            }
            (None, None) => {
                tracing::info!(edition.date = %date, "the edition already has its stories; discarding this list");
            }
            _ => {}
        }
        Ok(failed.is_none())
    }

    async fn stories(&self, date: Date, budget: &Arc<Budget>) -> Result<Vec<Listed>, Failure> {
        let (now, limit) = (self.clock.now(), self.settings.rules.stories);
        let (day_start, day_end) = day_before(date, &self.settings.zone);
        let wanted = Wanted {
            date,
            is_today: day_of(now, &self.settings.zone) == date,
            day_start,
            day_end,
            now,
            // The filter takes some away.
            limit: limit + self.settings.filter.map_or(0, |_| limit / 2),
        };
        let mut listed = self.outside.source.list(&wanted, budget).await?;
        if listed.is_empty() {
            let detail = format!(
                "{} returned no stories for this day",
                self.outside.source.name()
            );
            return Err(Failure::new(FailureClass::Unusable, detail));
        }
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
