//! An outside for editions, in memory: stories, pages, a writer and destinations that do as they
//! are configured to.
//!
//! Every call is written down and pays for itself, as one over the network would; then a
//! [`InjectedFault`] is asked what becomes of it. Destinations remember what reached them, also
//! when the sender never learns it: that is what tests about "exactly once in effect" look at.

mod destinations;
pub mod metered;
mod outside;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use almanack_core::{
    budget::Budget,
    edition::{
        delivery::{OnRevision, OnUnknown},
        port::{Failure, FailureClass},
        prompts::{Kind, Prompts},
        story::{Listed, StoryKey},
    },
};
use almanack_engine::editions::Outside;
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};

pub use destinations::Place;

/// A call to the outside.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    /// The list of stories.
    List,
    /// A page, by the story's number.
    Page(u32),
    /// Comments, by the story's number.
    Comments(u32),
    /// The titles of a batch; so many.
    Titles(usize),
    /// A summary; what it is of begins so.
    Summary(String),
    /// What opens an edition; of so many stories.
    Overview(usize),
    Judge(usize),
    /// A part is sent.
    Send(String, u32),
    /// A destination is looked at.
    Look(String, u32),
    /// A destination is asked whether it is ready.
    Ready(String),
    /// People are notified: the rule's name, and `opened`, `closed` or `passed`.
    Report(String, &'static str),
}

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InjectedFault {
    Well,
    Fails(FailureClass),
    /// It is asked too often, and wants to be asked again after so long.
    Asks(SignedDuration),
    /// It never answers. A message arrives all the same.
    Hangs,
    /// A message arrives, and the answer is lost.
    Lost,
    /// An answer comes that lacks something: the first title, every comment, the text of a page.
    Lacks,
    /// It works at the second try, and both are paid for.
    Twice,
    /// It works, and takes so long, by the runtime's clock. A message arrives at once.
    Late(Duration),
}

fn prompts(own: &BTreeMap<Kind, String>) -> Arc<Prompts> {
    let digest = |bytes: &[u8]| format!("{:x}", Sha256::digest(bytes));
    Arc::new(Prompts::new(own, digest))
}

type InjectedFaults = Box<dyn Fn(&Call, usize) -> InjectedFault + Send + Sync>;

#[derive(Default)]
struct Inside {
    stories: Vec<Listed>,
    calls: Vec<Call>,
    paid: BTreeMap<u32, u32>,
    notified: usize,
    latency: Duration,
    received: BTreeMap<String, Vec<Received>>,
}

/// Something that reached a destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The message's own key.
    pub key: String,
    /// The revision of the document it is from.
    pub revision: u32,
    pub body: String,
}

/// The harness. Clones share it.
#[derive(Clone)]
pub struct EditionHarness {
    inside: Arc<Mutex<Inside>>,
    injected_faults: Arc<Mutex<InjectedFaults>>,
    places: Arc<Vec<Place>>,
    caller: u32,
    /// The stories that are listed, by their numbers.
    listed: (u32, u32),
    /// Whether its writer opens editions.
    opens: bool,
    /// The prompts of its writer.
    prompts: Arc<Prompts>,
}

impl EditionHarness {
    /// A harness with so many stories and one destination that can be looked at, `github`, and one
    /// that cannot, `telegram`.
    pub fn with(stories: u32) -> Self {
        let telegram = Place {
            parts: 2,
            can_look: false,
            on_unknown: OnUnknown::Skip,
            on_revision: OnRevision::Skip,
            ..Place::named("telegram")
        };
        Self::with_places(stories, vec![Place::named("github"), telegram])
    }

    /// A harness with so many stories and these destinations.
    pub fn with_places(stories: u32, places: Vec<Place>) -> Self {
        let inside = Inside {
            stories: (1..=stories).map(listed).collect(),
            ..Inside::default()
        };
        Self {
            inside: Arc::new(Mutex::new(inside)),
            injected_faults: Arc::new(Mutex::new(Box::new(|_, _| InjectedFault::Well))),
            places: Arc::new(places),
            caller: 0,
            listed: (0, u32::MAX),
            opens: false,
            prompts: prompts(&BTreeMap::new()),
        }
    }

    /// The same harness, whose writer opens editions with an overview.
    #[must_use]
    pub fn opening(self) -> Self {
        Self {
            opens: true,
            ..self
        }
    }

    /// The same harness, whose writer gets this prompt.
    #[must_use]
    pub fn prompted(self, kind: Kind, text: &str) -> Self {
        Self {
            prompts: prompts(&[(kind, text.to_owned())].into()),
            ..self
        }
    }

    /// The same harness, with calls on a separate account.
    #[must_use]
    pub fn on_account_of(&self, caller: u32) -> Self {
        Self {
            caller,
            ..self.clone()
        }
    }

    /// The same harness, listing only the stories of these numbers.
    #[must_use]
    pub fn listing(&self, first: u32, last: u32) -> Self {
        Self {
            listed: (first, last),
            ..self.clone()
        }
    }

    /// From now on, this decides what becomes of a call; it gets how many equal ones there were
    /// before.
    pub fn decide(
        &self,
        injected_faults: impl Fn(&Call, usize) -> InjectedFault + Send + Sync + 'static,
    ) {
        *locked(&self.injected_faults) = Box::new(injected_faults);
    }

    /// From now on, everything works.
    pub fn heal(&self) {
        self.decide(|_, _| InjectedFault::Well);
    }

    /// From now on, every call takes so long, by the runtime's clock.
    pub fn slow_down(&self, latency: Duration) {
        self.lock().latency = latency;
    }

    /// The outside of an edition.
    pub fn outside(&self) -> Outside {
        outside::of(self)
    }

    /// Every call that paid for itself, in order.
    pub fn calls(&self) -> Vec<Call> {
        self.lock().calls.clone()
    }

    /// Paid calls so far; counted here, whatever their request budget says.
    /// Notifying people costs nothing.
    pub fn paid_by(&self, caller: u32) -> u32 {
        self.lock().paid.get(&caller).copied().unwrap_or(0)
    }

    /// How often people were notified.
    pub fn notified(&self) -> usize {
        self.lock().notified
    }

    /// Whether a message reached a destination.
    pub fn has(&self, destination: &str, key: &str) -> bool {
        let inside = self.lock();
        let received = inside.received.get(destination);
        received.is_some_and(|messages| messages.iter().rev().any(|message| message.key == key))
    }

    /// What reached a destination, in order.
    pub fn received(&self, destination: &str) -> Vec<Received> {
        self.received_after(destination, 0)
    }

    /// What reached a destination after so many messages that are known already.
    pub fn received_after(&self, destination: &str, known: usize) -> Vec<Received> {
        let inside = self.lock();
        let received = inside.received.get(destination);
        let new = received.and_then(|messages| messages.get(known..));
        new.unwrap_or_default().to_vec()
    }

    /// Forgets the calls so far; destinations keep what they have.
    pub fn forget_calls(&self) {
        self.lock().calls.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        locked(&self.inside)
    }

    /// Writes a call down; what becomes of it.
    fn called(&self, call: &Call) -> InjectedFault {
        let before = {
            let mut inside = self.lock();
            let before = inside.calls.iter().filter(|known| *known == call).count();
            inside.calls.push(call.clone());
            match call {
                Call::Report(..) => {}
                _ => *inside.paid.entry(self.caller).or_default() += 1,
            }
            before
        };
        locked(&self.injected_faults)(call, before)
    }

    /// Makes a call that pays for itself: its injected fault, or why there was none.
    async fn call(&self, call: Call, budget: &Arc<Budget>) -> Result<InjectedFault, Failure> {
        let _ticket = budget.take().map_err(|_| Failure::spent())?;
        let injected_fault = self.called(&call);
        self.answer(injected_fault).await;
        match injected_fault {
            InjectedFault::Fails(class) => Err(Failure::new(class, format!("{call:?} fails"))),
            InjectedFault::Asks(wait) => Err(Failure {
                retry_after: Some(wait),
                ..Failure::new(
                    FailureClass::RateLimited,
                    format!("{call:?} is asked too often"),
                )
            }),
            InjectedFault::Twice => {
                let _ticket = budget.take().map_err(|_| Failure::spent())?;
                self.lock().calls.push(call);
                Ok(injected_fault)
            }
            injected_fault => Ok(injected_fault),
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "tests that are slow on purpose run on a paused clock"
    )]
    async fn answer(&self, injected_fault: InjectedFault) {
        let latency = match injected_fault {
            InjectedFault::Late(latency) => latency,
            _ => self.lock().latency,
        };
        if !latency.is_zero() {
            tokio::time::sleep(latency).await;
        }
        if injected_fault == InjectedFault::Hangs {
            std::future::pending::<()>().await;
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The story of a number, as it is listed; the first is the best.
pub fn listed(number: u32) -> Listed {
    Listed {
        key: StoryKey(format!("hn:{number}")),
        url: format!("https://pages.test/{number}"),
        discussion_url: Some(format!("https://news.ycombinator.com/item?id={number}")),
        title: format!("Story {number}"),
        score: Some(1_000 - i64::from(number)),
        comment_count: Some(3),
        source_name: None,
        topic: None,
        published_at: Some(Timestamp::UNIX_EPOCH),
        text: None,
    }
}

/// The number of a story, by its key or its address.
fn number_in(text: &str) -> u32 {
    let digits = text.rsplit([':', '/']).next();
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}
