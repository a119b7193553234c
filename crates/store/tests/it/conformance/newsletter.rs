//! Newsletters: subscribers, mailings and their ledgers (ED-43).

use std::sync::Arc;

use almanack_core::{
    edition::{EditionId, EditionName, delivery::State as Row},
    newsletter::{
        Address, Mailing, Subscriber, SubscriberId,
        mailing::{self, Mail, MailCounts, State as MailingState},
        subscriber::{self, Added, State},
    },
    store::{MailFilter, Store, SubscriberFilter},
    task::Status,
};
use almanack_testkit::fixture::{START, at};
use jiff::civil::date;

fn address(name: &str) -> Address {
    Address::parse(&format!("{name}@site.example")).expect("an address")
}

fn id() -> EditionId {
    date(2026, 1, 10).into()
}

fn edition() -> EditionName {
    EditionName::default()
}

fn weekly() -> EditionName {
    EditionName::parse("weekly").expect("a name")
}

async fn subscribed(store: &dyn Store, count: usize) {
    let people = (0..count).map(|n| (address(&format!("reader{n}")), None));
    let added = store.add_subscribers(edition(), people.collect(), START);
    assert_eq!(added.await.expect("added").len(), count);
}

async fn found(store: &dyn Store, name: &str) -> Option<Subscriber> {
    let found = store.find_subscriber(edition(), &address(name)).await;
    found.expect("find_subscriber")
}

pub(crate) async fn ed_43_a_subscriber_is_kept_with_every_field(store: Arc<dyn Store>) {
    let of = (edition(), &address("ada"));
    let asked = subscriber::ask(None, of, Some("zh-CN"), at(5)).expect("a row");
    let id = store.write_subscriber(&asked, true).await.expect("written");
    let id = id.expect("a number");
    let expected = Subscriber {
        id,
        ..asked.clone()
    };
    assert_eq!(found(&*store, "ada").await, Some(expected.clone()));
    let loaded = store.load_subscriber(id).await.expect("load_subscriber");
    assert_eq!(loaded, Some(expected.clone()));
    assert_eq!(found(&*store, "bob").await, None);
    let other = store.find_subscriber(weekly(), &address("ada")).await;
    assert_eq!(other.expect("find_subscriber"), None, "another edition's");
    let task = expected.confirmation_task(id).expect("a task").identity;
    let tasks = store.load_current(&[task]).await.expect("load_current");
    let task = tasks[0].as_ref().expect("its confirmation mail");
    assert_eq!((task.status, task.due_at), (Status::Init, Some(at(5))));
    let again = store.write_subscriber(&asked, true).await.expect("written");
    assert_eq!(again, None, "the address is taken");
}

pub(crate) async fn ed_43_of_writers_that_saw_the_same_subscriber_one_writes(
    store: Arc<dyn Store>,
) {
    subscribed(&*store, 1).await;
    let row = found(&*store, "reader0").await.expect("a row");
    let left = row.unsubscribed(at(1)).expect("a change");
    let bounced = row.bounced(1, at(1)).expect("a change");
    assert!(
        store
            .write_subscriber(&left, false)
            .await
            .expect("written")
            .is_some()
    );
    let lost = store
        .write_subscriber(&bounced, false)
        .await
        .expect("written");
    assert_eq!(lost, None);
    let row = found(&*store, "reader0").await.expect("a row");
    assert_eq!(
        (row.state, row.ended_at),
        (State::Unsubscribed, Some(at(1)))
    );
}

pub(crate) async fn ed_43_who_unsubscribed_is_not_imported_again(store: Arc<dyn Store>) {
    subscribed(&*store, 2).await;
    let row = found(&*store, "reader1").await.expect("a row");
    let left = row.unsubscribed(at(1)).expect("a change");
    store.write_subscriber(&left, false).await.expect("written");
    let people = ["reader0", "reader1", "new", "new"].map(|name| (address(name), None));
    let added = store.add_subscribers(edition(), people.into(), at(2)).await;
    let expected = [Added::Existing, Added::Ended, Added::New, Added::Existing];
    assert_eq!(added.expect("added"), expected);
    let row = found(&*store, "reader1").await.expect("a row");
    assert_eq!(row.state, State::Unsubscribed);
}

pub(crate) async fn ed_43_subscribers_are_listed_counted_and_removed(store: Arc<dyn Store>) {
    subscribed(&*store, 5).await;
    let row = found(&*store, "reader3").await.expect("a row");
    let left = row.unsubscribed(at(1)).expect("a change");
    store.write_subscriber(&left, false).await.expect("written");
    let mut filter = SubscriberFilter {
        edition: Some(edition()),
        state: Some(State::Confirmed),
        after: None,
        limit: 3,
    };
    let page = store.list_subscribers(&filter).await.expect("a page");
    assert_eq!(page.rows.len(), 3);
    filter.after = page.next;
    let rest = store.list_subscribers(&filter).await.expect("a page");
    assert_eq!((rest.rows.len(), rest.next), (1, None));
    let counts = store.count_subscribers().await.expect("counts");
    let counts: Vec<_> = counts.iter().map(|it| (it.state, it.count)).collect();
    assert_eq!(counts, [(State::Confirmed, 4), (State::Unsubscribed, 1)]);
    let mailing = Mailing::new(id(), 1, START);
    store.create_mailing(&mailing).await.expect("created");
    store.fill_mailing(id(), 10, START).await.expect("filled");
    let first = page.rows[0].id;
    assert!(store.remove_subscriber(first).await.expect("removed"));
    assert!(
        !store.remove_subscriber(first).await.expect("removed"),
        "gone"
    );
    let counts = store.count_mails(id()).await.expect("counts");
    assert_eq!(counts.waiting, 3, "the ledger forgets them, too");
}

pub(crate) async fn ed_43_an_edition_has_one_mailing_with_its_task(store: Arc<dyn Store>) {
    let mailing = Mailing::new(id(), 2, at(3));
    assert!(store.create_mailing(&mailing).await.expect("created"));
    let second = Mailing::new(id(), 3, at(4));
    assert!(!store.create_mailing(&second).await.expect("created"));
    let loaded = store.load_mailing(id()).await.expect("loaded");
    assert_eq!(loaded, Some(mailing.clone()), "the first stays");
    let identity = mailing::identity(id()).expect("an identity");
    let tasks = store.load_current(&[identity]).await.expect("load_current");
    assert_eq!(tasks[0].as_ref().map(|task| task.due_at), Some(Some(at(3))));
    let noted = mailing.failed("535 no");
    store.note_mailing(&noted).await.expect("noted");
    let listed = store.list_mailings(10).await.expect("listed");
    assert_eq!(listed, std::slice::from_ref(&noted));
    let done = noted.done(at(9));
    store.note_mailing(&done).await.expect("noted");
    let loaded = store
        .load_mailing(id())
        .await
        .expect("loaded")
        .expect("one");
    assert_eq!(
        (loaded.state, loaded.ended_at),
        (MailingState::Done, Some(at(9)))
    );
}

pub(crate) async fn ed_43_every_confirmed_subscriber_has_one_row(store: Arc<dyn Store>) {
    subscribed(&*store, 5).await;
    let pending = subscriber::ask(None, (edition(), &address("pending")), None, START);
    store
        .write_subscriber(&pending.expect("a row"), false)
        .await
        .expect("written");
    store
        .create_mailing(&Mailing::new(id(), 1, START))
        .await
        .expect("created");
    let mut steps = 0;
    loop {
        let filled = store.fill_mailing(id(), 2, START).await.expect("filled");
        steps += 1;
        if filled.expect("a mailing").is_filled {
            break;
        }
    }
    assert_eq!(steps, 3);
    store.fill_mailing(id(), 2, START).await.expect("filled");
    let due = store.load_due_mails(id(), START, 100).await.expect("due");
    let whom: Vec<i64> = due.iter().map(|mail| mail.subscriber_id.0).collect();
    assert_eq!(whom, [1, 2, 3, 4, 5]);
    assert!(due.iter().all(|mail| mail.state == Row::Intended));
    let missing = EditionId::new(weekly(), id().date);
    let none = store.fill_mailing(missing, 2, START).await.expect("filled");
    assert_eq!(none, None);
}

async fn due(store: &dyn Store, now: i64) -> Vec<Mail> {
    store.load_due_mails(id(), at(now), 100).await.expect("due")
}

pub(crate) async fn ed_43_of_two_nodes_one_may_send(store: Arc<dyn Store>) {
    subscribed(&*store, 1).await;
    store
        .create_mailing(&Mailing::new(id(), 1, START))
        .await
        .expect("created");
    store.fill_mailing(id(), 10, START).await.expect("filled");
    let seen = due(&*store, 0).await.remove(0);
    let started = seen.started(at(60), at(0));
    assert!(store.write_mail(&seen, &started).await.expect("written"));
    assert!(
        !store.write_mail(&seen, &started).await.expect("written"),
        "the other node"
    );
    assert_eq!(due(&*store, 59).await, [], "being sent");
    let next = store.next_mail_at(id()).await.expect("a time");
    assert_eq!(next, Some(at(60)));
    assert_eq!(
        due(&*store, 60).await,
        std::slice::from_ref(&started),
        "in doubt"
    );
    let confirmed = started.confirmed(Some("250 queued"), at(2));
    assert!(
        store
            .write_mail(&started, &confirmed)
            .await
            .expect("written")
    );
    // A node that took it for dead meanwhile changes nothing any more.
    let skipped = started.skipped("in doubt", at(61));
    assert!(!store.write_mail(&started, &skipped).await.expect("written"));
    let counts = store.count_mails(id()).await.expect("counts");
    let expected = MailCounts {
        confirmed: 1,
        ..MailCounts::default()
    };
    assert_eq!(counts, expected);
    assert_eq!(store.next_mail_at(id()).await.expect("a time"), None);
}

pub(crate) async fn ed_43_what_failed_waits_and_ends(store: Arc<dyn Store>) {
    subscribed(&*store, 2).await;
    store
        .create_mailing(&Mailing::new(id(), 1, START))
        .await
        .expect("created");
    store.fill_mailing(id(), 10, START).await.expect("filled");
    let rows = due(&*store, 0).await;
    let deferred = rows[0].deferred("450 later", at(0));
    assert!(
        store
            .write_mail(&rows[0], &deferred)
            .await
            .expect("written")
    );
    let refused = rows[1].refused("550 no such user", at(0));
    assert!(store.write_mail(&rows[1], &refused).await.expect("written"));
    assert_eq!(due(&*store, 29).await, []);
    assert_eq!(
        store.next_mail_at(id()).await.expect("a time"),
        Some(at(30))
    );
    assert_eq!(due(&*store, 30).await, [deferred]);
    assert_eq!(rows[1].subscriber_id, SubscriberId(2), "which has ended");
}

pub(crate) async fn ed_43_the_ledger_is_read_by_mailing_and_by_subscriber(store: Arc<dyn Store>) {
    subscribed(&*store, 5).await;
    let other = EditionId::new(edition(), date(2026, 1, 11));
    for id in [id(), other] {
        let mailing = Mailing::new(id, 1, START);
        store.create_mailing(&mailing).await.expect("created");
        store.fill_mailing(id, 10, START).await.expect("filled");
    }
    let seen = due(&*store, 0).await;
    for mail in &seen[1..4] {
        let refused = mail.refused("550 no such user", at(1));
        assert!(store.write_mail(mail, &refused).await.expect("written"));
    }
    let mut filter = MailFilter {
        id: id(),
        state: Some(Row::Failed),
        after: None,
        limit: 2,
    };
    let page = store.list_mails(&filter).await.expect("a page");
    let whom: Vec<_> = page.rows.iter().map(|(_, to)| to.clone()).collect();
    assert_eq!(whom, [address("reader1"), address("reader2")]);
    assert_eq!(page.rows[0].0, seen[1].refused("550 no such user", at(1)));
    filter.after = page.next;
    let rest = store.list_mails(&filter).await.expect("a page");
    assert_eq!((rest.rows.len(), rest.next), (1, None));
    filter.state = None;
    (filter.after, filter.limit) = (None, 10);
    let all = store.list_mails(&filter).await.expect("a page");
    assert_eq!(all.rows.len(), 5);
    let to = seen[2].subscriber_id;
    let days = async |before, limit| {
        let mails = store.mails_to(to, before, limit).await.expect("mails");
        assert!(mails.iter().all(|mail| mail.subscriber_id == to));
        mails.iter().map(|mail| mail.id).collect::<Vec<_>>()
    };
    assert_eq!(days(None, 10).await, [other, id()], "newest day first");
    assert_eq!(days(None, 1).await, [other]);
    assert_eq!(days(Some(other.date), 10).await, [id()]);
    assert_eq!(days(Some(id().date), 10).await, []);
    let one = store.load_mail(id(), to).await.expect("loaded");
    assert_eq!(one.map(|mail| mail.state), Some(Row::Failed));
    let none = store.load_mail(id(), SubscriberId(99)).await;
    assert_eq!(none.expect("loaded"), None);
}
