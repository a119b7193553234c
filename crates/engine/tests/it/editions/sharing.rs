//! Several editions side by side, and what they share (ED-37); no story twice (ED-40).

use almanack_core::edition::{
    EditionName, hold::Approval, port::FailureClass, prompts::Kind, turn::Meant,
};
use almanack_engine::editions::shared::SharedTexts;
use almanack_testkit::edition_harness::InjectedFault;

use super::*;

on_both!(
    ed_37_what_two_editions_share_is_fetched_and_paid_once,
    ed_37_editions_that_work_at_once_share_and_stay_apart,
    ed_37_another_language_shares_pages_and_no_summary,
    ed_37_a_changed_prompt_shares_nothing_with_the_old_one,
    ed_37_a_reset_reads_everything_again,
    ed_40_no_story_twice_within_the_stated_days,
    ed_40_repeats_are_allowed_after_these_days_and_between_names,
    ed_40_what_was_rejected_is_no_repeat_and_what_waits_may_be_one,
    ed_40_what_one_destination_has_of_an_unfinished_edition_is_not_repeated,
);

/// Nothing here waits for time: whatever a database takes, no time limit passes.
struct Never;

#[async_trait::async_trait]
impl Sleeper for Never {
    async fn until(&self, _: Timestamp) {
        std::future::pending::<()>().await;
    }
}

fn named(name: &str) -> EditionName {
    EditionName::parse(name).unwrap()
}

fn of_today(name: &str) -> EditionId {
    EditionId::new(named(name), today().date)
}

impl Room {
    /// Another edition of the same node, which lists these stories and shares what it reads.
    fn edition(
        &self,
        name: &str,
        (first, last): (u32, u32),
        texts: &Arc<SharedTexts>,
    ) -> Arc<Editions> {
        let news = self.news.listing(first, last);
        let outside = news.outside();
        let mut settings = self.settings.clone();
        settings.name = named(name);
        let by = format!("model {}", settings.language);
        Arc::new(Editions {
            outside: outside.sharing(texts, "reader".to_owned(), by),
            settings,
            store: self.store.clone(),
            shown: self.store.clone(),
            clock: self.clock.clone(),
            sleeper: Arc::new(Never),
            rescheduler: self.editions().rescheduler.clone(),
            subscriptions: self.subscriptions.clone(),
        })
    }

    /// The default edition.
    fn default_edition(&self) -> Arc<Editions> {
        self.editions_that_wait_by(Arc::new(Never))
    }

    fn texts(&self) -> Arc<SharedTexts> {
        let renderer = self.news.outside().renderer;
        SharedTexts::new(self.store.clone(), self.clock.clone(), renderer)
    }
}

async fn run(editions: &Editions) -> Account {
    let id = editions.today();
    editions.take_up(id).await.unwrap();
    let ran = editions
        .run(id, &almanack_engine::editions::Unwatched)
        .await;
    let account = ran.unwrap().account;
    assert!(is_published(&account), "{:?}", account.edition);
    account
}

/// Twenty of thirty stories in common: at most 1.4 times the requests of one.
async fn ed_37_what_two_editions_share_is_fetched_and_paid_once(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(40));
    let texts = room.texts();
    run(&room.edition("default", (1, 30), &texts)).await;
    let one = room.news.calls().len();
    run(&room.edition("tech", (11, 40), &texts)).await;
    let both = room.news.calls().len();
    assert!(
        both * 10 <= one * 14,
        "{both} requests for both, {one} for one"
    );
    let calls = room.news.calls();
    for number in 1..=40 {
        let pages = count_calls(&calls, |call| *call == Call::Page(number));
        let comments = count_calls(&calls, |call| *call == Call::Comments(number));
        assert_eq!((pages, comments), (1, 1), "story {number}");
    }
    // After a restart what was paid for is still there.
    let again = room.texts();
    room.news.forget_calls();
    run(&room.edition("weekly", (11, 30), &again)).await;
    let pages = |call: &Call| matches!(call, Call::Page(_) | Call::Summary(_) | Call::Titles(_));
    assert_eq!(count_calls(&room.news.calls(), pages), 0);
}

async fn ed_37_editions_that_work_at_once_share_and_stay_apart(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(12));
    let texts = room.texts();
    let (one, two) = (
        room.edition("default", (1, 8), &texts),
        room.edition("tech", (5, 12), &texts),
    );
    let (first, second) = tokio::join!(run(&one), run(&two));
    assert_eq!((first.stories.len(), second.stories.len()), (8, 8));
    assert_eq!(
        (first.edition.id, second.edition.id),
        (today(), of_today("tech"))
    );
    let calls = room.news.calls();
    for number in 1..=12 {
        let pages = count_calls(&calls, |call| *call == Call::Page(number));
        assert_eq!(pages, 1, "page {number}");
    }
    let keys: Vec<String> = room
        .news
        .received("github")
        .into_iter()
        .map(|it| it.key)
        .collect();
    assert_eq!(keys.len(), 2, "{keys:?}");
    assert!(
        keys.iter()
            .any(|key| key == "edition:2026-01-04/1/github/1"),
        "{keys:?}"
    );
    assert!(
        keys.iter()
            .any(|key| key == "edition:tech@2026-01-04/1/github/1"),
        "{keys:?}"
    );
    // One is archived with its day, the other is left alone.
    assert!(
        one.account(of_today("tech")).await.is_err(),
        "another's edition"
    );
}

async fn ed_37_another_language_shares_pages_and_no_summary(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with(4));
    let texts = room.texts();
    run(&room.edition("default", (1, 4), &texts)).await;
    room.news.forget_calls();
    "en".clone_into(&mut room.settings.language);
    run(&room.edition("english", (1, 4), &texts)).await;
    let calls = room.news.calls();
    assert_eq!(count_calls(&calls, |call| matches!(call, Call::Page(_))), 0);
    assert_eq!(
        count_calls(&calls, |call| matches!(call, Call::Summary(_))),
        8
    );
    assert_eq!(
        count_calls(&calls, |call| matches!(call, Call::Titles(_))),
        1
    );
}

/// A story says by which prompts it was written, and only what these wrote is shared.
async fn ed_37_a_changed_prompt_shares_nothing_with_the_old_one(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with(3));
    let texts = room.texts();
    let before = run(&room.edition("default", (1, 3), &texts)).await;
    room.news.forget_calls();
    room.news = room
        .news
        .prompted(Kind::Summary, "Write for children. {data}");
    let after = run(&room.edition("children", (1, 3), &texts)).await;
    let calls = room.news.calls();
    let articles = |call: &Call| matches!(call, Call::Summary(of) if of.starts_with("article"));
    assert_eq!(count_calls(&calls, articles), 3, "{calls:?}");
    let others = |call: &Call| {
        matches!(call, Call::Page(_) | Call::Titles(_) | Call::Comments(_))
            || matches!(call, Call::Summary(_)) && !articles(call)
    };
    assert_eq!(count_calls(&calls, others), 0, "what it did not write");
    let outside = room.news.outside();
    let prompts = outside.writer.prompts().unwrap();
    for (old, new) in before.stories.iter().zip(&after.stories) {
        let kinds = [Kind::Titles, Kind::Summary, Kind::Comments];
        assert_eq!(new.written.prompts, prompts.versions(kinds));
        let others: Vec<Kind> = prompts
            .others(&old.written.prompts)
            .map(|(kind, _)| kind)
            .collect();
        assert_eq!(others, [Kind::Summary]);
    }
}

async fn ed_37_a_reset_reads_everything_again(store: Arc<dyn Store>) {
    let room = Room::on(store, EditionHarness::with(2));
    let texts = room.texts();
    let editions = room.edition("tech", (1, 2), &texts);
    run(&editions).await;
    room.clock.advance(TICK);
    editions.reset(of_today("tech"), "ada").await.unwrap();
    room.news.forget_calls();
    run(&editions).await;
    let pages = |call: &Call| matches!(call, Call::Page(_));
    assert_eq!(count_calls(&room.news.calls(), pages), 2);
}

/// Across midnight, too: ninety seconds later the next day's edition has other stories.
async fn ed_40_no_story_twice_within_the_stated_days(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with(10));
    room.settings.rules.stories = 4;
    room.settings.rules.repeat_after_days = 3;
    room.clock.set("2026-01-04T23:59:00Z".parse().unwrap());
    let mut seen = std::collections::BTreeSet::new();
    for (now, expected) in [
        ("2026-01-04T23:59:00Z", 4),
        ("2026-01-05T00:00:30Z", 4),
        ("2026-01-06T00:00:30Z", 2),
    ] {
        room.clock.set(now.parse().unwrap());
        let account = run(&room.default_edition()).await;
        assert_eq!(account.stories.len(), expected, "{now}");
        for story in account.stories {
            assert!(
                seen.insert(story.listed.url.clone()),
                "{} twice",
                story.listed.url
            );
        }
    }
}

async fn ed_40_repeats_are_allowed_after_these_days_and_between_names(store: Arc<dyn Store>) {
    let mut room = Room::on(store, EditionHarness::with(2));
    room.settings.rules.repeat_after_days = 1;
    let texts = room.texts();
    run(&room.default_edition()).await;
    let other = run(&room.edition("tech", (1, 2), &texts)).await;
    assert_eq!(other.stories.len(), 2, "each edition has its own readers");
    room.clock.advance(SignedDuration::from_hours(48));
    assert_eq!(run(&room.default_edition()).await.stories.len(), 2);
}

/// Two stories a day of four, and none twice.
fn two_of_four(store: Arc<dyn Store>) -> Room {
    let mut room = Room::on(store, EditionHarness::with(4));
    room.settings.rules.stories = 2;
    room.settings.rules.repeat_after_days = 3;
    room
}

/// What the edition of a day so many days later has after a while, and its id.
async fn listed_on(room: &Room, days: i64) -> (EditionId, Vec<String>) {
    let day = MORNING + SignedDuration::from_hours(24 * days);
    room.clock.set(day.max(room.clock.now()));
    let editions = room.default_edition();
    for _ in 0..12 {
        editions.tick().await.unwrap();
        room.clock.advance(TICK);
    }
    let account = editions.look(editions.today()).await.unwrap();
    let urls = account.stories.iter().map(|it| it.listed.url.clone());
    (account.edition.id, urls.collect())
}

/// Nobody has read an edition that was rejected; one that waits for its approval may yet go out.
async fn ed_40_what_was_rejected_is_no_repeat_and_what_waits_may_be_one(store: Arc<dyn Store>) {
    let mut room = two_of_four(store);
    room.settings.rules.approval = Some(Approval::default());
    let (first, in_first) = listed_on(&room, 0).await;
    let (second, in_second) = listed_on(&room, 1).await;
    assert_eq!((in_first.len(), in_second.len()), (2, 2));
    assert_ne!(in_first, in_second, "the first may yet go out");
    let meant = Meant {
        revision: None,
        since: None,
    };
    for id in [first, second] {
        room.editions().reject(id, meant, "ada").await.unwrap();
    }
    let (_, in_third) = listed_on(&room, 2).await;
    assert_eq!(in_third, in_first, "nobody has read them");
}

async fn ed_40_what_one_destination_has_of_an_unfinished_edition_is_not_repeated(
    store: Arc<dyn Store>,
) {
    let room = two_of_four(store);
    room.news.decide(|call, _| match call {
        Call::Send(to, _) if to == "github" => InjectedFault::Fails(FailureClass::Transient),
        _ => InjectedFault::Well,
    });
    let (first, in_first) = listed_on(&room, 0).await;
    assert!(room.sent_to("telegram") > 0);
    let (_, in_second) = listed_on(&room, 1).await;
    let first = room.editions().look(first).await.unwrap().edition;
    assert_eq!(first.state, State::Archived, "its day ended");
    assert_eq!(first.published_at, None);
    assert_eq!((in_first.len(), in_second.len()), (2, 2));
    assert_ne!(in_first, in_second);
}
