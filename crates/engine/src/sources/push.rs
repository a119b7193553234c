//! Hubs: asking them to push, and keeping what they push (SS-23).
//!
//! A check asks the hub; the hub answers later, at a callback. Between the two the row alone
//! remembers, so it is written before the hub is asked, and any node can take what the hub sends.
//! A push is kept as a check keeps its document, with one difference: it is a part of the document,
//! and says nothing about the rest ([`settle_push`]).

use std::sync::Arc;

use almanack_core::{
    source::{
        Source, SourceId, State,
        check::{Document, Look},
        clock,
        hub::{Hub, HubAnswer, Pushed, Reach, Tending, tend},
        settle::{Settled, replan, settle_push},
    },
    store::{SourceWrite, Written},
};
use jiff::{SignedDuration, Timestamp};

use super::{
    Error, Sources,
    check::{ROUNDS_MAX, SourceHandler, Stopped, ask},
};

/// Who requests what a hub or its push makes necessary.
const BY: &str = "hub";

impl SourceHandler {
    /// A lease is worth nothing while nobody can push to this node.
    pub(super) fn check_reach(&self, source: &mut Source) {
        if let Some(hub) = &mut source.memory.publisher.hub
            && self.hubs.reach() != Reach::Open
        {
            hub.lose_reach();
        }
    }

    /// Brings the subscription up to date; answers whether the hub is to be asked after the write.
    pub(super) fn tend(&self, settled: &mut Settled, look: &Look, now: Timestamp) -> bool {
        if settled.source.state != State::Active {
            return false;
        }
        let made = Tending {
            look,
            reach: self.hubs.reach(),
            home: self.hubs.home(),
            token: &self.hubs.token(),
            next_at: settled.next_at,
            now,
        };
        tend(&mut settled.source.memory.publisher.hub, &made)
    }

    /// Asks a source's hub to push. Whatever comes of it, the check was made: a refusal is written
    /// down, and anything else is tried again by a later check.
    pub(super) async fn ask_hub(&self, source: &Source) {
        let (id, now) = (source.id, self.clock.now());
        let Some(hub) = &source.memory.publisher.hub else {
            return;
        };
        match self.hubs.subscribe(id, hub, now).await {
            HubAnswer::Accepted => {
                tracing::debug!(source.id = %id, "asked a hub to push");
            }
            HubAnswer::NotNow(why) => {
                tracing::info!(source.id = %id, why, "a hub could not be asked to push; a later check asks again");
            }
            HubAnswer::Refused(why) => {
                tracing::info!(source.id = %id, why, "a hub refuses to push");
                if let Err(error) = self.note_refusal(id, &hub.token, &why).await {
                    tracing::warn!(source.id = %id, %error, "could not store a hub's refusal");
                }
            }
        }
    }

    async fn note_refusal(&self, id: SourceId, token: &str, why: &str) -> Result<(), Stopped> {
        for _ in 0..ROUNDS_MAX {
            let mut source = self.load(id).await?;
            let at = self.clock.now();
            match &mut source.memory.publisher.hub {
                Some(hub) if hub.token == token => hub.refuse(why),
                _ => return Ok(()),
            }
            source.updated_at = at;
            let write = write(source, at);
            if let Some(Written::Done) = self.store.write_sources(vec![write]).await?.pop() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Keeps the new entries of a push; answers how many there are.
    async fn keep_pushed(
        &self,
        mut source: Source,
        pushed: Document,
        at: Timestamp,
    ) -> Result<usize, Stopped> {
        let look = Look::Document(Box::new(pushed));
        for _ in 0..ROUNDS_MAX {
            let mut recognised = self.recognise(&source, &look, at).await?;
            let corrected = clock::correct(&source, &mut recognised.fresh, at);
            let entries = recognised.fresh.len();
            let mut write = write(settle_push(&corrected, &recognised.fresh, at), at);
            (write.entries, write.edited) = (recognised.fresh, recognised.edited);
            write.event_tasks = self.subscriptions.get().of_source(&source, &write);
            match self.store.write_sources(vec![write]).await?.pop() {
                Some(Written::Done) => {
                    metrics::counter!("almanack_source_entries_total").increment(entries as u64);
                    return Ok(entries);
                }
                _ => source = self.load(source.id).await?,
            }
        }
        Err(Stopped::NotLookedAt(
            "the source kept changing meanwhile".to_owned(),
        ))
    }
}

fn write(source: Source, at: Timestamp) -> SourceWrite {
    SourceWrite {
        source,
        entries: Vec::new(),
        edited: Vec::new(),
        at,
        event_tasks: Vec::new(),
    }
}

/// Takes what hubs send.
pub struct Push {
    pub sources: Arc<Sources>,
    /// Keeps what is pushed as a check would.
    pub handler: SourceHandler,
    /// Largest body of a push.
    pub body_bytes: usize,
}

/// What became of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// It was kept, with so many new entries.
    Kept(usize),
    /// It has nothing to read, so the source is checked soon.
    Checked,
    /// It is not the hub's: nothing was done.
    Unsigned,
    /// The source is paused or has ended: nothing was done.
    Resting,
}

impl Received {
    /// The name used in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Kept(0) => "nothing",
            Self::Kept(_) => "new",
            Self::Checked => "checked",
            Self::Unsigned => "unsigned",
            Self::Resting => "resting",
        }
    }
}

impl Push {
    /// The source whose callback this is; `None` for an address that we gave to no hub.
    pub async fn admit(&self, id: SourceId, token: &str) -> Result<Option<Source>, Error> {
        let found = self.sources.store.load_sources(&[id]).await?;
        let source = found.into_iter().next().flatten();
        Ok(source.filter(|source| self.is_admitted(source, token)))
    }

    fn is_admitted(&self, source: &Source, token: &str) -> bool {
        let hub = source.memory.publisher.hub.as_ref();
        let is_open = self.handler.hubs.reach() == Reach::Open;
        is_open && hub.is_some_and(|hub| self.handler.hubs.admits(hub, token))
    }

    /// The hub of `source` asks whether this node wants `topic`; answers whether it does, and notes
    /// the lease.
    pub async fn confirm(
        &self,
        source: &Source,
        topic: &str,
        lease: Option<SignedDuration>,
    ) -> Result<bool, Error> {
        let hub = source.memory.publisher.hub.as_ref();
        let wanted = hub.is_some_and(|hub| hub.expects(topic)) && source.state == State::Active;
        if wanted {
            let now = self.sources.clock.now();
            self.edit_hub(source, |hub| hub.confirm(lease, now)).await?;
        }
        Ok(wanted)
    }

    /// The hub of `source` does not push `topic`, or ends it. Checking takes over at once.
    pub async fn deny(&self, source: &Source, topic: &str, reason: &str) -> Result<bool, Error> {
        let hub = source.memory.publisher.hub.as_ref();
        if !hub.is_some_and(|hub| hub.expects(topic)) {
            return Ok(false);
        }
        let after = self.edit_hub(source, |hub| hub.refuse(reason)).await?;
        let due_at = after.stats.next_due_at;
        if let (State::Active, Some(due_at)) = (&after.state, due_at)
            && Some(due_at) != source.stats.next_due_at
        {
            self.sources.put(vec![(after.id, due_at)], BY).await?;
        }
        Ok(true)
    }

    /// Changes the hub that was admitted, and plans the next check by it.
    async fn edit_hub(&self, seen: &Source, change: impl Fn(&mut Hub)) -> Result<Source, Error> {
        let token = token_of(seen);
        let (terms, now) = (self.sources.fleet.terms(), self.sources.clock.now());
        self.sources
            .edit(seen.id, |source| {
                let is_same = token_of(source) == token;
                if let Some(hub) = &mut source.memory.publisher.hub
                    && is_same
                {
                    let relied_on = hub.is_relied_on(now);
                    change(hub);
                    // Relying on it more is for the next check to say.
                    if relied_on && !hub.is_relied_on(now) && source.state == State::Active {
                        *source = replan(source, &terms, now);
                    }
                }
                Ok(())
            })
            .await
    }

    /// A push to `source`: kept if it is signed by its hub, and without effect otherwise.
    pub async fn receive(
        &self,
        source: Source,
        signature: &str,
        pushed: Pushed,
    ) -> Result<Received, Error> {
        let received = self.take(source, signature, pushed).await?;
        let result = received.as_str();
        metrics::counter!("almanack_source_pushes_total", "result" => result).increment(1);
        Ok(received)
    }

    async fn take(
        &self,
        source: Source,
        signature: &str,
        pushed: Pushed,
    ) -> Result<Received, Error> {
        let hubs = &self.handler.hubs;
        let hub = source.memory.publisher.hub.as_ref();
        if !hub.is_some_and(|hub| hubs.verifies(hub, signature, &pushed.body)) {
            return Ok(Received::Unsigned);
        }
        if source.state != State::Active {
            return Ok(Received::Resting);
        }
        let at = self.sources.clock.now();
        let document = if pushed.body.trim_ascii().is_empty() {
            None
        } else {
            hubs.read(&ask(&source), pushed, at).await.ok()
        };
        match document.filter(|document| !document.entries.is_empty()) {
            Some(document) => self.keep(source, document, at).await,
            None => self.check(&source, at).await,
        }
    }

    async fn keep(
        &self,
        source: Source,
        document: Document,
        at: Timestamp,
    ) -> Result<Received, Error> {
        match self.handler.keep_pushed(source, document, at).await {
            Ok(entries) => Ok(Received::Kept(entries)),
            Err(Stopped::NotLookedAt(_)) => Ok(Received::Resting),
            Err(Stopped::Store(error)) => Err(error.into()),
        }
    }

    /// Something is new, but the push does not say what.
    async fn check(&self, source: &Source, at: Timestamp) -> Result<Received, Error> {
        self.edit_hub(source, |hub| hub.note_pushed(0, at)).await?;
        self.sources.ping(source.id, BY).await?;
        Ok(Received::Checked)
    }
}

fn token_of(source: &Source) -> Option<String> {
    let hub = source.memory.publisher.hub.as_ref();
    hub.map(|hub| hub.token.clone())
}
