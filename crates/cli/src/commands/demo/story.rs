//! Authors and their articles: what authors request, which rule Almanack applies, and what the
//! service does.

use std::collections::{BTreeMap, BTreeSet};

use almanack_core::{
    reschedule::Rule,
    store::{HistoryPage, Store, TaskFilter},
    task::{Identity, Kind, Status, Subject},
};
use almanack_lab::{
    article::{activity::Activity, event::KIND_PUBLISH, state::State},
    authors::{self, Action, Editor, Move, Outcome},
    flaky::Fault,
};
use jiff::Timestamp;

use super::line::{Lines, Scene, Who, counted, quoted};
use crate::{failure::Result, output::Ink};

/// What has been printed so far.
#[derive(Default)]
pub(super) struct Story {
    titles: BTreeMap<i64, String>,
    /// Articles whose change Almanack has not answered yet.
    awaited: BTreeSet<i64>,
    acts: BTreeMap<&'static str, u64>,
    rules: BTreeMap<&'static str, u64>,
    published: BTreeMap<i64, u64>,
    without_effect: u64,
    /// Faults of the article service that were met.
    pub(super) faults: u64,
}

impl Story {
    /// Reports what an author did.
    pub(super) fn author(&mut self, act: &authors::AuthorActivity, lines: &mut Lines) {
        lines.now = act.at;
        let Outcome::Accepted { article_id } = act.outcome else {
            return lines.add(Who::Author, Ink::Faint, "too late; nothing changed");
        };
        if let Action::Write { title, .. } = &act.action {
            self.titles.insert(article_id, title.clone());
        }
        let title = self.title(article_id);
        let (name, did) = match &act.action {
            Action::Write { publish_at, .. } => {
                let when = lines.until(*publish_at);
                let did = lines.pick(
                    format!("wrote {title}, to be published {when}"),
                    format!("写了 {title}，定于 {when}发布"),
                );
                self.count("written", article_id);
                return lines.add_scene(Scene::ArticleWritten, Who::Author, Ink::Plain, did);
            }
            Action::Move(change) => {
                let when = lines.until(change.publish_at);
                let did = format!("rescheduled {title} to be published {when}");
                ("rescheduled", did)
            }
            Action::Withdraw { .. } => ("withdrawn", format!("withdrew {title}")),
        };
        self.count(name, article_id);
        lines.add(Who::Author, Ink::Plain, did);
    }

    /// Counts an accepted change, which Almanack will answer.
    fn count(&mut self, act: &'static str, article_id: i64) {
        *self.acts.entry(act).or_default() += 1;
        self.awaited.insert(article_id);
    }

    /// Reschedules an article during its publish attempt. Returns whether there was one.
    pub(super) async fn interrupt(
        &mut self,
        (store, editor): (&dyn Store, &Editor),
        publish_at: Timestamp,
        lines: &mut Lines,
    ) -> Result<bool> {
        let filter = TaskFilter {
            kind: Kind::parse(KIND_PUBLISH).ok(),
            status: Some(Status::Running),
            limit: 1,
            ..TaskFilter::default()
        };
        let running = store.list_tasks(&filter).await?.rows;
        let Some(task) = running.first() else {
            return Ok(false);
        };
        let subject = task.identity.subject.as_str().strip_prefix("article:");
        let Some(article_id) = subject.and_then(|id| id.parse().ok()) else {
            return Ok(false);
        };
        let change = Move {
            article_id,
            from: task.execute_at,
            publish_at,
        };
        let Outcome::Accepted { .. } = editor.act(&Action::Move(change)).await else {
            return Ok(false);
        };
        self.count("rescheduled during an attempt", article_id);
        let (title, when) = (self.title(article_id), lines.until(publish_at));
        let what = lines.pick(
            format!("rescheduled {title} to be published {when}, during a publish attempt"),
            format!("在发布进行之中把 {title} 改到 {when}"),
        );
        lines.add_scene(Scene::ChangedWhileRunning, Who::Editor, Ink::Notable, what);
        Ok(true)
    }

    /// Reports what the article service did.
    pub(super) async fn service(
        &mut self,
        activity: &Activity,
        store: &dyn Store,
        lines: &mut Lines,
    ) -> Result<()> {
        let (ink, what) = match activity {
            Activity::EventsSettled { .. } => return self.answers(store, lines).await,
            Activity::Published { article_id } => {
                *self.published.entry(*article_id).or_default() += 1;
                let title = self.title(*article_id);
                let what = lines.pick(format!("published {title}"), format!("发布了 {title}"));
                lines.add_scene(Scene::ArticlePublished, Who::Service, Ink::Good, what);
                return Ok(());
            }
            Activity::Audited {
                article_id,
                state: State::AutoAuditFailed,
            } => {
                let title = self.title(*article_id);
                (Ink::Bad, format!("audit rejected {title}"))
            }
            Activity::WithoutEffect { article_id, code } => {
                self.without_effect += 1;
                let title = self.title(*article_id);
                let what = lines.pick(
                    format!("a call for {title} had no effect ({code})"),
                    format!("对 {title} 的一次调用没有生效（{code}）"),
                );
                lines.add_scene(Scene::CallWithoutEffect, Who::Service, Ink::Faint, what);
                return Ok(());
            }
            Activity::Faulted { task_id, fault } => {
                self.faults += 1;
                match misbehaved(*fault) {
                    Some(did) => (Ink::Bad, format!("task {task_id}: {did}")),
                    None => return Ok(()),
                }
            }
            Activity::AlmanackAway { reason } => {
                (Ink::Bad, format!("Almanack does not respond: {reason}"))
            }
            Activity::Audited { .. } => return Ok(()),
        };
        lines.add(Who::Service, ink, what);
        Ok(())
    }

    /// What Almanack decided about the changes it has just received.
    async fn answers(&mut self, store: &dyn Store, lines: &mut Lines) -> Result<()> {
        for article_id in std::mem::take(&mut self.awaited) {
            let Some(identity) = publication(article_id) else {
                continue;
            };
            let page = HistoryPage {
                before: None,
                limit: 1,
            };
            let records = store.load_history(&identity, page).await?;
            let (Some(task), last) = (records.tasks.last(), records.decisions.last()) else {
                self.awaited.insert(article_id);
                continue;
            };
            let rule = last.map_or(Rule::Created, |decision| decision.rule);
            *self.rules.entry(rule.as_str()).or_default() += 1;
            let title = self.title(article_id);
            let due = match rule {
                Rule::Cancelled => String::new(),
                _ => format!(", due {}", lines.until(task.execute_at)),
            };
            let task = task.id;
            let what = match rule {
                Rule::CancelledAndInserted => lines.pick(
                    format!("task {task} for {title}: {}{due}", explained(rule)),
                    format!("任务 {task}（{title}）：{rule}，正在进行的尝试作废，由新任务代替"),
                ),
                _ => format!("task {task} for {title}: {}{due}", explained(rule)),
            };
            let scene = (rule == Rule::CancelledAndInserted).then_some(Scene::ChangeDecided);
            lines.push(Who::Almanack, Ink::Notable, what, scene);
        }
        Ok(())
    }

    /// What authors requested, and the results.
    pub(super) fn summary(&self) -> String {
        let twice = self.published.values().filter(|times| **times > 1).count();
        format!(
            "{} published, {twice} of them twice; {}; {} without effect",
            counted(self.published.len(), "article"),
            list(&self.acts),
            counted(self.without_effect, "call"),
        )
    }

    /// How often each rule was applied.
    pub(super) fn rules(&self) -> String {
        list(&self.rules)
    }

    fn title(&self, article_id: i64) -> String {
        let title = self.titles.get(&article_id);
        title.map_or_else(|| format!("article {article_id}"), |title| quoted(title))
    }
}

fn list(counts: &BTreeMap<&str, u64>) -> String {
    if counts.is_empty() {
        return "nothing".to_owned();
    }
    let parts = counts.iter().map(|(name, n)| format!("{n} {name}"));
    parts.collect::<Vec<_>>().join(", ")
}

/// The rule's name, with an explanation where it needs one.
fn explained(rule: Rule) -> String {
    let name = rule.as_str();
    match rule {
        Rule::CancelledAndInserted => {
            format!("{name} (the running attempt no longer counts; a new task replaces it)")
        }
        _ => name.to_owned(),
    }
}

/// The injected fault in words; a delay is not printed.
fn misbehaved(fault: Fault) -> Option<&'static str> {
    match fault {
        Fault::None | Fault::Delay(_) => None,
        Fault::Refuse => Some("refused a call; Almanack will retry"),
        Fault::LoseReply => Some("did its work and lost the response; Almanack will retry"),
    }
}

fn publication(article_id: i64) -> Option<Identity> {
    let subject = Subject::parse(&format!("article:{article_id}")).ok()?;
    Some(Identity {
        subject,
        kind: Kind::parse(KIND_PUBLISH).ok()?,
    })
}
