//! One batch: titles, pages, comments and summaries, side by side, out of one budget (ED-07).
//!
//! What is done for each story, and how much of it, is the ladder's (`ladder.rs`). In a chain
//! several batches are worked on at once.

use std::sync::{Arc, Mutex};

use almanack_core::{
    budget::Budget,
    edition::{
        Account,
        batch::{Batch, estimate},
        ladder,
        rules::spendthrift_over,
        story::{Story, StoryKey},
        turn::{self, Ending},
    },
    locked,
};
use futures_util::future::join_all;

use super::{Editions, Error, ladder::Work, overview::Opening};
use crate::wake::later;

/// How stories ended, so far.
type Endings = Vec<(StoryKey, Ending)>;

/// Batches that are worked on at once.
pub(super) struct Wave<'a> {
    batches: usize,
    /// The stories of all of them.
    pub(super) stories: &'a [Story],
    /// What opens the edition, if these are its last batches and there is a request left for it.
    pub(super) opening: Option<Opening>,
    /// How many of them were worked on to their end, and what came of it.
    ended: Mutex<(usize, Endings)>,
}

impl<'a> Wave<'a> {
    fn new(batches: usize, stories: &'a [Story], opening: Option<Opening>) -> Self {
        Self {
            batches,
            stories,
            opening,
            ended: Mutex::default(),
        }
    }

    /// Adds what came of a batch: all there is, if it was the last one. A batch that was lost is
    /// waited for in vain, and its stories come again in another.
    fn ended(&self, endings: &[(StoryKey, Ending)]) -> Option<Endings> {
        let mut ended = locked(&self.ended);
        ended.0 += 1;
        ended.1.extend_from_slice(endings);
        (ended.0 == self.batches).then(|| ended.1.clone())
    }
}

impl Editions {
    /// Works on stories as one batch, or as several at once, and writes down how each ended, unless
    /// another run was faster. Each spends at most a tick's budget (ED-08).
    pub(super) async fn process(
        &self,
        account: &Account,
        wave: &[Vec<StoryKey>],
        budget: &Arc<Budget>,
    ) -> Result<(), Error> {
        let (settings, now) = (&self.settings, self.clock.now());
        let started = turn::start_wave(account, wave, &settings.node, &settings.rules, now);
        let Some((change, batches)) = started else {
            return Ok(());
        };
        let stories = change.stories.clone();
        if self.write(account, change).await?.is_none() {
            return Ok(());
        }
        let longest = wave.iter().map(Vec::len).max().unwrap_or_default();
        let has_room = settings.rules.budget > estimate(longest);
        let opening = has_room.then(|| Opening::of(account, &stories)).flatten();
        let wave = Wave::new(batches.len(), &stories, opening);
        let all = batches.iter().map(|batch| {
            let own = |story: &&Story| story.batch == Some(batch.index);
            let stories: Vec<Story> = stories.iter().filter(own).cloned().collect();
            let budget = Budget::part(budget, settings.rules.budget);
            let wave = &wave;
            async move {
                let means = (wave, &budget);
                self.carry_out(account, batch, &stories, means).await
            }
        });
        join_all(all).await.into_iter().collect()
    }

    /// Works on a batch that was begun.
    async fn carry_out(
        &self,
        account: &Account,
        batch: &Batch,
        stories: &[Story],
        (wave, budget): (&Wave<'_>, &Arc<Budget>),
    ) -> Result<(), Error> {
        let (id, rules) = (account.edition.id, &self.settings.rules);
        let work = Work {
            rung: ladder::rung(account, rules, batch.started_at),
            hurry_at: ladder::hurry_at(account, rules),
            last_chance: ladder::is_last_chance(account, rules, batch.started_at),
            // Counted from when it was decided: a slow answer of the store shortens the time, and
            // never extends it.
            over_at: later(batch.started_at, rules.batch_time),
            opening: wave.opening.as_ref(),
        };
        if self.clock.now() >= work.over_at {
            tracing::warn!(edition.id = %id, batch.index = batch.index, "the store answered too late to work on a batch; the batch returns when its lease expires");
            return Ok(());
        }
        let work = async {
            let endings = self.work(stories, &work, budget).await;
            let overview = match wave.ended(&endings) {
                Some(all) => {
                    let means = (budget, &work);
                    self.overview(account, wave, &all, means).await
                }
                None => None,
            };
            (endings, overview)
        };
        let extend = |account: &Account, now| turn::extend_batch(account, batch.index, rules, now);
        let (endings, overview) = tokio::select! {
            biased;
            worked = work => worked,
            () = self.hold(id, extend) => (Vec::new(), None),
        };
        let ended = self
            .turn(id, |account, now| {
                let spend = budget.spend();
                let mut change =
                    turn::end_batch(account, batch.index, &endings, spend, rules, now)?;
                if let Some(overview) = &overview {
                    self.opens_with(overview, &mut change.edition);
                }
                let ended = change.batches.first().cloned();
                Some((change, ended))
            })
            .await?;
        match ended.and_then(|(_, ended)| ended) {
            Some(ended) => record(account, &ended),
            None => {
                tracing::warn!(edition.id = %id, batch.index = batch.index, "a batch ended after its lease had expired; its work is discarded");
            }
        }
        Ok(())
    }
}

fn record(account: &Account, batch: &Batch) {
    let (status, spend) = (batch.status.as_str(), batch.spend);
    let duration_ms = batch.duration_ms().unwrap_or_default();
    metrics::counter!("almanack_edition_batches_total", "status" => status).increment(1);
    metrics::counter!("almanack_edition_requests_total").increment(u64::from(spend.requests));
    metrics::counter!("almanack_edition_tokens_total", "direction" => "in")
        .increment(spend.tokens_in);
    metrics::counter!("almanack_edition_tokens_total", "direction" => "out")
        .increment(spend.tokens_out);
    let most = spendthrift_over(batch.story_count);
    if spend.requests > most {
        metrics::counter!("almanack_edition_spendthrift_batches_total").increment(1);
        tracing::warn!(edition.id = %account.edition.id, batch.index = batch.index, requests = spend.requests, "a batch spent more than {most} requests; consider a smaller batch size");
    }
    tracing::info!(
        edition.id = %account.edition.id,
        batch.index = batch.index,
        batch.status = status,
        stories = batch.story_count,
        requests = spend.requests,
        duration_ms,
        "a batch ended"
    );
}
