//! Scripted ports of the outside: checks of sources, and lists of them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use almanack_core::{
    alert::port::{Answer, Notice, Notifier, Outcome},
    handler::Handler,
    source::{
        Definition, SOURCE_CHECK,
        check::{
            Article, Ask, Candidate, Checker, Document, Failure, FailureClass, Look, Unchanged,
            Validators,
        },
        entry::FoundEntry,
        hub::Reach,
        options::Options,
        reading::Reading,
    },
    store::Store,
    task::Kind,
    time::Clock,
};
use almanack_engine::{
    reloadable::Reloadable,
    reschedule::{Kinds, Rescheduler},
    sources::{
        Sources,
        check::SourceHandler,
        fleet::{Fleet, FleetSettings},
        push::Push,
    },
    watch::{WatchSettings, Watching},
};
use almanack_server::{Opml, Outline, Publishers};
use almanack_testkit::hubs::ScriptedHubs;
use async_trait::async_trait;
use jiff::Timestamp;

use crate::harness::World;

/// Returns the scripted answer of every address, and otherwise "unchanged".
#[derive(Default)]
pub(crate) struct Script(Mutex<BTreeMap<String, Look>>);

impl Script {
    /// What to say of an address from now on.
    pub(crate) fn say(&self, address: &str, look: Look) {
        self.0.lock().unwrap().insert(address.to_owned(), look);
    }
}

#[async_trait]
impl Checker for Script {
    async fn look(&self, ask: &Ask, _: Timestamp) -> Look {
        let answer = self.0.lock().unwrap().get(&ask.address).cloned();
        answer.unwrap_or_else(|| Look::Unchanged(Unchanged::default()))
    }

    async fn discover(
        &self,
        address: &str,
        _: &Options,
        _: Timestamp,
    ) -> Result<Vec<Candidate>, Failure> {
        let failed = |class, detail: &str| Failure {
            class,
            detail: detail.to_owned(),
            retry_after: None,
        };
        match address {
            "https://site.example/" => Ok(vec![Candidate {
                // Written otherwise than it is stored.
                address: "https://SITE.example/feed".to_owned(),
                title: Some("Site".to_owned()),
                format: Some("atom".to_owned()),
            }]),
            "https://many.example/" => Ok(["a", "b", "known"]
                .map(|name| Candidate {
                    address: format!("https://many.example/{name}"),
                    title: Some(format!("<b>{name}</b>")),
                    format: None,
                })
                .to_vec()),
            "http://10.0.0.1/" => Err(failed(FailureClass::Refused, "10.0.0.1 is private")),
            _ => Err(failed(FailureClass::Dns, "no such host")),
        }
    }

    async fn article(&self, link: &str, _: Timestamp) -> Article {
        if !link.ends_with("/1") {
            return Article::Text("Read as a whole.\n\nIt sails.".to_owned());
        }
        Article::Failed(Failure::new(FailureClass::NotFound, "404 Not Found"))
    }

    fn problem(&self, address: &str, reading: &Reading) -> Option<String> {
        if address.contains("10.0.0.1") {
            return Some("10.0.0.1 is private and not asked".to_owned());
        }
        match reading {
            Reading::Html(rules) if rules.item == ">>" => Some("`>>` is no selector".to_owned()),
            _ => None,
        }
    }
}

/// One source a line: name, space, address.
pub(crate) struct Lines;

impl Opml for Lines {
    fn read(&self, text: &[u8]) -> Result<Outline, String> {
        let text = std::str::from_utf8(text).map_err(|_| "this is no list".to_owned())?;
        let mut outline = Outline::default();
        for line in text.lines() {
            match line.split_once(' ') {
                Some((name, address)) => outline.definitions.push(feed(name, address)),
                None => outline.broken.push(format!("`{line}` has no address")),
            }
        }
        Ok(outline)
    }

    fn write(&self, definitions: &[Definition]) -> String {
        let lines = definitions
            .iter()
            .map(|d| format!("{} {}\n", d.name, d.address));
        lines.collect()
    }
}

fn feed(name: &str, address: &str) -> Definition {
    Definition {
        name: name.to_owned(),
        address: address.to_owned(),
        ..Definition::default()
    }
}

/// What looks at sources, and what people want of them.
pub(crate) struct Fixture {
    pub(crate) sources: Arc<Sources>,
    pub(crate) script: Arc<Script>,
    pub(crate) handler: SourceHandler,
}

impl Fixture {
    pub(crate) fn on(store: &Arc<dyn Store>, clock: &Arc<dyn Clock>) -> Self {
        let kinds = Kinds {
            configured: [Kind::parse(SOURCE_CHECK).unwrap()].into(),
            ..Kinds::default()
        };
        let rescheduler = Arc::new(Rescheduler::new(store.clone(), clock.clone(), kinds));
        let script = Arc::new(Script::default());
        let fleet = Arc::new(Fleet::new(FleetSettings::default()));
        let sources = Sources {
            store: store.clone(),
            clock: clock.clone(),
            rescheduler,
            checker: script.clone(),
            fleet: fleet.clone(),
        };
        let handler = SourceHandler {
            store: store.clone(),
            clock: clock.clone(),
            checker: script.clone(),
            fleet,
            subscriptions: Reloadable::default(),
            hubs: Arc::new(ScriptedHubs::new(Reach::Off)),
        };
        Self {
            sources: Arc::new(sources),
            script,
            handler,
        }
    }
}

impl Fixture {
    /// Has these hubs push, and anyone ping.
    pub(crate) fn pushed(&mut self, hubs: &Arc<ScriptedHubs>) -> Publishers {
        let handler = |of: &SourceHandler| SourceHandler {
            store: of.store.clone(),
            clock: of.clock.clone(),
            checker: of.checker.clone(),
            fleet: of.fleet.clone(),
            subscriptions: of.subscriptions.clone(),
            hubs: hubs.clone(),
        };
        self.handler = handler(&self.handler);
        let push = Push {
            sources: self.sources.clone(),
            handler: handler(&self.handler),
            body_bytes: 4_000,
        };
        Publishers {
            push: Some(Arc::new(push)),
            reach: Reach::Open,
            ping: true,
        }
    }
}

impl World {
    /// Claims the one check that is due, and carries it out.
    pub(crate) async fn check(&self, number: i64) {
        let task = self.claim(number).await;
        let outcome = self.fixture.handler.attempt(&task).await;
        self.end(&task, &outcome).await;
    }

    /// Adds a source and answers its number.
    pub(crate) async fn add(&self, body: &str) -> i64 {
        let answer = self.post("/api/v1/sources", body).await;
        assert_eq!(answer.status, 201, "{}", answer.body);
        answer.json()["source_id"].as_i64().unwrap()
    }
}

/// A document with these entries: an id and when it was published.
pub(crate) fn document(entries: &[(&str, &str)]) -> Look {
    let entries = entries.iter().map(|(id, published_at)| FoundEntry {
        id: Some((*id).to_owned()),
        link: Some(format!("https://a.example/{id}")),
        title: format!("Entry {id}"),
        published_at: published_at.parse().ok(),
        content: Some("<p>All of it</p>".to_owned()),
        ..FoundEntry::default()
    });
    Look::Document(Box::new(Document {
        title: Some("A Weblog".to_owned()),
        entries: entries.collect(),
        validators: Validators::default(),
        ..Document::default()
    }))
}

/// A failure of a class.
pub(crate) fn failed(class: FailureClass, detail: &str) -> Look {
    Look::Failed(Failure {
        class,
        detail: detail.to_owned(),
        retry_after: None,
    })
}

/// One channel, `ntfy`, that takes every test message.
struct Channel;

#[async_trait]
impl Notifier for Channel {
    async fn notify(&self, _: &[Notice]) -> Vec<Answer> {
        Vec::new()
    }

    async fn test(&self, only: Option<&str>) -> Vec<Answer> {
        let answer = Answer {
            channel: "ntfy".to_owned(),
            keys: Vec::new(),
            outcome: Outcome::Taken("200 OK".to_owned()),
        };
        let is_asked = only.is_none_or(|only| only == answer.channel);
        is_asked.then_some(answer).into_iter().collect()
    }
}

/// Alert rules with that channel.
pub(crate) fn watching() -> Reloadable<Watching> {
    let (settings, notifier) = (WatchSettings::default(), Arc::new(Channel));
    Reloadable::new(Watching { settings, notifier })
}
