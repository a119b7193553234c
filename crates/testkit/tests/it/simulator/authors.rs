//! Those who change their minds: authors who put, move, withdraw and retry, and queues that deliver
//! numbered changes twice and out of order. Replies get lost on them; some repeat, some do not.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use almanack_core::{
    reschedule::{Cancel, Put, Receipt, Request, Rule},
    store::OnceKey,
    task::{Expires, Identity, Priority, Revision},
};
use almanack_engine::reschedule::Error;
use almanack_testkit::fixture::{PUBLISH, identity, payload};
use jiff::{SignedDuration, Timestamp};
use tokio::{
    sync::oneshot,
    time::{Instant, timeout_at},
};

use super::{
    dice::Dice,
    node::{Call, ChangeRequest, NARROW, Reply, World},
    time::pass,
};

/// How long a client waits for a reply before taking it for lost.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// Every so many seconds a new identity replaces the oldest.
const TURNOVER_S: u64 = 4;
/// Furthest ahead that authors plan.
const AHEAD_MS_MAX: i64 = 45_000;

/// A reply that arrived.
#[derive(Debug, Clone)]
pub(super) struct AnsweredRequest {
    pub(super) origin: String,
    pub(super) identity: Identity,
    pub(super) receipt: Receipt,
}

/// What the requesters know, for the checks at the end.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) answered: Vec<AnsweredRequest>,
    /// Origins that used an idempotency key: each may take effect once.
    pub(super) keyed: Vec<String>,
    /// Streams whose every event was acknowledged, with their last number.
    pub(super) delivered: Vec<(Identity, Revision)>,
}

/// A client that sends requests.
pub(super) struct Requester {
    pub(super) name: String,
    pub(super) world: World,
    pub(super) dice: Dice,
    pub(super) notes: Arc<Mutex<Notes>>,
}

impl Requester {
    /// Changes its mind until `until`, about one of `contested` identities at a time.
    pub(super) async fn write(self, contested: u64, until: Timestamp) {
        let mut asked = 0;
        while self.world.truth.now() < until {
            pass(self.dice.millis(0, 4_000)).await;
            asked += 1;
            let origin = format!("{}#{asked}", self.name);
            let request = self.request(contested);
            let key = self.key(&origin, &request);
            if key.is_some() {
                self.notes().keyed.push(origin.clone());
            }
            while !self.ask(&request, &origin, key.clone()).await && self.dice.hits(600) {
                pass(self.dice.millis(0, 3_000)).await;
            }
        }
    }

    fn request(&self, contested: u64) -> ChangeRequest {
        let identity = self.contested(contested);
        match self.dice.below(10) {
            0..5 => ChangeRequest::Ask(vec![self.put(identity, None)]),
            5..7 => ChangeRequest::Ask(vec![cancel(identity, None)]),
            7 => ChangeRequest::Retry(identity),
            _ => {
                let more = (0..self.dice.below(4)).map(|_| self.contested(contested));
                let all = std::iter::once(identity).chain(more);
                ChangeRequest::Ask(all.map(|identity| self.put(identity, None)).collect())
            }
        }
    }

    /// Few at a time, so that authors get in each other's way; others as time passes, because what
    /// is done is done for ever.
    fn contested(&self, count: u64) -> Identity {
        let number = self.world.truth.elapsed().as_secs() / TURNOVER_S + self.dice.below(count);
        let kinds = [PUBLISH, "AUDIT", NARROW];
        let kind = kinds[usize::try_from(number % 3).unwrap_or(0)];
        identity(&format!("article:{number}"), kind)
    }

    /// A keyed call is all or nothing, so two requests about one identity could never be carried
    /// out together; such calls go without a key.
    fn key(&self, origin: &str, request: &ChangeRequest) -> Option<OnceKey> {
        let ChangeRequest::Ask(requests) = request else {
            return None;
        };
        let mut identities: Vec<_> = requests.iter().map(Request::identity).collect();
        identities.sort();
        identities.dedup();
        let fits = identities.len() == requests.len();
        let [key, digest] = [origin.to_owned(), "digest".to_owned()];
        (fits && self.dice.hits(300)).then_some(OnceKey { key, digest })
    }

    fn put(&self, identity: Identity, revision: Option<Revision>) -> Request {
        let ahead = SignedDuration::from_millis(self.dice.between(-3_000, AHEAD_MS_MAX));
        let level = i64::from(self.dice.hits(200)) + 5;
        let execute_at = self.world.truth.now() + ahead;
        // An instant can refuse a later change, and streams are to be heard to their end.
        let expires = match self.dice.below(8) {
            0 => Some(Expires::At(
                execute_at + SignedDuration::from_millis(self.dice.between(1, 20_000)),
            ))
            .filter(|_| revision.is_none()),
            1 | 2 => u32::try_from(self.dice.between(1, 20))
                .ok()
                .map(Expires::After),
            3 => Some(Expires::Never),
            _ => None,
        };
        // Three tenants, by the last digit.
        let digit = identity.subject.as_str().bytes().last().unwrap_or(0);
        let tenant = format!(r#"{{"tenant":{}}}"#, digit % 3);
        Request::Put(Put {
            identity,
            execute_at,
            expires,
            payload: Some(payload(&tenant)),
            callback_url: None,
            call_options: None,
            max_retry: None,
            priority: self
                .dice
                .hits(500)
                .then(|| Priority::new(level).expect("a level")),
            tags: None,
            revision,
        })
    }

    /// Asks one of the processes; whether an answer came.
    pub(super) async fn ask(
        &self,
        request: &ChangeRequest,
        origin: &str,
        key: Option<OnceKey>,
    ) -> bool {
        let (reply, answer) = oneshot::channel();
        let call = Call {
            request: request.clone(),
            origin: origin.to_owned(),
            key,
            on_the_way: self.world.traffic.enter(),
            reply,
        };
        if !self.world.connections.knock(&self.dice, call) {
            return false;
        }
        match within(WAIT_MAX, answer).await {
            Some(Ok(Ok(receipts))) => {
                self.hear(request, origin, receipts);
                return true;
            }
            // Only the store may fail here: no client reuses keys, and none is that contended.
            Some(Ok(Err(error))) if !matches!(error, Error::Store(_)) => {
                self.world
                    .record
                    .broke(format_args!("{origin} was refused: {error}"));
            }
            _ => self.world.record.note(origin, "hears nothing"),
        }
        false
    }

    fn hear(&self, request: &ChangeRequest, origin: &str, receipts: Vec<Option<Receipt>>) {
        let identities: Vec<&Identity> = match request {
            ChangeRequest::Ask(requests) => requests.iter().map(Request::identity).collect(),
            ChangeRequest::Retry(identity) => vec![identity],
            ChangeRequest::Operate(_) => Vec::new(),
        };
        for (index, receipt) in receipts.into_iter().enumerate() {
            let Some(receipt) = receipt else { continue };
            if let ChangeRequest::Ask(requests) = request {
                let checked = fits(&requests[index], &receipt, self.world.truth.now());
                self.world.record.check(checked);
            }
            self.notes().answered.push(AnsweredRequest {
                origin: origin.to_owned(),
                identity: identities[index].clone(),
                receipt,
            });
        }
    }

    /// Delivers a stream of numbered changes of one identity at least once each, until all are
    /// acknowledged; only then is it known what must have become of them.
    pub(super) async fn deliver(self, identity: Identity, until: Timestamp) {
        let events = self.stream(&identity);
        let last = Revision(i64::try_from(events.len()).unwrap_or(0));
        let spread = u64::try_from(until.duration_since(self.world.truth.now()).as_millis());
        let spread = spread.unwrap_or(0) / (events.len() as u64 + 1);
        let requester = Arc::new(self);
        let mut deliveries = tokio::task::JoinSet::new();
        for (number, event) in events.into_iter().enumerate() {
            pass(requester.dice.millis(0, spread)).await;
            for copy in 0..=requester.dice.below(3) {
                let late = requester
                    .dice
                    .millis(0, if copy == 0 { 3_000 } else { 20_000 });
                let origin = format!("{}@{}.{copy}", requester.name, number + 1);
                let (requester, request) = (
                    Arc::clone(&requester),
                    ChangeRequest::Ask(vec![event.clone()]),
                );
                deliveries.spawn(async move {
                    // Copies of one event often arrive together.
                    pass(if copy == 1 { Duration::ZERO } else { late }).await;
                    while !requester.ask(&request, &origin, None).await {
                        pass(requester.dice.millis(100, 3_000)).await;
                    }
                });
            }
        }
        while deliveries.join_next().await.is_some() {}
        requester.notes().delivered.push((identity, last));
    }

    fn stream(&self, identity: &Identity) -> Vec<Request> {
        let event = |number: i64| {
            let revision = Some(Revision(number));
            if self.dice.hits(250) {
                cancel(identity.clone(), revision)
            } else {
                self.put(identity.clone(), revision)
            }
        };
        (1..=self.dice.between(1, 6)).map(event).collect()
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn within(
    wait_max: Duration,
    answer: oneshot::Receiver<Reply>,
) -> Option<Result<Reply, oneshot::error::RecvError>> {
    #[expect(clippy::disallowed_methods, reason = "virtual time")]
    let until = Instant::now() + wait_max;
    timeout_at(until, answer).await.ok()
}

fn cancel(identity: Identity, revision: Option<Revision>) -> Request {
    Request::Cancel(Cancel { identity, revision })
}

/// Whether a receipt answers what was asked.
fn fits(request: &Request, receipt: &Receipt, now: Timestamp) -> Result<(), String> {
    let fits = match (request, receipt.rule) {
        (_, Rule::IgnoredDone | Rule::IgnoredStale | Rule::Unchanged) => true,
        (Request::Cancel(_), rule) => rule == Rule::Cancelled,
        (Request::Put(_), Rule::Cancelled) => false,
        // A past time means now, which was at the latest when the reply came.
        (Request::Put(put), _) => {
            receipt.execute_at == put.execute_at
                || (put.execute_at < receipt.execute_at && receipt.execute_at <= now + SLACK)
        }
    };
    let complaint = || format!("{request:?} was answered with {receipt:?}");
    if fits { Ok(()) } else { Err(complaint()) }
}

/// What a drifting clock may be ahead.
const SLACK: SignedDuration = SignedDuration::from_secs(1);

/// Identities for streams: no other client touches them, so that their end is known.
pub(super) fn streamed(count: usize) -> Vec<Identity> {
    (0..count)
        .map(|n| identity(&format!("stream:{n}"), PUBLISH))
        .collect()
}
