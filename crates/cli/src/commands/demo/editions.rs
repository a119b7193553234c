//! Reports how editions are built, step by step.

use std::collections::{BTreeMap, BTreeSet};

use almanack_adapters::alert::Language;
use almanack_core::{
    edition::{Account, EditionId, State, batch, delivery},
    store::{EditionFilter, Store},
};

use super::line::{Lines, Scene, Who, counted};
use crate::{failure::Result, output::Ink};

/// Editions to read: the newest, and the previous one, which may still be open.
const EDITIONS_MAX: usize = 2;

/// A line about an edition.
type News = (Option<Scene>, Ink, String);

/// What was printed about one edition.
#[derive(Debug, Default)]
struct Progress {
    state: Option<State>,
    batches: BTreeSet<u32>,
    /// Reasons of destinations that refused it.
    refusals: BTreeSet<String>,
    version: i64,
    requests: u32,
    /// Its stories and destinations, once it is published.
    published: Option<(u32, usize)>,
}

impl Progress {
    /// What has not been printed yet.
    fn news(&mut self, account: &Account, language: Language) -> Vec<News> {
        let mut news = Vec::new();
        let state = account.edition.state;
        let before = self.state.replace(state);
        self.requests = account.requests();
        if state == State::Published {
            self.published = Some((account.counts().completed, destinations(account).len()));
        }
        if before.is_none() {
            news.push((None, Ink::Plain, "started".to_owned()));
        }
        if before.is_none_or(|it| it < State::ListFetched) && !account.stories.is_empty() {
            let total = account.counts().total;
            let what = language.choose(
                format!("{} chosen from the news site", counted(total, "story")),
                format!("从新闻站选出 {total} 篇"),
            );
            news.push((Some(Scene::StoriesChosen), Ink::Plain, what));
        }
        for batch in &account.batches {
            if batch.status != batch::Status::Running && self.batches.insert(batch.index) {
                let what = batch_line(batch, account, language);
                news.push((Some(Scene::BatchDone), batch_ink(batch.status), what));
            }
        }
        if before != Some(state) {
            news.extend(arrived(account, language));
        }
        for delivery in &account.deliveries {
            let refused = delivery.state == delivery::State::Failed;
            let Some(why) = delivery.detail.as_deref().filter(|_| refused) else {
                continue;
            };
            let what = format!("{} refused it, will retry: {why}", delivery.destination);
            if self.refusals.insert(what.clone()) {
                news.push((None, Ink::Bad, what));
            }
        }
        news
    }
}

/// The line for an edition that has just reached its state.
fn arrived(account: &Account, language: Language) -> Option<News> {
    let state = account.edition.state;
    match state {
        State::Aggregating => Some((None, Ink::Plain, "rendered; delivering".to_owned())),
        State::Published => {
            let scene = Some(Scene::EditionPublished);
            Some((scene, Ink::Good, published(account, language)))
        }
        State::Empty | State::Archived => {
            let why = account.edition.reason.as_deref().unwrap_or_default();
            Some((None, Ink::Bad, format!("{state}: {why}")))
        }
        State::Init | State::ListFetched | State::Processing => None,
    }
}

/// What has been printed about editions.
#[derive(Debug, Default)]
pub(super) struct Editions {
    progress: BTreeMap<EditionId, Progress>,
}

impl Editions {
    /// Reads the newest editions for changes.
    pub(super) async fn look(&mut self, store: &dyn Store, lines: &mut Lines) -> Result<()> {
        let filter = EditionFilter {
            limit: EDITIONS_MAX,
            ..EditionFilter::default()
        };
        for line in store.list_editions(&filter).await?.into_iter().rev() {
            let edition = line.edition;
            let progress = self.progress.entry(edition.id).or_default();
            if progress.version == edition.version && progress.state.is_some() {
                continue;
            }
            progress.version = edition.version;
            let Some(account) = store.load_account(edition.id).await? else {
                continue;
            };
            for (scene, ink, what) in progress.news(&account, lines.language) {
                let what = format!("{}: {what}", edition.id);
                lines.push(Who::Edition, ink, what, scene);
            }
        }
        Ok(())
    }

    pub(super) fn prepares(&self) -> String {
        let requests: u32 = self.progress.values().map(|it| it.requests).sum();
        let batches: usize = self.progress.values().map(|it| it.batches.len()).sum();
        format!(
            "{} in {}, {} to news site, pages and model",
            counted(self.progress.len(), "edition"),
            counted(batches, "batch"),
            counted(requests, "request"),
        )
    }

    /// What was published, and where.
    pub(super) fn publishes(&self) -> String {
        let published = self.progress.iter().filter_map(|(id, progress)| {
            let (stories, places) = progress.published?;
            Some(format!(
                "edition {id} with {stories} stories at {places} destinations"
            ))
        });
        match published.collect::<Vec<_>>() {
            none if none.is_empty() => "no edition yet".to_owned(),
            all => all.join("; "),
        }
    }
}

fn batch_ink(status: batch::Status) -> Ink {
    match status {
        batch::Status::Success => Ink::Plain,
        batch::Status::Running | batch::Status::Partial => Ink::Notable,
        batch::Status::Failed => Ink::Bad,
    }
}

fn batch_line(batch: &batch::Batch, account: &Account, language: Language) -> String {
    let before = account.batches.iter().filter(|it| it.index <= batch.index);
    let taken: u32 = before.map(|it| it.story_count).sum();
    let (index, count, total) = (batch.index, batch.story_count, account.counts().total);
    let requests = batch.spend.requests;
    language.choose(
        format!(
            "batch {index} read, translated and summarized {count} stories with {}; \
             {taken} of {total} done",
            counted(requests, "request"),
        ),
        format!(
            "第 {index} 批阅读、翻译、摘要了 {count} 篇，用了 {requests} 次请求；已完成 {taken}/{total}"
        ),
    )
}

/// The destinations that have confirmed all parts.
fn destinations(account: &Account) -> BTreeSet<&str> {
    let deliveries = account.deliveries.iter();
    let confirmed = deliveries.filter(|it| it.state == delivery::State::Confirmed);
    confirmed.map(|it| it.destination.as_str()).collect()
}

fn published(account: &Account, language: Language) -> String {
    let places: Vec<&str> = destinations(account).into_iter().collect();
    let took = account.edition.published_at;
    let took = took.map(|at| at.duration_since(account.edition.created_at));
    let took = took.map(crate::when::took).unwrap_or_default();
    let (completed, places) = (account.counts().completed, places.join(", "));
    language.choose(
        format!(
            "PUBLISHED with {completed} stories to {places} and its own pages, \
             {took} after it started"
        ),
        format!("已发布 {completed} 篇，送达 {places} 和自带页面，距开始 {took}"),
    )
}
