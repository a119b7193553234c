//! Telling the demo: one line per happening, and what it all came to.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    path::Path,
    sync::Arc,
};

use almanack_core::{
    reschedule::Rule,
    store::Store,
    task::{Identity, Kind, Subject},
};
use almanack_world::{
    article::{event::KIND_PUBLISH, happening::Happening, state::State},
    authors::{self, Action},
    flaky::Fault,
};
use jiff::Timestamp;

use crate::{
    failure::Failure,
    output::{Ink, Output},
};

/// What has been told so far.
pub(super) struct Story {
    store: Arc<dyn Store>,
    titles: BTreeMap<i64, String>,
    /// Articles whose change Almanack has not answered yet.
    awaited: BTreeSet<i64>,
    acts: BTreeMap<&'static str, u32>,
    rules: BTreeMap<&'static str, u32>,
    published: BTreeMap<i64, u32>,
    without_effect: u32,
    faults: u32,
}

impl Story {
    /// Says where everything is.
    pub(super) fn begin(
        store: Arc<dyn Store>,
        almanack: SocketAddr,
        service: &str,
        folder: &Path,
        output: &mut Output,
    ) -> Result<Self, Failure> {
        output.line(
            "Almanack decides when to try; your services decide whether it takes effect.\n",
        )?;
        output.line(&format!("  Almanack         http://{almanack}/api/docs"))?;
        output.line(&format!("  article service  {service}/articles"))?;
        output.line(&format!("  files            {}", folder.display()))?;
        output.line("\nAuthors write, move and withdraw articles. Ctrl-C ends the show.\n")?;
        output.flush()?;
        Ok(Self {
            store,
            titles: BTreeMap::new(),
            awaited: BTreeSet::new(),
            acts: BTreeMap::new(),
            rules: BTreeMap::new(),
            published: BTreeMap::new(),
            without_effect: 0,
            faults: 0,
        })
    }

    /// An author did something.
    pub(super) fn author(
        &mut self,
        act: &authors::Happening,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let authors::Outcome::Accepted { article_id, .. } = act.outcome else {
            return tell(
                act.at,
                "author",
                Ink::Faint,
                "came too late; nothing changed",
                output,
            );
        };
        let (name, did) = match &act.action {
            Action::Write {
                title, publish_at, ..
            } => {
                self.titles.insert(article_id, title.clone());
                (
                    "written",
                    format!("wrote “{title}”, to appear {}", until(act.at, *publish_at)),
                )
            }
            Action::MoveEarlier(change) | Action::MoveLater(change) => {
                let when = until(act.at, change.publish_at);
                (
                    "moved",
                    format!("moved “{}” to appear {when}", self.title(article_id)),
                )
            }
            Action::Withdraw { .. } => (
                "withdrawn",
                format!("withdrew “{}”", self.title(article_id)),
            ),
        };
        *self.acts.entry(name).or_default() += 1;
        self.awaited.insert(article_id);
        tell(act.at, "author", Ink::Plain, &did, output)
    }

    /// The article service saw something.
    pub(super) async fn service(
        &mut self,
        happening: &Happening,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let now = almanack_world::clock::system()();
        match happening {
            Happening::EventsSettled { .. } => self.answers(now, output).await,
            Happening::Published { article_id } => {
                *self.published.entry(*article_id).or_default() += 1;
                let told = format!("PUBLISHED “{}”", self.title(*article_id));
                tell(now, "service", Ink::Good, &told, output)
            }
            Happening::Audited {
                article_id,
                state: State::AutoAuditFailed,
            } => {
                let told = format!("the audit refused “{}”", self.title(*article_id));
                tell(now, "service", Ink::Bad, &told, output)
            }
            Happening::WithoutEffect { article_id, code } => {
                self.without_effect += 1;
                let told = format!(
                    "a call for “{}” had no effect ({code})",
                    self.title(*article_id)
                );
                tell(now, "service", Ink::Faint, &told, output)
            }
            Happening::Faulted { task_id, fault } => {
                self.faults += 1;
                let told = format!("task {task_id}: {}", misbehaved(*fault));
                tell(now, "service", Ink::Bad, &told, output)
            }
            Happening::AlmanackAway { reason } => tell(
                now,
                "service",
                Ink::Bad,
                &format!("Almanack is away: {reason}"),
                output,
            ),
            Happening::Audited { .. } => Ok(()),
        }
    }

    /// What Almanack decided about the changes it has just been told of.
    async fn answers(&mut self, now: Timestamp, output: &mut Output) -> Result<(), Failure> {
        for article_id in std::mem::take(&mut self.awaited) {
            let Some(identity) = publication(article_id) else {
                continue;
            };
            let records = self.store.load_records(&identity).await?;
            let (Some(task), last) = (records.tasks.last(), records.decisions.last()) else {
                self.awaited.insert(article_id);
                continue;
            };
            let rule = last.map_or(Rule::Created, |decision| decision.rule);
            *self.rules.entry(rule.as_str()).or_default() += 1;
            let title = self.title(article_id);
            let told = match rule {
                Rule::Cancelled => format!("task {} for “{title}”: {}", task.id, rule.as_str()),
                _ => format!(
                    "task {} for “{title}”: {}, due {}",
                    task.id,
                    rule.as_str(),
                    until(now, task.execute_at)
                ),
            };
            tell(now, "almanack", Ink::Notable, &told, output)?;
        }
        Ok(())
    }

    /// What it all came to.
    pub(super) fn end(&self, output: &mut Output) -> Result<(), Failure> {
        let list = |counts: &BTreeMap<&str, u32>| {
            let parts: Vec<String> = counts
                .iter()
                .map(|(name, n)| format!("{n} {name}"))
                .collect();
            if parts.is_empty() {
                "nothing".to_owned()
            } else {
                parts.join(", ")
            }
        };
        let twice = self.published.values().filter(|times| **times > 1).count();
        output.line("\nWhat it came to")?;
        output.line(&format!("  authors    {}", list(&self.acts)))?;
        output.line(&format!("  Almanack   {}", list(&self.rules)))?;
        output.line(&format!(
            "  service    {} published, {twice} of them twice; {} without effect, {} survived",
            self.published.len(),
            counted(self.without_effect, "call"),
            counted(self.faults, "fault"),
        ))
    }

    fn title(&self, article_id: i64) -> &str {
        self.titles
            .get(&article_id)
            .map_or("an article", String::as_str)
    }
}

/// What the service did on purpose, so that it can be seen what comes of it.
fn misbehaved(fault: Fault) -> String {
    match fault {
        Fault::None => "behaved".to_owned(),
        Fault::Refuse => "refused a call; Almanack will try again".to_owned(),
        Fault::LoseReply => "did its work and lost the answer; Almanack will try again".to_owned(),
        Fault::Delay(wait) => format!("took {} ms longer", wait.as_millis()),
    }
}

fn counted(count: u32, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        many => format!("{many} {what}s"),
    }
}

fn tell(
    at: Timestamp,
    who: &str,
    ink: Ink,
    what: &str,
    output: &mut Output,
) -> Result<(), Failure> {
    let time = at.strftime("%H:%M:%S");
    let line = output.paint(ink, &format!("{who:9} {what}"));
    output.line(&format!("{time}Z  {line}"))
}

fn publication(article_id: i64) -> Option<Identity> {
    let subject = Subject::parse(&format!("article:{article_id}")).ok()?;
    Some(Identity {
        subject,
        kind: Kind::parse(KIND_PUBLISH).ok()?,
    })
}

/// A distance people can feel.
fn until(now: Timestamp, at: Timestamp) -> String {
    let seconds = at.duration_since(now).as_secs_f64();
    if seconds <= 0.0 {
        "at once".to_owned()
    } else {
        format!("in {seconds:.1} s")
    }
}
