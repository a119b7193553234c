//! Requests in others' transactions, on a real PostgreSQL: what the functions take, what a node
//! makes of it, and that nobody who may call them can do anything else (WK-03).

mod rights;

use std::sync::Arc;

use almanack_core::{
    inbox::{InboxAnswer, InboxEntry, InboxNumber, InboxRequest},
    reschedule::Rule,
    store::{self, InboxDecider, InboxStore as _, InboxVerdict, Store, TaskStore as _},
    task::{Kind, Status, Subject, Task},
    time::Sleeper,
};
use almanack_engine::{
    inbox::Inbox,
    reschedule::{Kinds, Rescheduler},
};
use almanack_store::{postgres::PostgresStore, sqlite::SqliteStore};
use almanack_testkit::{
    clock::ManualClock,
    fixture::{PUBLISH, START, at, identity},
    postgres::Schema,
};
use async_trait::async_trait;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

/// A node's inbox on a schema of its own.
struct House {
    store: Arc<PostgresStore>,
    inbox: Inbox,
    schema: Schema,
}

async fn house() -> House {
    let schema = Schema::create().await;
    let store = Arc::new(PostgresStore::connect(schema.url()).await.unwrap());
    let inbox = inbox(&store, any_kind());
    House {
        store,
        inbox,
        schema,
    }
}

fn any_kind() -> Kinds {
    Kinds {
        accept_any: true,
        ..Kinds::default()
    }
}

fn inbox(store: &Arc<PostgresStore>, kinds: Kinds) -> Inbox {
    let store: Arc<dyn Store> = store.clone();
    let clock = Arc::new(ManualClock::at(START));
    let rescheduler = Rescheduler::new(store.clone(), clock.clone(), kinds);
    Inbox::new(store, Arc::new(rescheduler), clock, 10_000).unwrap()
}

impl House {
    /// `call` of the functions' schema, as a statement.
    fn sql(&self, call: &str) -> String {
        format!("select {}.{call}", self.schema.functions())
    }

    /// Calls a function in a transaction of its own; answers the request's number.
    async fn ask(&self, call: &str) -> InboxNumber {
        let session = self.schema.session().await;
        let row = session.query_one(&self.sql(call), &[]).await.unwrap();
        InboxNumber(row.get(0))
    }

    async fn entry(&self, number: InboxNumber) -> InboxEntry {
        self.store.load_inbox(number).await.unwrap().unwrap()
    }

    async fn answer(&self, number: InboxNumber) -> InboxAnswer {
        self.entry(number).await.answer.unwrap()
    }

    /// The rule that applied; none if it was refused.
    async fn rule(&self, number: InboxNumber) -> Option<Rule> {
        match self.answer(number).await {
            InboxAnswer::Receipt(receipt) => Some(receipt.rule),
            InboxAnswer::Refused(_) => None,
        }
    }

    async fn task(&self, subject: &str) -> Option<Task> {
        let found = self.store.load_current(&[identity(subject, PUBLISH)]).await;
        found.unwrap().pop().unwrap()
    }

    async fn drain(&self) -> usize {
        let mut answered = 0;
        loop {
            let taken = self.inbox.bite().await.unwrap();
            if taken.found == 0 {
                return answered;
            }
            answered += taken.answered.len();
        }
    }
}

/// A put of [`PUBLISH`] so many seconds after [`START`].
fn put(subject: &str, seconds: i64) -> String {
    format!("put('{PUBLISH}', '{subject}', '{}')", at(seconds))
}

#[tokio::test]
async fn wk_03_a_request_takes_effect_if_and_only_if_its_transaction_commits() {
    let house = house().await;
    let mut session = house.schema.session().await;
    let call = house.sql(&put("article:1", 60));
    let transaction = session.transaction().await.unwrap();
    transaction.query_one(&call, &[]).await.unwrap();
    assert_eq!(house.drain().await, 0, "it is not committed yet");
    transaction.rollback().await.unwrap();
    assert_eq!(house.drain().await, 0);
    assert_eq!(house.task("article:1").await, None, "rolled back");
    let transaction = session.transaction().await.unwrap();
    transaction.query_one(&call, &[]).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(house.drain().await, 1);
    let task = house.task("article:1").await.unwrap();
    assert_eq!((task.due_at, task.status), (Some(at(60)), Status::Init));
    assert!(task.origin.starts_with("sql:"), "{}", task.origin);
    assert_eq!(house.drain().await, 0, "once");
}

#[tokio::test]
async fn wk_03_the_rules_and_the_fields_are_those_of_every_other_request() {
    let house = house().await;
    let options = r#"'{"colour": 1}', '{"revision": 5, "priority": 9, "max_retry": 1}'"#;
    let created = format!("put('{PUBLISH}', 'article:1', '{}', {options})", at(60));
    let calls = [
        (created.as_str(), Rule::Created),
        (
            &put("article:1", 90).replace(')', ", null, '{\"revision\": 4}')"),
            Rule::IgnoredStale,
        ),
        (&put("article:1", 120), Rule::Updated),
        (&put("article:1", 120), Rule::Unchanged),
        (
            &format!("cancel('{PUBLISH}', 'article:1')"),
            Rule::Cancelled,
        ),
        (&put("article:1", 180), Rule::Reinserted),
    ];
    for (call, rule) in calls {
        let number = house.ask(call).await;
        assert_eq!(house.drain().await, 1);
        assert_eq!(house.rule(number).await, Some(rule), "{call}");
    }
    let task = house.task("article:1").await.unwrap();
    assert_eq!(task.payload.as_str(), r#"{"colour": 1}"#);
    let kept = (task.revision.0, task.priority.level(), task.max_retry);
    assert_eq!((kept, task.due_at), ((5, 9, 1), Some(at(180))));
}

/// All wait in the inbox at once; one transaction may hold several about one identity.
#[tokio::test]
async fn wk_03_requests_about_one_identity_take_effect_in_their_order() {
    let house = house().await;
    house.ask(&put("article:1", 60)).await;
    assert_eq!(house.drain().await, 1);
    let mut session = house.schema.session().await;
    let transaction = session.transaction().await.unwrap();
    for seconds in [30, 90] {
        let call = house.sql(&put("article:1", seconds));
        transaction.query_one(&call, &[]).await.unwrap();
    }
    transaction.commit().await.unwrap();
    house.ask(&put("article:1", 10)).await;
    house.ask(&put("article:2", 20)).await;
    assert_eq!(house.drain().await, 4);
    let task = house.task("article:1").await.unwrap();
    assert_eq!((task.due_at, task.decisions), (Some(at(10)), 3));
    let decisions = house.store.load_decisions(task.id, 0, 9).await.unwrap();
    let times: Vec<Timestamp> = decisions.iter().map(|it| it.execute_at).collect();
    assert_eq!(times, [at(30), at(90), at(10)]);
}

/// Without waiting, the one that is committed last could have the smaller number, and the other
/// one's time would stay.
#[tokio::test]
async fn wk_03_a_second_transaction_waits_for_the_first_of_its_identity() {
    let house = house().await;
    let (mut first, second) = (house.schema.session().await, house.schema.session().await);
    let transaction = first.transaction().await.unwrap();
    let call = house.sql(&put("article:1", 60));
    let early: i64 = transaction.query_one(&call, &[]).await.unwrap().get(0);
    let pid: i32 = second
        .query_one("select pg_backend_pid()", &[])
        .await
        .unwrap()
        .get(0);
    let call = house.sql(&put("article:1", 90));
    let waiting = tokio::spawn(async move {
        let row = second.query_one(&call, &[]).await.unwrap();
        row.get::<_, i64>(0)
    });
    // Another identity does not wait.
    house.ask(&put("article:2", 60)).await;
    let watch = house.schema.session().await;
    loop {
        let blocked = "select cardinality(pg_blocking_pids($1)) > 0";
        if watch.query_one(blocked, &[&pid]).await.unwrap().get(0) {
            break;
        }
        assert!(!waiting.is_finished(), "it did not wait");
    }
    transaction.commit().await.unwrap();
    let late = waiting.await.unwrap();
    assert!(early < late, "{early} {late}");
    assert_eq!(house.drain().await, 3);
    let task = house.task("article:1").await.unwrap();
    assert_eq!(task.due_at, Some(at(90)), "the last commit wins");
}

#[tokio::test]
async fn wk_03_nodes_that_take_at_once_keep_the_order_and_double_nothing() {
    let house = house().await;
    let session = house.schema.session().await;
    let call = format!(
        "select {}.put('{PUBLISH}', 'article:' || n % 7, '{START}'::timestamptz + n * interval '1s') \
         from generate_series(1, 140) n",
        house.schema.functions()
    );
    session.query(&call, &[]).await.unwrap();
    let take = async || {
        let node = inbox(&house.store, any_kind());
        let mut answered = 0;
        // A round that finds only what others hold is no end.
        let left = "select count(*) from inbox where answered_at_us is null";
        let session = house.schema.session().await;
        while session.query_one(left, &[]).await.unwrap().get::<_, i64>(0) > 0 {
            answered += node.bite().await.unwrap().answered.len();
        }
        answered
    };
    let (a, b, c) = tokio::join!(take(), take(), take());
    assert_eq!(a + b + c, 140);
    for n in 0..7 {
        let task = house.task(&format!("article:{n}")).await.unwrap();
        assert_eq!(task.decisions, 19, "article:{n}");
        let decisions = house.store.load_decisions(task.id, 0, 99).await.unwrap();
        let times: Vec<Timestamp> = decisions.iter().map(|it| it.execute_at).collect();
        assert!(times.is_sorted(), "article:{n}: {times:?}");
    }
}

/// Stops where a node can die: the requests are taken, nothing is written.
struct Dying(tokio::sync::mpsc::UnboundedSender<usize>);

#[async_trait]
impl InboxDecider for Dying {
    async fn decide(
        &self,
        asked: Vec<(InboxRequest, store::Result<Option<Task>>)>,
    ) -> Vec<InboxVerdict> {
        self.0.send(asked.len()).unwrap();
        std::future::pending().await
    }

    fn now(&self) -> Timestamp {
        START
    }
}

#[tokio::test]
async fn wk_03_a_node_that_dies_in_between_leaves_its_requests_to_others() {
    let house = house().await;
    let number = house.ask(&put("article:1", 60)).await;
    house.ask(&put("article:1", 90)).await;
    let (sender, mut taken) = tokio::sync::mpsc::unbounded_channel();
    let dying = Arc::new(PostgresStore::connect(house.schema.url()).await.unwrap());
    let dying = tokio::spawn(async move { dying.take_inbox(Arc::new(Dying(sender)), 9).await });
    assert_eq!(taken.recv().await, Some(1), "one of the identity");
    let now = house.inbox.bite().await.unwrap();
    assert_eq!(
        now.found, 0,
        "neither the row that is held nor the one after it"
    );
    dying.abort();
    assert!(dying.await.unwrap_err().is_cancelled());
    while house.entry(number).await.answer.is_none() {
        house.inbox.bite().await.unwrap();
    }
    house.drain().await;
    let task = house.task("article:1").await.unwrap();
    assert_eq!(
        (task.due_at, task.decisions),
        (Some(at(90)), 1),
        "once each"
    );
}

/// Never wakes: what wakes the duty then is the hint.
struct Asleep;

#[async_trait]
impl Sleeper for Asleep {
    async fn until(&self, _: Timestamp) {
        std::future::pending::<()>().await;
    }
}

#[tokio::test]
async fn wk_03_a_commit_wakes_a_node_that_sleeps() {
    let House {
        store,
        inbox,
        schema,
    } = house().await;
    let stop = CancellationToken::new();
    let running = {
        let stop = stop.clone();
        tokio::spawn(async move { inbox.run(&Asleep, &stop).await })
    };
    for n in 1..=3 {
        let session = schema.session().await;
        let call = format!("select {}.{}", schema.functions(), put("article:1", n));
        let number: i64 = session.query_one(&call, &[]).await.unwrap().get(0);
        while store
            .load_inbox(InboxNumber(number))
            .await
            .unwrap()
            .unwrap()
            .answer
            .is_none()
        {
            tokio::task::yield_now().await;
        }
    }
    stop.cancel();
    running.await.unwrap();
}

#[tokio::test]
async fn wk_03_many_requests_are_taken_in_few_bites() {
    let house = house().await;
    let call = format!(
        "select count({}.put('{PUBLISH}', 'article:' || n, '{START}')) from generate_series(1, 2000) n",
        house.schema.functions()
    );
    let session = house.schema.session().await;
    session.query(&call, &[]).await.unwrap();
    let mut bites = 0;
    while house.inbox.bite().await.unwrap().found > 0 {
        bites += 1;
    }
    assert_eq!(bites, 4);
}

#[tokio::test]
async fn wk_03_what_only_a_node_knows_is_refused_in_the_receipt() {
    let house = house().await;
    let number = house.ask(&put("article:1", 60)).await;
    let strict = inbox(&house.store, Kinds::default());
    let taken = strict.bite().await.unwrap();
    assert_eq!(taken.answered.len(), 1);
    let InboxAnswer::Refused(reason) = house.answer(number).await else {
        panic!("the kind is not configured");
    };
    assert!(reason.contains("is not configured"), "{reason}");
    assert_eq!(house.task("article:1").await, None);
    let session = house.schema.session().await;
    let call = house.sql(&format!("receipt({})->>'refused'", number.0));
    let shown: String = session.query_one(&call, &[]).await.unwrap().get(0);
    assert_eq!(shown, reason);
}

/// One of them cannot be written; the others do not wait for it.
#[tokio::test]
async fn wk_03_a_request_that_the_database_refuses_costs_only_itself() {
    let house = house().await;
    let check = "alter table task add constraint no_bad check (subject <> 'bad')";
    house.schema.run(check).await;
    for subject in ["article:1", "bad", "article:2"] {
        house.ask(&put(subject, 60)).await;
    }
    assert_eq!(house.inbox.bite().await.unwrap().answered.len(), 3);
    assert_eq!(house.rule(InboxNumber(2)).await, None, "refused");
    for number in [1, 3] {
        assert_eq!(house.rule(InboxNumber(number)).await, Some(Rule::Created));
    }
}

async fn check_receipt(house: &House, number: InboxNumber) {
    let session = house.schema.session().await;
    let call = house.sql(&format!("receipt({})::text", number.0));
    let text: String = session.query_one(&call, &[]).await.unwrap().get(0);
    let mut shown: serde_json::Value = serde_json::from_str(&text).unwrap();
    let entry = house.entry(number).await;
    for (field, value) in [
        ("asked_at", Some(entry.asked_at)),
        ("answered_at", entry.answered_at),
    ] {
        let text = shown[field].as_str().map(str::to_owned);
        let read = text.map(|text| text.parse::<Timestamp>().unwrap());
        assert_eq!(read, value, "{field}");
        if let Some(value) = value {
            // The two write the same instant with a different number of digits.
            shown[field] = value.to_string().into();
        }
    }
    assert_eq!(shown, serde_json::to_value(entry).unwrap());
}

/// `almanack.receipt` and the API answer with the same, and answers are forgotten with age.
#[tokio::test]
async fn wk_03_a_receipt_in_sql_is_that_of_the_api_until_it_is_forgotten() {
    let house = house().await;
    let number = house.ask(&put("article:1", 60)).await;
    check_receipt(&house, number).await;
    let waiting = house.store.prune_inbox(Timestamp::MAX, 9).await;
    assert_eq!(waiting.unwrap(), 0, "it is not answered");
    assert_eq!(house.drain().await, 1);
    check_receipt(&house, number).await;
    assert_eq!(house.store.prune_inbox(START, 9).await.unwrap(), 0, "young");
    assert_eq!(house.store.prune_inbox(at(1), 9).await.unwrap(), 1);
    assert_eq!(house.store.load_inbox(number).await.unwrap(), None);
}

#[tokio::test]
async fn wk_03_sqlite_has_no_inbox() {
    let store: Arc<dyn Store> = Arc::new(SqliteStore::in_memory().unwrap());
    let clock = Arc::new(ManualClock::at(START));
    let rescheduler = Rescheduler::new(store.clone(), clock.clone(), any_kind());
    assert!(Inbox::new(store.clone(), Arc::new(rescheduler), clock, 1).is_none());
    assert_eq!(store.load_inbox(InboxNumber(1)).await.unwrap(), None);
    assert_eq!(store.prune_inbox(START, 1).await.unwrap(), 0);
}

/// What the function lets through, the node reads; what the function refuses, the node would.
#[tokio::test]
async fn wk_03_function_and_node_agree_about_identities() {
    let house = house().await;
    let session = house.schema.session().await;
    let call = format!("select {}.put($1, $2, '{START}')", house.schema.functions());
    let long = "a".repeat(201);
    for (kind, subject) in [
        ("MAIL", "user:9"),
        ("a.b-c_D9", "用户:9 x"),
        ("9MAIL", "a"),
        ("MAIL!", "a"),
        ("MAIL\n", "a"),
        ("", "a"),
        ("MAIL", ""),
        ("MAIL", " a"),
        ("MAIL", "a\u{a0}"),
        ("MAIL", "a\u{3000}"),
        ("MAIL", "a\tb"),
        ("MAIL", "a\u{85}b"),
        ("MAIL", &long),
        ("MAIL", &long[1..]),
    ] {
        let fits = Kind::parse(kind).is_ok() && Subject::parse(subject).is_ok();
        let asked = session.query_one(&call, &[&kind, &subject]).await;
        assert_eq!(asked.is_ok(), fits, "{kind:?} {subject:?}");
    }
}
