//! The way in: a request from outside becomes a change in the store, or a clear refusal.
//!
//! Read the identity's current row, let `core` decide, ask the store to carry the decision out on
//! exactly that row. If the row moved on in between, the answer is "lost" and we read and decide
//! again: a lost race is not a success, and taking it for one would swallow the change (RS-06).

mod error;
mod kinds;
mod moving;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use almanack_core::{
    address::Reach,
    history::{self, Decision, Kept},
    locked,
    reschedule::{Change, DecisionId, NothingThere, Put, Receipt, Request, decide},
    reserved::{is_reserved, may_ask},
    store::{self, Applied, AppliedOnce, OnceKey, OnceRecord, Store},
    task::{Identity, Kind, Task, TaskId},
    time::Clock,
};

use crate::{current::load_each, reloadable::Reloadable};

pub use error::Error;
use kinds::CrowdedOut;
pub use kinds::Kinds;

/// How often a lost race is decided again. Each round means that another request succeeded, so this
/// many in a row for one identity is a stampede, and the requester had better hear about it.
const ROUNDS_MAX: usize = 50;

/// From so many requests in one call on, they are first decided as if nothing were there yet. A
/// call of this size is almost always new work, and creating a task that exists is refused by the
/// database itself, so guessing wrong costs one more round and guessing right saves a look at every
/// single identity.
const GUESSED_NEW_FROM: usize = 64;

/// Carries requests out.
pub struct Rescheduler {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    kinds: Reloadable<Kinds>,
    /// Who may be called; `None` leaves that to the caller.
    reach: Option<Reloadable<Reach>>,
    /// Kinds that are not configured and were seen waiting, or were admitted since: asking the
    /// store for each put would cost too much.
    waiting: Mutex<BTreeSet<Kind>>,
}

impl Rescheduler {
    /// Works on `store`, by `clock`, accepting `kinds`.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, kinds: Kinds) -> Self {
        Self {
            store,
            clock,
            kinds: Reloadable::new(kinds),
            reach: None,
            waiting: Mutex::default(),
        }
    }

    /// Refuses addresses that may never be called.
    #[must_use]
    pub fn reaching(self, reach: Reloadable<Reach>) -> Self {
        Self {
            reach: Some(reach),
            ..self
        }
    }

    /// The kinds that are accepted now.
    pub fn kinds(&self) -> Arc<Kinds> {
        self.kinds.get()
    }

    /// Accepts these from now on.
    pub fn accept(&self, kinds: Kinds) {
        self.kinds.put(kinds);
    }

    /// Where tasks of a kind go that name no address.
    pub(crate) fn addresses(&self) -> BTreeMap<Kind, String> {
        self.kinds.get().addresses.clone()
    }

    /// Carries out one request.
    pub async fn ask(&self, request: Request, origin: &str) -> Result<Receipt, Error> {
        let mut answers = self.ask_all(vec![request], origin).await?;
        answers.pop().unwrap_or_else(|| Err(short_answer()))
    }

    /// Carries out one request of the engine's own, about a kind that may be reserved.
    pub(crate) async fn ask_own(&self, request: Request, by: &str) -> Result<Receipt, Error> {
        let mut answers = self.ask_all_own(vec![request], by).await?;
        answers.pop().unwrap_or_else(|| Err(short_answer()))
    }

    /// Carries out many requests, each for itself; the answers are in the order asked. Requests
    /// about one identity are carried out one after the other, in that order.
    ///
    /// If the store fails midway the whole call fails, although some requests may have taken
    /// effect: asking again is harmless and is the way to find out.
    pub async fn ask_all(
        &self,
        requests: Vec<Request>,
        origin: &str,
    ) -> Result<Vec<Result<Receipt, Error>>, Error> {
        self.carry_out(requests, (Requester::Outside, origin)).await
    }

    /// The same for requests of the engine's own, about kinds that may be reserved. Only the engine
    /// can call this.
    pub(crate) async fn ask_all_own(
        &self,
        requests: Vec<Request>,
        by: &str,
    ) -> Result<Vec<Result<Receipt, Error>>, Error> {
        self.carry_out(requests, (Requester::Engine, by)).await
    }

    async fn carry_out(
        &self,
        requests: Vec<Request>,
        by: (Requester, &str),
    ) -> Result<Vec<Result<Receipt, Error>>, Error> {
        let mut open: Vec<Asked> = requests.into_iter().enumerate().map(Asked::new).collect();
        let mut answers: BTreeMap<usize, Result<Receipt, Error>> = BTreeMap::new();
        // Whether one of our own may be changed depends on what is there.
        let reserved = open
            .iter()
            .any(|asked| is_reserved(&asked.request.identity().kind));
        let mut look = if open.len() < GUESSED_NEW_FROM || reserved {
            Look::First
        } else {
            Look::GuessNew
        };
        while !open.is_empty() {
            let (turn, later) = first_of_each_identity(open);
            let lost = self.round(turn, look, by, &mut answers).await?;
            look = Look::First;
            open = lost.into_iter().chain(later).collect();
            open.sort_by_key(|asked| asked.index);
        }
        Ok(answers.into_values().collect())
    }

    /// Decides and applies requests about distinct identities once; answers which of them were lost
    /// and may be decided again.
    async fn round(
        &self,
        turn: Vec<Asked>,
        look: Look,
        by: (Requester, &str),
        answers: &mut BTreeMap<usize, Result<Receipt, Error>>,
    ) -> Result<Vec<Asked>, Error> {
        let requests: Vec<&Request> = turn.iter().map(|asked| &asked.request).collect();
        let decided = self.decide_all(&requests, look, by).await?;
        let (mut changes, mut deciding, mut lost) = (Vec::new(), Vec::new(), Vec::new());
        for (asked, decision) in turn.into_iter().zip(decided) {
            match decision {
                Ok(change) => {
                    changes.push(change);
                    deciding.push(asked);
                }
                // A refusal on a guess says nothing about what is really there.
                Err(_) if look == Look::GuessNew => lost.push(asked),
                Err(error) => drop(answers.insert(asked.index, Err(error))),
            }
        }
        if changes.is_empty() {
            return Ok(lost);
        }
        let applied = self.store.apply(changes.clone()).await?;
        for ((mut asked, change), applied) in deciding.into_iter().zip(&changes).zip(applied) {
            match applied {
                Applied::Done { .. } | Applied::Repeated { .. } => {
                    let receipt = applied.receipt(change).ok_or_else(short_answer);
                    answers.insert(asked.index, receipt);
                }
                Applied::Lost if asked.rounds < ROUNDS_MAX => {
                    asked.rounds += 1;
                    lost.push(asked);
                }
                Applied::Lost => {
                    let identity = asked.request.identity().clone();
                    answers.insert(asked.index, Err(Error::Contended { identity }));
                }
            }
        }
        Ok(lost)
    }

    /// Carries out all requests and records the key in one transaction; asked again with the same
    /// key, answers what was answered the first time.
    pub async fn ask_once(
        &self,
        key: OnceKey,
        requests: Vec<Request>,
        origin: &str,
    ) -> Result<Vec<Receipt>, Error> {
        self.carry_out_once(key, requests, (Requester::Outside, origin))
            .await
    }

    /// The same for one request of the engine's own, about a kind that may be reserved.
    pub(crate) async fn ask_once_own(
        &self,
        key: OnceKey,
        request: Request,
        by: &str,
    ) -> Result<Receipt, Error> {
        let by = (Requester::Engine, by);
        let mut receipts = self.carry_out_once(key, vec![request], by).await?;
        receipts.pop().ok_or_else(short_answer)
    }

    async fn carry_out_once(
        &self,
        key: OnceKey,
        requests: Vec<Request>,
        by: (Requester, &str),
    ) -> Result<Vec<Receipt>, Error> {
        let asked: Vec<&Request> = requests.iter().collect();
        for _ in 0..ROUNDS_MAX {
            if let Some(record) = self.store.load_once(&key.key).await? {
                return replay(record, &key);
            }
            let decided = self.decide_all(&asked, Look::First, by).await?;
            let changes = decided
                .into_iter()
                .collect::<Result<Vec<Change>, Error>>()?;
            match self.store.apply_once(key.clone(), changes).await? {
                AppliedOnce::Done(receipts) => return Ok(receipts),
                AppliedOnce::Lost | AppliedOnce::Used => {}
            }
        }
        match asked.first() {
            Some(request) => Err(Error::Contended {
                identity: request.identity().clone(),
            }),
            None => Ok(Vec::new()),
        }
    }

    /// Tries an identity's task again now, with the payload it had (an operator's "retry").
    pub async fn retry(&self, identity: &Identity, origin: &str) -> Result<Receipt, Error> {
        let current = self
            .store
            .load_current(std::slice::from_ref(identity))
            .await?;
        if current.into_iter().flatten().next().is_none() {
            return Err(NothingThere {
                identity: identity.clone(),
            }
            .into());
        }
        let put = Put::at(identity.clone(), self.clock.now());
        self.ask(Request::Put(put), origin).await
    }

    /// What a receipt's decision was, on which row, and whether it was kept (RS-14); `None` if that
    /// is no longer known.
    pub async fn verify(&self, id: DecisionId) -> Result<Option<(Task, Decision, Kept)>, Error> {
        let Some(row) = self.store.load_task(id.task_id).await? else {
            return Ok(None);
        };
        // With the decision itself come all later ones on its row.
        let mut decisions = self
            .load_decisions(id.task_id, id.number.saturating_sub(1))
            .await?;
        let decided = decisions.iter().find(|decision| decision.id == id);
        let successor = decided.and_then(|decision| decision.new_task_id);
        let mut tasks = vec![row.clone()];
        if let Some(new) = successor {
            decisions.extend(self.load_decisions(new, 0).await?);
            tasks.extend(self.store.load_task(new).await?);
        }
        let verified = history::verify(id, &tasks, &decisions);
        Ok(verified.map(|(decision, kept)| (row, decision, kept)))
    }

    async fn load_decisions(&self, row: TaskId, after: u32) -> Result<Vec<Decision>, Error> {
        let all = usize::try_from(history::DECISIONS_KEPT).unwrap_or(usize::MAX);
        Ok(self.store.load_decisions(row, after, all).await?)
    }

    async fn decide_all(
        &self,
        requests: &[&Request],
        look: Look,
        by: (Requester, &str),
    ) -> Result<Vec<Result<Change, Error>>, store::Error> {
        let rows = match look {
            Look::First => self.load_current(requests).await?,
            Look::GuessNew => requests.iter().map(|_| Ok(None)).collect(),
        };
        self.decide_on(requests, rows, by).await
    }

    /// Decides requests from outside on rows that the caller holds, and carries nothing out.
    pub(crate) async fn decide_outside(
        &self,
        requests: &[&Request],
        rows: Vec<store::Result<Option<Task>>>,
        origin: &str,
    ) -> Result<Vec<Result<Change, Error>>, store::Error> {
        let by = (Requester::Outside, origin);
        self.decide_on(requests, rows, by).await
    }

    async fn decide_on(
        &self,
        requests: &[&Request],
        rows: Vec<store::Result<Option<Task>>>,
        (requester, origin): (Requester, &str),
    ) -> Result<Vec<Result<Change, Error>>, store::Error> {
        let (now, kinds) = (self.clock.now(), self.kinds.get());
        let reach = self.reach.as_ref().map(Reloadable::get);
        let crowded_out = self.admit(requests, &kinds).await?;
        let decided = requests.iter().zip(rows).map(|(request, row)| {
            let row = row?;
            if requester == Requester::Outside && !may_ask(request, row.as_ref()) {
                let kind = request.identity().kind.clone();
                return Err(Error::Reserved { kind });
            }
            kinds.check(request, row.as_ref())?;
            crowded_out.check(request)?;
            check_callback(request, reach.as_deref())?;
            let request = kinds.with_defaults(request, row.as_ref());
            let mut change = decide(row.as_ref(), &request, origin, now)?;
            kinds.share_by.mark(&mut change, row.as_ref());
            Ok(change)
        });
        Ok(decided.collect())
    }

    /// Which of the requested kinds would be too many. A kind that is configured, or known to wait,
    /// costs nothing; for another one the store is asked what waits now. Two nodes may each admit
    /// the last one: the bound is for the cost of a claim, not a promise.
    async fn admit(
        &self,
        requests: &[&Request],
        kinds: &Kinds,
    ) -> Result<CrowdedOut, store::Error> {
        let mut crowded_out = CrowdedOut::default();
        let Some(limit) = kinds.waiting_max else {
            return Ok(crowded_out);
        };
        let new = kinds.unknown_of(requests, &locked(&self.waiting));
        if new.is_empty() {
            return Ok(crowded_out);
        }
        let most = limit.saturating_add(kinds.configured.len());
        let found = self.store.load_waiting_kinds(most).await?;
        let mut waiting = locked(&self.waiting);
        *waiting = found.into_iter().collect();
        waiting.retain(|kind| !kinds.configured.contains(kind));
        for kind in new {
            if waiting.len() < limit || waiting.contains(&kind) {
                waiting.insert(kind);
            } else {
                crowded_out.kinds.insert(kind);
            }
        }
        crowded_out.limit = limit;
        Ok(crowded_out)
    }

    async fn load_current(
        &self,
        requests: &[&Request],
    ) -> store::Result<Vec<store::Result<Option<Task>>>> {
        let identities: Vec<Identity> = requests.iter().map(|r| r.identity().clone()).collect();
        load_each(&*self.store, &identities).await
    }
}

/// On which side of the engine's boundary a request was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Requester {
    /// The API, the dashboard, the command line, events, queues.
    Outside,
    /// A duty, or the way in for sources, editions or schedules.
    Engine,
}

/// A URL accepted now and refused at call time would fail long after its author could notice.
fn check_callback(request: &Request, reach: Option<&Reach>) -> Result<(), Error> {
    let Request::Put(put) = request else {
        return Ok(());
    };
    match (reach, &put.callback_url) {
        (Some(reach), Some(url)) => reach.check(url).map_err(Error::Callback),
        _ => Ok(()),
    }
}

/// How a round learns what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    First,
    /// It assumes that nothing is.
    GuessNew,
}

/// A request on its way, and how often it was lost.
struct Asked {
    index: usize,
    request: Request,
    rounds: usize,
}

impl Asked {
    fn new((index, request): (usize, Request)) -> Self {
        Self {
            index,
            request,
            rounds: 1,
        }
    }
}

/// Splits off everything that must wait for an earlier request about the same identity: decided
/// together, all but one would be lost, and not necessarily the later ones.
fn first_of_each_identity(open: Vec<Asked>) -> (Vec<Asked>, Vec<Asked>) {
    let mut seen = BTreeSet::new();
    let firsts: Vec<bool> = open
        .iter()
        .map(|a| seen.insert(a.request.identity()))
        .collect();
    let mut firsts = firsts.into_iter();
    open.into_iter().partition(|_| firsts.next() == Some(true))
}

fn replay(record: OnceRecord, key: &OnceKey) -> Result<Vec<Receipt>, Error> {
    if record.digest == key.digest {
        Ok(record.receipts)
    } else {
        Err(Error::KeyReused)
    }
}

/// A store that answers fewer changes than it was given breaks its contract.
fn short_answer() -> Error {
    store::Error::Incompatible {
        what: "an answer without a row".to_owned(),
    }
    .into()
}
