//! Listing editions, finding documents, and forgetting stories.

use std::sync::Arc;

use almanack_core::{
    edition::{Account, Counts, EditionId, EditionName, State, account::Change, batch, story},
    store::{EditionFilter, EditionWritten, PrunedStories, Store},
};
use almanack_testkit::fixture::{
    at,
    edition::{batch, day, delivery, document, story},
};
use jiff::civil::Date;

use super::{account_of, changed, opened};

/// An edition of the `number`th day with everything a published one has.
async fn made(store: &dyn Store, number: i32, state: State) -> Account {
    let seen = opened(store, number).await;
    let mut change = Change::of(seen.edition.clone());
    change.edition.state = state;
    change.edition.revision = 1;
    change.stories = (1..=5).map(story).collect();
    for (story, status) in change.stories.iter_mut().zip(story::Status::ALL) {
        story.status = status;
    }
    change.batches = vec![batch(1), batch(2), batch(3)];
    change.batches[0].status = batch::Status::Success;
    change.batches[1].status = batch::Status::Failed;
    change.deliveries = vec![delivery(1, "web")];
    change.document = Some(document(seen.edition.id, 1, &change.stories));
    let after = change.clone().apply(seen);
    changed(store, change).await;
    after
}

async fn days(store: &dyn Store, filter: EditionFilter) -> Vec<Date> {
    let lines = store.list_editions(&filter).await.expect("list_editions");
    lines.iter().map(|line| line.edition.id.date).collect()
}

/// Whatever is written, the list counts what is there.
pub(crate) async fn ed_30_counts_are_those_of_the_rows(store: Arc<dyn Store>) {
    opened(&*store, 1).await;
    let mut account = made(&*store, 0, State::Processing).await;
    let filter = EditionFilter {
        limit: 9,
        ..EditionFilter::default()
    };
    let lines = store.list_editions(&filter).await.unwrap();
    assert_eq!(lines[0].counts, Counts::default());
    assert_eq!((lines[0].batches, lines[1].batches), (0, 2));
    assert_eq!(lines[1].edition, account.edition);
    let counts = Counts {
        total: 5,
        pending: 2,
        processing: 1,
        completed: 1,
        failed: 1,
    };
    assert_eq!(lines[1].counts, counts);
    for status in story::Status::ALL {
        let mut change = Change::of(account.edition.clone());
        change.stories.clone_from(&account.stories);
        for story in &mut change.stories {
            story.status = status;
        }
        account = change.clone().apply(account);
        changed(&*store, change).await;
        let lines = store.list_editions(&filter).await.unwrap();
        assert_eq!(lines[1].counts, account.counts());
    }
}

/// Newest day first; states narrow alone and together, and so does having been published.
pub(crate) async fn filters_of_editions_narrow_alone_and_together(store: Arc<dyn Store>) {
    for (number, state) in State::ALL.into_iter().enumerate() {
        let seen = opened(&*store, i32::try_from(number).unwrap()).await;
        let mut change = Change::of(seen.edition);
        change.edition.state = state;
        change.edition.published_at = (number % 2 == 0).then_some(at(1));
        changed(&*store, change).await;
    }
    let found = async |states: &[State], published: bool| {
        let filter = EditionFilter {
            states: states.to_vec(),
            published,
            limit: 99,
            ..EditionFilter::default()
        };
        days(&*store, filter).await
    };
    let expected = |numbers: &[i32]| numbers.iter().map(|n| day(*n)).collect::<Vec<_>>();
    assert_eq!(found(&[], false).await, expected(&[6, 5, 4, 3, 2, 1, 0]));
    assert_eq!(found(&[], true).await, expected(&[6, 4, 2, 0]));
    for (number, state) in (0..).zip(State::ALL) {
        assert_eq!(found(&[state], false).await, expected(&[number]), "{state}");
    }
    let open: Vec<State> = State::ALL.into_iter().filter(|s| s.is_open()).collect();
    assert_eq!(found(&open, false).await, expected(&[3, 2, 1, 0]));
    assert_eq!(found(&open, true).await, expected(&[2, 0]));
    let both = [State::Archived, State::Init];
    assert_eq!(found(&both, false).await, expected(&[6, 0]));
    assert_eq!(found(&[State::Empty], true).await, expected(&[]));
}

/// Page by page every edition comes once, narrowed or not.
pub(crate) async fn pages_of_editions_cover_every_day_once(store: Arc<dyn Store>) {
    // Over the turn of a year, where days do not sort by their last digits.
    for number in -10..10 {
        let seen = opened(&*store, number).await;
        let mut change = Change::of(seen.edition);
        change.edition.state = if number % 2 == 0 {
            State::Init
        } else {
            State::Archived
        };
        changed(&*store, change).await;
    }
    let all: Vec<Date> = (-10..10).rev().map(day).collect();
    let even: Vec<Date> = (-10..10).rev().filter(|n| n % 2 == 0).map(day).collect();
    for (states, expected) in [(vec![], all), (vec![State::Init], even)] {
        let mut filter = EditionFilter {
            states,
            limit: 3,
            ..EditionFilter::default()
        };
        let mut seen = Vec::new();
        loop {
            let page = days(&*store, filter.clone()).await;
            let Some(last) = page.last() else { break };
            assert!(page.len() <= 3);
            filter.before = Some(*last);
            seen.extend(page);
            assert!(seen.len() <= expected.len(), "{seen:?}");
        }
        assert_eq!(seen, expected);
    }
    let none = EditionFilter::default();
    assert_eq!(days(&*store, none).await, [], "a limit of 0");
}

/// Of one day the default one comes first, then the others by their keys; pages cover each edition once, and one
/// name's are its own.
pub(crate) async fn ed_37_editions_of_several_names_are_listed_and_kept_apart(
    store: Arc<dyn Store>,
) {
    let names =
        ["default", "ai-weekly", "ai", "tech"].map(|name| EditionName::parse(name).unwrap());
    let mut all = Vec::new();
    for number in (-2..2).rev() {
        for name in names {
            let id = EditionId::new(name, day(number));
            let (opened, created) = store.open_edition(id, at(0)).await.unwrap();
            assert!(created && opened.id == id, "{id}");
            let mut change = Change::of(opened);
            change.edition.reason = Some(id.to_string());
            change.stories = vec![story(1)];
            changed(&*store, change).await;
            all.push(id);
        }
    }
    for limit in 1..=5 {
        for name in [None].into_iter().chain(names.map(Some)) {
            let of_name = all
                .iter()
                .filter(|id| name.is_none_or(|name| id.name == name));
            let expected: Vec<EditionId> = of_name.copied().collect();
            assert_eq!(
                paged(&*store, name, limit).await,
                expected,
                "{name:?} by {limit}"
            );
        }
    }
    for id in all {
        let account = account_of(&*store, id).await;
        assert_eq!(account.edition.reason, Some(id.to_string()));
    }
    let before = EditionFilter {
        name: Some(names[1]),
        before: Some(day(0)),
        after: Some(EditionId::new(names[3], day(1))),
        limit: 9,
        ..EditionFilter::default()
    };
    assert_eq!(days(&*store, before).await, [day(-1), day(-2)]);
}

async fn paged(store: &dyn Store, name: Option<EditionName>, limit: usize) -> Vec<EditionId> {
    let mut filter = EditionFilter {
        name,
        limit,
        ..EditionFilter::default()
    };
    let mut seen = Vec::new();
    loop {
        let lines = store.list_editions(&filter).await.expect("list_editions");
        let Some(last) = lines.last() else {
            return seen;
        };
        filter.after = Some(last.edition.id);
        seen.extend(lines.iter().map(|line| line.edition.id));
        assert!(seen.len() <= 99, "{seen:?}");
    }
}

/// Stories of editions with names go as others do: by their day.
pub(crate) async fn ed_31_pruning_knows_the_days_of_named_editions(store: Arc<dyn Store>) {
    let name = EditionName::parse("weekly").unwrap();
    for number in 0..3 {
        let id = EditionId::new(name, day(number));
        let (opened, _) = store.open_edition(id, at(0)).await.unwrap();
        let mut change = Change::of(opened);
        change.edition.state = State::Archived;
        change.stories = vec![story(1), story(2)];
        changed(&*store, change).await;
    }
    let pruned = store.prune_stories(day(1), 9).await.unwrap();
    assert_eq!(pruned.stories, 2);
    let kept = account_of(&*store, EditionId::new(name, day(1))).await;
    assert_eq!(kept.stories.len(), 2);
}

/// Kept and found by key, for as long as it is wanted; forgotten by age.
pub(crate) async fn ed_37_shared_texts_are_kept_and_forgotten(store: Arc<dyn Store>) {
    let load = async |key: &str, from| store.load_shared(key.to_owned(), from).await.unwrap();
    assert_eq!(load("a", at(0)).await, None);
    for (key, text, now) in [("a", "old", 1), ("b", "文 \"🦀", 2), ("a", "new", 3)] {
        store
            .keep_shared(key.to_owned(), text.to_owned(), at(now))
            .await
            .unwrap();
    }
    assert_eq!(load("a", at(0)).await.as_deref(), Some("new"));
    assert_eq!(load("a", at(3)).await.as_deref(), Some("new"));
    assert_eq!(load("a", at(4)).await, None, "too old");
    assert_eq!(load("b", at(0)).await.as_deref(), Some("文 \"🦀"));
    assert_eq!(store.prune_shared(at(3), 9).await.unwrap(), 1);
    assert_eq!(load("b", at(0)).await, None);
    assert_eq!(load("a", at(0)).await.as_deref(), Some("new"));
    assert_eq!(store.prune_shared(at(9), 0).await.unwrap(), 0);
}

/// By revision, or the newest; as rendered, whatever became of its stories.
pub(crate) async fn documents_are_found_by_revision(store: Arc<dyn Store>) {
    let mut account = opened(&*store, 0).await;
    assert_eq!(
        store.load_document(day(0).into(), None).await.unwrap(),
        None
    );
    let mut written_story = story(1);
    for revision in [1, 2, 10] {
        written_story.written.note = Some(story::Note::TitleOnly);
        written_story.written.title = Some(format!("第{revision}版 \"\\ 🦀"));
        let mut change = Change::of(account.edition.clone());
        change.edition.revision = revision;
        let mut made = document(day(0), revision, std::slice::from_ref(&written_story));
        made.inputs.left_out = revision;
        made.inputs.stories[0].score = Some(-1);
        made.inputs.stories[0].published_at = Some(at(1));
        change.document = Some(made.clone());
        account = change.clone().apply(account);
        changed(&*store, change).await;
        for asked in [None, Some(revision)] {
            let read = store.load_document(day(0).into(), asked).await.unwrap();
            assert_eq!(read.as_ref(), Some(&made));
        }
    }
    let first = store.load_document(day(0).into(), Some(1)).await.unwrap();
    assert_eq!(first.unwrap().inputs.revision, 1);
    assert_eq!(
        store.load_document(day(0).into(), Some(3)).await.unwrap(),
        None
    );
    assert_eq!(
        store.load_document(day(1).into(), Some(1)).await.unwrap(),
        None
    );
}

/// Whatever became of them, and whichever day they are of.
pub(crate) async fn editions_that_changed_lately_are_listed(store: Arc<dyn Store>) {
    for (number, changed_at) in [(0, 30), (1, 10), (2, 20)] {
        let seen = opened(&*store, number).await;
        let mut change = Change::of(seen.edition.clone());
        change.edition.state = State::Archived;
        change.edition.updated_at = at(changed_at);
        changed(&*store, change).await;
    }
    for (from, expected) in [(20, vec![day(2), day(0)]), (21, vec![day(0)]), (31, vec![])] {
        let filter = EditionFilter {
            changed_from: Some(at(from)),
            limit: 9,
            ..EditionFilter::default()
        };
        assert_eq!(days(&*store, filter).await, expected, "from {from}");
    }
}

/// Stories and batches of archived editions go; the row, its document and deliveries stay.
pub(crate) async fn ed_31_pruning_keeps_the_edition_and_its_document(store: Arc<dyn Store>) {
    let old = made(&*store, 0, State::Archived).await;
    let printed = store.load_document(day(0).into(), None).await.unwrap();
    let pruned = store.prune_stories(day(1), 9).await.unwrap();
    let all = PrunedStories {
        stories: 5,
        batches: 3,
    };
    assert_eq!(pruned, all);
    let kept = account_of(&*store, day(0)).await;
    assert_eq!((&kept.stories[..], &kept.batches[..]), (&[][..], &[][..]));
    assert_eq!(kept.deliveries, old.deliveries);
    let mut edition = kept.edition.clone();
    edition.version = old.edition.version;
    assert_eq!(edition, old.edition, "but for its version");
    assert!(printed.is_some());
    assert_eq!(
        store.load_document(day(0).into(), None).await.unwrap(),
        printed
    );
    let filter = EditionFilter {
        limit: 9,
        ..EditionFilter::default()
    };
    let lines = store.list_editions(&filter).await.unwrap();
    assert_eq!((lines[0].counts, lines[0].batches), (Counts::default(), 0));
    let again = store.prune_stories(day(1), 9).await.unwrap();
    assert_eq!(again, PrunedStories::default());
    assert_eq!(account_of(&*store, day(0)).await, kept);
}

/// Only of archived editions, only of days before, and never of more editions than asked.
pub(crate) async fn ed_31_pruning_takes_only_what_it_may(store: Arc<dyn Store>) {
    for (number, state) in State::ALL.into_iter().enumerate() {
        made(&*store, i32::try_from(number).unwrap(), state).await;
    }
    for number in 10..15 {
        made(&*store, number, State::Archived).await;
    }
    // The sixth day's and three of the later ones, two at a time; the last two are too young.
    for editions in [2, 2, 0] {
        let pruned = store.prune_stories(day(13), 2).await.unwrap();
        assert_eq!(
            (pruned.stories, pruned.batches),
            (5 * editions, 3 * editions)
        );
    }
    for number in (0..6).chain(13..15) {
        let kept = account_of(&*store, day(number)).await;
        assert_eq!((kept.stories.len(), kept.batches.len()), (5, 3), "{number}");
    }
    for number in [6, 10, 11, 12] {
        assert_eq!(account_of(&*store, day(number)).await.stories, []);
    }
    assert_eq!(
        store.prune_stories(day(99), 0).await.unwrap(),
        PrunedStories::default()
    );
}

/// Who reopens an edition that was pruned meanwhile must see that its stories are gone; one that
/// was reopened before keeps them.
pub(crate) async fn ed_31_who_saw_an_edition_before_it_was_pruned_decides_again(
    store: Arc<dyn Store>,
) {
    let reopened = |account: &Account| {
        let mut change = Change::of(account.edition.clone());
        change.edition.state = State::Processing;
        change
    };
    let pruned = made(&*store, 0, State::Archived).await;
    store.prune_stories(day(1), 9).await.unwrap();
    let late = store.write_edition(reopened(&pruned)).await.unwrap();
    assert_eq!(late, EditionWritten::Lost);
    let before = made(&*store, 1, State::Archived).await;
    changed(&*store, reopened(&before)).await;
    store.prune_stories(day(9), 9).await.unwrap();
    assert_eq!(account_of(&*store, day(1)).await.stories.len(), 5);
}

/// The `number`th day's edition with one story of this title, published or not.
async fn titled(store: &dyn Store, number: i32, title: &str, published: bool) {
    let seen = opened(store, number).await;
    let mut change = Change::of(seen.edition.clone());
    change.edition.revision = 1;
    change.edition.published_at = published.then_some(at(1));
    let mut only = story(1);
    title.clone_into(&mut only.listed.title);
    change.document = Some(document(seen.edition.id, 1, &[only]));
    changed(store, change).await;
}

/// The next published one, over a gap and over one that never was.
pub(crate) async fn ed_34_published_editions_follow_each_other(store: Arc<dyn Store>) {
    for (number, published) in [(0, true), (1, false), (3, true), (4, true)] {
        titled(&*store, number, "x", published).await;
    }
    for (number, expected) in [
        (-1, Some(0)),
        (0, Some(3)),
        (1, Some(3)),
        (3, Some(4)),
        (4, None),
    ] {
        let found = store.published_after(day(number).into()).await.unwrap();
        assert_eq!(found.map(|id| id.date), expected.map(day), "after {number}");
    }
}

/// Newest first, whatever the case of their letters, a page at a time; only what was published.
pub(crate) async fn ed_34_published_editions_are_found_by_what_they_say(store: Arc<dyn Store>) {
    titled(&*store, 0, "Why Databases are slow", true).await;
    titled(&*store, 1, "数据库为什么慢", true).await;
    titled(&*store, 2, "databases, again: 100%_", true).await;
    titled(&*store, 3, "Databases of tomorrow", false).await;
    let search = async |name: &str, text: &str, before: Option<i32>, limit: usize| {
        let name = EditionName::parse(name).unwrap();
        let before = before.map(day);
        let found = store.search_editions(name, text, before, limit).await;
        let found = found.unwrap().into_iter();
        found.map(|id| id.date).collect::<Vec<_>>()
    };
    let found = async |text, before, limit| search("default", text, before, limit).await;
    assert_eq!(
        search("weekly", "databases", None, 9).await,
        [],
        "another name"
    );
    assert_eq!(found("databases", None, 9).await, [day(2), day(0)]);
    assert_eq!(found("databases", None, 1).await, [day(2)]);
    assert_eq!(found("databases", Some(2), 9).await, [day(0)]);
    assert_eq!(found("数据库", None, 9).await, [day(1)]);
    assert_eq!(found("d%s", None, 9).await, [], "no patterns");
    assert_eq!(found("tomorrow", None, 9).await, [], "not published");
}
