//! Newsletters, by nodes that die and a server that fails (ED-43).

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use almanack_core::{
    edition::{
        EditionId, EditionName, account,
        delivery::OnUnknown,
        document::Document,
        port::{BadTemplate, Failure, FailureClass, Sent},
    },
    finish::Outcome,
    handler::Handler as _,
    locked,
    newsletter::{
        Address, Mailing, Subscriber,
        bounce::{Effect, Ours, Refusal, Report},
        link::{LinkSigner, Purpose},
        mailing::{Mail, MailCounts, State},
        port::{
            Around, Confirmation, Email, MailServer, MailSession, MailWriter, Refused, Written,
        },
        subscriber::{Added, State as Subscribed},
    },
    signature::Verifier,
    store::{Error, Result, Store, SubscriberFilter},
    task::ClaimedTask,
    time::{Clock as _, Entropy as _, Sleeper},
};
use almanack_engine::newsletter::{MailHandler, Newsletter, NewsletterSet, Settings, Subscribers};
use almanack_store::sqlite::SqliteStore;
use almanack_testkit::{
    clock::ManualClock,
    entropy::SeededEntropy,
    fixture::{START, claim_request, edition::document},
    layer::{Layer, Layered},
};
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp, civil::date};

const READERS: usize = 25;
/// Histories that are lived through.
const SEEDS: u64 = 40;

/// Waiting is what moves the clock.
struct Forward(Arc<ManualClock>);

#[async_trait]
impl Sleeper for Forward {
    async fn until(&self, at: Timestamp) {
        if at > self.0.now() {
            self.0.set(at);
        }
    }
}

/// Signs by its name.
struct Signer(String);

impl Verifier for Signer {
    fn verifies(&self, id: &str, at: Timestamp, body: &[u8], signature: &str) -> bool {
        // A link has neither version nor padding; it gets padding where it is read.
        let bare = self.sign(id, at, body).replace("v1,", "");
        bare == signature.trim_end_matches('=')
    }
}

impl LinkSigner for Signer {
    fn sign(&self, _: &str, _: Timestamp, body: &[u8]) -> String {
        format!("v1,{}x{}", self.0, String::from_utf8_lossy(body))
    }
}

struct Plain;

impl MailWriter for Plain {
    fn edition(
        &self,
        document: &Document,
        around: &Around,
    ) -> std::result::Result<Written, BadTemplate> {
        Ok(Written {
            subject: document.inputs.title.clone(),
            html: around.unsubscribe_url.clone(),
            text: around.unsubscribe_url.clone(),
        })
    }

    fn confirmation(&self, asked: &Confirmation) -> std::result::Result<Written, BadTemplate> {
        Ok(Written {
            subject: asked.title.clone(),
            html: asked.confirm_url.clone(),
            text: asked.confirm_url.clone(),
        })
    }
}

/// What the server does to mail for some addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    NoSuchUser,
    /// Refuses it only when it has the content.
    NoSuchUserAfter,
    Later,
    /// Takes no mail of ours for this address.
    Blocked,
    /// Takes the message and never answers.
    Unanswered,
    /// Refuses everybody from here on, once.
    Down,
}

#[derive(Default)]
struct Inboxes {
    arrived: BTreeMap<String, usize>,
    /// Of every message that arrived, in order.
    subjects: Vec<String>,
    faults: BTreeMap<String, Fault>,
}

#[derive(Clone, Default)]
struct Server(Arc<Mutex<Inboxes>>);

struct Connection {
    server: Server,
    offered: Option<(String, String)>,
}

#[async_trait]
impl MailServer for Server {
    async fn connect(&self) -> std::result::Result<Box<dyn MailSession>, Failure> {
        Ok(Box::new(Connection {
            server: self.clone(),
            offered: None,
        }))
    }
}

fn refusal(detail: &str, is_bounce: bool) -> Refusal {
    Refusal {
        detail: detail.to_owned(),
        is_bounce,
    }
}

fn transient(detail: &str) -> Failure {
    Failure::new(FailureClass::Transient, detail)
}

#[async_trait]
impl MailSession for Connection {
    async fn offer(&mut self, email: &Email) -> std::result::Result<(), Refused> {
        let to = email.to.to_string();
        let mut inboxes = locked(&self.server.0);
        match inboxes.faults.get(&to).copied() {
            Some(Fault::NoSuchUser) => return Err(Refused::Recipient(refusal("550", true))),
            Some(Fault::Later) => return Err(Refused::Deferred(refusal("450", true))),
            Some(Fault::Blocked) => return Err(Refused::Deferred(refusal("550 5.7.1", false))),
            Some(Fault::Down) => {
                inboxes.faults.remove(&to);
                return Err(Refused::Server(transient("421 closing")));
            }
            Some(Fault::Unanswered | Fault::NoSuchUserAfter) | None => {}
        }
        self.offered = Some((to, email.written.subject.clone()));
        Ok(())
    }

    async fn hand_over(&mut self) -> std::result::Result<Sent, Refused> {
        let (to, subject) = self.offered.take().unwrap();
        let mut inboxes = locked(&self.server.0);
        if inboxes.faults.get(&to) == Some(&Fault::NoSuchUserAfter) {
            return Err(Refused::Recipient(refusal("550 5.1.1", true)));
        }
        inboxes.subjects.push(subject);
        *inboxes.arrived.entry(to.clone()).or_default() += 1;
        match inboxes.faults.remove(&to) {
            Some(Fault::Unanswered) => Ok(Sent::Unknown(transient("cut off"))),
            _ => Ok(Sent::Confirmed { receipt: None }),
        }
    }

    async fn withdraw(&mut self) {
        self.offered = None;
    }

    async fn quit(&mut self) {}
}

/// Nodes die around writes of ledger rows, before they took effect or after, as a seed draws it.
struct Dying(SeededEntropy);

#[async_trait]
impl Layer for Dying {
    async fn write_mail(&self, below: &dyn Store, seen: &Mail, next: &Mail) -> Result<bool> {
        let dies = || Error::Unreadable {
            what: "the node died".to_owned(),
        };
        match self.0.next_u64() % 12 {
            0 => Err(dies()),
            1 => {
                below.write_mail(seen, next).await?;
                Err(dies())
            }
            _ => below.write_mail(seen, next).await,
        }
    }
}

struct World {
    store: Arc<dyn Store>,
    clock: Arc<ManualClock>,
    server: Server,
    task: ClaimedTask,
}

fn id() -> EditionId {
    date(2026, 1, 10).into()
}

fn reader(n: usize) -> String {
    format!("reader{n}@site.example")
}

impl World {
    /// The subscriber of a number.
    async fn reader(&self, n: usize) -> Subscriber {
        let address = Address::parse(&reader(n)).unwrap();
        let found = self
            .store
            .find_subscriber(EditionName::default(), &address)
            .await;
        found.unwrap().unwrap()
    }

    async fn new() -> Self {
        let store: Arc<dyn Store> = Arc::new(SqliteStore::in_memory().unwrap());
        let people = (0..READERS).map(|n| (Address::parse(&reader(n)).unwrap(), None));
        let added = store.add_subscribers(EditionName::default(), people.collect(), START);
        added.await.unwrap();
        let (edition, _) = store.open_edition(id(), START).await.unwrap();
        let mut change = account::Change::of(edition);
        change.document = Some(document(id(), 1, &[]));
        store.write_edition(change).await.unwrap();
        let mailing = Mailing::new(id(), 1, START);
        assert!(store.create_mailing(&mailing).await.unwrap());
        let claimed = store.claim(claim_request(1, START, 10)).await.unwrap();
        Self {
            task: claimed.tasks.into_iter().next().unwrap(),
            clock: Arc::new(ManualClock::at(START)),
            server: Server::default(),
            store,
        }
    }

    fn fault(&self, n: usize, fault: Fault) {
        locked(&self.server.0).faults.insert(reader(n), fault);
    }

    fn arrived(&self, n: usize) -> usize {
        let inboxes = locked(&self.server.0);
        inboxes.arrived.get(&reader(n)).copied().unwrap_or_default()
    }

    fn newsletter(
        &self,
        store: Arc<dyn Store>,
        edition: &str,
        on_unknown: OnUnknown,
    ) -> Arc<Newsletter> {
        Arc::new(Newsletter {
            store,
            clock: self.clock.clone(),
            sleeper: Arc::new(Forward(self.clock.clone())),
            server: Arc::new(self.server.clone()),
            writer: Arc::new(Plain),
            signer: Arc::new(Signer(edition.to_owned())),
            settings: Settings {
                edition: EditionName::parse(edition).unwrap(),
                title: format!("The {edition}"),
                language: "en".to_owned(),
                public_url: "https://daily.example".to_owned(),
                links_to_page: true,
                form: true,
                pace: 60,
                timeout: SignedDuration::from_secs(30),
                on_unknown,
                bounces_max: 2,
                footer: None,
            },
        })
    }

    fn handler(&self, store: Arc<dyn Store>, on_unknown: OnUnknown) -> MailHandler {
        let newsletter = self.newsletter(Arc::clone(&store), "default", on_unknown);
        self.handler_of(store, [newsletter])
    }

    fn handler_of(
        &self,
        store: Arc<dyn Store>,
        all: impl IntoIterator<Item = Arc<Newsletter>>,
    ) -> MailHandler {
        MailHandler {
            newsletters: NewsletterSet::of(all),
            store,
            clock: self.clock.clone(),
        }
    }

    /// Attempts until the mailing is done, as nodes do that come again at the time they were given.
    async fn finish(&self, handler: &MailHandler) {
        for _ in 0..2_000 {
            match handler.attempt(&self.task).await {
                Outcome::Done { .. } => return,
                Outcome::Again { at, .. } => self.clock.set(at.max(self.clock.now())),
                Outcome::Retry { .. } => self.clock.advance(SignedDuration::from_secs(5)),
                other => unreachable!("{other:?}"),
            }
        }
        unreachable!("it never ends");
    }

    async fn counts(&self) -> MailCounts {
        self.store.count_mails(id()).await.unwrap()
    }
}

#[tokio::test]
async fn ed_43_everybody_gets_an_edition_once_at_the_configured_pace() {
    let world = World::new().await;
    let handler = world.handler(Arc::clone(&world.store), OnUnknown::Skip);
    world.finish(&handler).await;
    for n in 0..READERS {
        assert_eq!(world.arrived(n), 1, "reader {n}");
    }
    let took = world.clock.now().duration_since(START);
    assert!(
        took >= SignedDuration::from_secs(24),
        "one a second: {took}"
    );
    let mailing = world.store.load_mailing(id()).await.unwrap().unwrap();
    assert_eq!(mailing.state, State::Done);
    // A task that is tried again sends nothing again.
    world.finish(&handler).await;
    assert_eq!(world.arrived(0), 1);
}

/// A world in which nodes die and the server fails, as a seed draws it, from start to end.
async fn lived_through(seed: u64, on_unknown: OnUnknown) -> World {
    let world = World::new().await;
    let entropy = SeededEntropy::new(seed);
    for n in 0..READERS {
        match entropy.next_u64() % 10 {
            0 => world.fault(n, Fault::Unanswered),
            1 => world.fault(n, Fault::Down),
            _ => {}
        }
    }
    let dying = Layered::over(Arc::clone(&world.store), Dying(entropy));
    let handler = world.handler(dying, on_unknown);
    world.finish(&handler).await;
    world
}

#[tokio::test]
async fn ed_43_nobody_gets_it_twice_however_nodes_die() {
    for seed in 0..SEEDS {
        let world = lived_through(seed, OnUnknown::Skip).await;
        let mut missed = 0;
        for n in 0..READERS {
            let arrived = world.arrived(n);
            assert!(
                arrived <= 1,
                "seed {seed}: reader {n} got it {arrived} times"
            );
            missed += u64::from(arrived == 0);
        }
        let counts = world.counts().await;
        let open = counts.waiting + counts.unknown + counts.failed;
        assert_eq!(open, 0, "seed {seed}: {counts:?}");
        assert!(
            counts.skipped >= missed,
            "seed {seed}: the ledger knows who missed it: {counts:?}"
        );
    }
}

#[tokio::test]
async fn ed_43_nobody_misses_it_where_twice_is_preferred() {
    for seed in 0..SEEDS {
        let world = lived_through(seed, OnUnknown::Repeat).await;
        for n in 0..READERS {
            assert!(world.arrived(n) >= 1, "seed {seed}: reader {n} missed it");
        }
        let counts = world.counts().await;
        assert_eq!(counts.confirmed, READERS as u64, "seed {seed}: {counts:?}");
    }
}

#[tokio::test]
async fn ed_43_two_nodes_at_once_send_each_message_once() {
    let world = World::new().await;
    let first = world.handler(Arc::clone(&world.store), OnUnknown::Skip);
    let second = world.handler(Arc::clone(&world.store), OnUnknown::Skip);
    tokio::join!(world.finish(&first), world.finish(&second));
    for n in 0..READERS {
        assert_eq!(world.arrived(n), 1, "reader {n}");
    }
}

#[tokio::test]
async fn ed_43_refused_recipients_stop_nobody_and_bounce() {
    let world = World::new().await;
    world.fault(3, Fault::NoSuchUser);
    world.fault(4, Fault::Later);
    world.fault(5, Fault::Unanswered);
    world.fault(6, Fault::Down);
    let handler = world.handler(Arc::clone(&world.store), OnUnknown::Skip);
    for _ in 0..100 {
        match handler.attempt(&world.task).await {
            Outcome::Again { at, .. } => world.clock.set(at.max(world.clock.now())),
            Outcome::Done { .. } => break,
            other => panic!("{other:?}"),
        }
        if world.arrived(READERS - 1) == 1 {
            locked(&world.server.0).faults.remove(&reader(4));
        }
    }
    for n in 0..READERS {
        let expected = usize::from(n != 3);
        assert_eq!(world.arrived(n), expected, "reader {n}");
    }
    let counts = world.counts().await;
    assert_eq!((counts.failed, counts.skipped), (1, 1), "{counts:?}");
    let subscribers = Subscribers {
        store: Arc::clone(&world.store),
        clock: world.clock.clone(),
    };
    let row = world.reader(3).await;
    assert_eq!((row.state, row.bounces), (Subscribed::Confirmed, 1));
    let row = subscribers.bounce(row.id, 2).await.unwrap();
    assert_eq!(row.state, Subscribed::Bounced, "the second in a row");
}

/// Whoever is refused after the content, or put off for as long as we try, has it counted; whoever
/// is refused because of us has not.
#[tokio::test]
async fn ed_43_only_refusals_that_are_about_the_recipient_count() {
    let world = World::new().await;
    world.fault(3, Fault::NoSuchUserAfter);
    world.fault(4, Fault::Later);
    world.fault(5, Fault::Blocked);
    let handler = world.handler(Arc::clone(&world.store), OnUnknown::Skip);
    world.finish(&handler).await;
    let counts = world.counts().await;
    assert_eq!((counts.confirmed, counts.failed), (22, 3), "{counts:?}");
    for (n, bounces, attempts) in [(3, 1, 1), (4, 1, 12), (5, 0, 12), (6, 0, 1)] {
        let row = world.reader(n).await;
        let mail = world.store.load_mail(id(), row.id).await.unwrap().unwrap();
        assert_eq!((row.bounces, mail.attempts), (bounces, attempts), "{n}");
    }
}

#[tokio::test]
async fn ed_43_a_message_that_comes_back_counts_once() {
    let world = World::new().await;
    let handler = world.handler(Arc::clone(&world.store), OnUnknown::Skip);
    world.finish(&handler).await;
    let subscribers = Subscribers {
        store: Arc::clone(&world.store),
        clock: world.clock.clone(),
    };
    let report = |message, address: Option<usize>, is_bounce| Report {
        message,
        address: address.map(|n| Address::parse(&reader(n)).unwrap()),
        refusal: refusal("5.1.1 gone", is_bounce),
    };
    let take = async |report: Report| {
        let taken = subscribers.take_report(&report, |_| 2).await;
        taken.map(|it| (it.effect, it.subscriber.bounces)).ok()
    };
    let two = Ours::Edition(id(), world.reader(2).await.id);
    assert_eq!(
        take(report(Some(two), None, true)).await,
        Some((Effect::Counted, 1))
    );
    assert_eq!(
        take(report(Some(two), None, true)).await,
        Some((Effect::None, 1)),
        "once"
    );
    // By its address alone, and about something else than the address.
    assert_eq!(
        take(report(None, Some(3), true)).await,
        Some((Effect::Counted, 1))
    );
    assert_eq!(
        take(report(None, Some(4), false)).await,
        Some((Effect::Noted, 0))
    );
    // What nobody sent, and nobody who reads it.
    let never = Ours::Edition(date(2026, 2, 1).into(), world.reader(5).await.id);
    assert_eq!(
        take(report(Some(never), None, true)).await,
        Some((Effect::None, 0))
    );
    assert_eq!(take(report(None, Some(999), true)).await, None);
    assert_eq!(take(report(None, None, true)).await, None);
    let counts = world.counts().await;
    assert_eq!((counts.confirmed, counts.failed), (22, 3), "{counts:?}");
    let mail = world.store.load_mail(id(), world.reader(2).await.id).await;
    let detail = mail.unwrap().unwrap().detail;
    assert_eq!(detail.as_deref(), Some("bounced later: 5.1.1 gone"));
}

#[tokio::test]
async fn ed_43_a_confirmation_that_comes_back_ends_the_request() {
    let world = World::new().await;
    let subscribers = Subscribers {
        store: Arc::clone(&world.store),
        clock: world.clock.clone(),
    };
    let eve = Address::parse("eve@site.example").unwrap();
    let (added, row) = subscribers.invite(weekly(), &eve, None).await.unwrap();
    assert_eq!(added, Added::Asked);
    let (again, _) = subscribers.ask_again(row.id).await.unwrap();
    assert_eq!(again, Added::Waiting, "within the hour");
    let asked = row.asked_at.unwrap();
    for (at, effect) in [
        (asked - SignedDuration::from_secs(9), Effect::None),
        (asked, Effect::Counted),
        (asked, Effect::None),
    ] {
        let report = Report {
            message: Some(Ours::Confirmation(row.id, at)),
            address: None,
            refusal: refusal("5.1.1", true),
        };
        let taken = subscribers.take_report(&report, |_| 3).await.unwrap();
        assert_eq!(taken.effect, effect);
    }
    let row = subscribers.load(row.id).await.unwrap();
    assert_eq!(row.state, Subscribed::Bounced);
}

#[tokio::test]
async fn ed_43_who_unsubscribes_meanwhile_gets_nothing() {
    let world = World::new().await;
    let filled = world.store.fill_mailing(id(), 1_000, START).await;
    assert!(filled.unwrap().unwrap().is_filled);
    let all = SubscriberFilter {
        limit: READERS,
        ..SubscriberFilter::default()
    };
    let rows = world.store.list_subscribers(&all).await.unwrap().rows;
    let left = rows[7].unsubscribed(START).unwrap();
    world.store.write_subscriber(&left, false).await.unwrap();
    let handler = world.handler(Arc::clone(&world.store), OnUnknown::Skip);
    world.finish(&handler).await;
    assert_eq!((world.arrived(7), world.arrived(8)), (0, 1));
}

fn weekly() -> EditionName {
    EditionName::parse("weekly").unwrap()
}

async fn subscriber(world: &World, edition: EditionName, address: &str) -> Subscriber {
    let address = Address::parse(address).unwrap();
    let people = vec![(address.clone(), None)];
    let added = world.store.add_subscribers(edition, people, START).await;
    added.unwrap();
    let found = world.store.find_subscriber(edition, &address).await;
    found.unwrap().unwrap()
}

#[tokio::test]
async fn ed_43_a_task_is_tried_by_the_newsletter_of_its_edition() {
    let world = World::new().await;
    let store = || Arc::clone(&world.store);
    let of = |edition| world.newsletter(store(), edition, OnUnknown::Skip);
    // The mailing is the default edition's, which this node does not mail.
    let other = world.handler_of(store(), [of("weekly")]);
    let waits = other.attempt(&world.task).await;
    assert!(matches!(waits, Outcome::NotNow { .. }), "{waits:?}");
    assert_eq!(world.arrived(0), 0);
    let ada = Address::parse("ada@site.example").unwrap();
    let asked = other.newsletters.get(weekly()).unwrap().subscribers();
    asked.ask(weekly(), &ada, None).await.unwrap();
    let claimed = store().claim(claim_request(2, START, 10)).await.unwrap();
    let task = claimed.tasks.into_iter().next().unwrap();
    let default = world.handler_of(store(), [of("default")]);
    let waits = default.attempt(&task).await;
    assert!(matches!(waits, Outcome::NotNow { .. }), "{waits:?}");
    let both = world.handler_of(store(), [of("default"), of("weekly")]);
    let sent = both.attempt(&task).await;
    assert!(matches!(sent, Outcome::Done { .. }), "{sent:?}");
    let subjects = locked(&world.server.0).subjects.clone();
    assert_eq!(
        subjects,
        ["The weekly"],
        "of the edition that was asked for"
    );
    world.finish(&both).await;
    assert_eq!(world.arrived(0), 1);
}

#[tokio::test]
async fn ed_43_a_link_is_of_the_edition_that_was_subscribed_to() {
    let world = World::new().await;
    let of = |edition| world.newsletter(Arc::clone(&world.store), edition, OnUnknown::Skip);
    let (default, own) = (of("default"), of("weekly"));
    let set = NewsletterSet::of([Arc::clone(&default), Arc::clone(&own)]);
    let row = subscriber(&world, weekly(), "ada@site.example").await;
    let token = |newsletter: &Newsletter| {
        let link = newsletter.link(Purpose::Unsubscribe, row.id);
        link.rsplit_once('/').unwrap().1.to_owned()
    };
    let title = async |set: &NewsletterSet, token: &str| {
        let followed = set.follow(Purpose::Unsubscribe, token).await.unwrap();
        followed.map(|it| {
            assert_eq!(it.id, row.id);
            it.title
        })
    };
    let theirs = token(&own);
    assert_eq!(title(&set, &theirs).await.as_deref(), Some("The weekly"));
    assert_eq!(
        title(&set, &token(&default)).await,
        None,
        "signed by another"
    );
    assert_eq!(title(&set, "1.2.3").await, None);
    // Unsubscribing works for ever, by the same secret.
    let alone = NewsletterSet::of([Arc::new(Newsletter {
        signer: Arc::new(Signer("weekly".to_owned())),
        ..Arc::into_inner(of("default")).unwrap()
    })]);
    assert_eq!(title(&alone, &theirs).await.as_deref(), Some("weekly"));
    world.store.remove_subscriber(row.id).await.unwrap();
    assert_eq!(title(&set, &theirs).await.as_deref(), Some("The weekly"));
}
