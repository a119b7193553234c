//! Holds, corrections, retractions, and who made a revision.

use std::sync::Arc;

use almanack_core::{
    edition::{
        account::Change,
        hold::{Decision, Hold, HoldReason, OnSilence, Verdict},
        revision::{Correction, Retraction, Revised, Revision, RevisionLine},
        story::StoryKey,
    },
    store::{EditionFilter, Store},
};
use almanack_testkit::fixture::{
    at,
    edition::{day, document},
};
use jiff::SignedDuration;

use super::{account_of, changed, opened};

const ODD: &str = "满 'n\" \\ %_ 🦀\n\t; drop table story; --";

fn hold() -> Hold {
    Hold {
        until: Some(at(60) + SignedDuration::from_micros(7)),
        on_silence: OnSilence::Publish,
        decision: Some(Decision {
            verdict: Verdict::Rejected,
            by: ODD.to_owned(),
            at: at(30),
        }),
        ..Hold::new(HoldReason::Approval, at(1))
    }
}

/// All of it comes back, alone and in a list, and goes away again.
pub(crate) async fn ed_42_what_people_decided_about_an_edition_survives(store: Arc<dyn Store>) {
    let seen = opened(&*store, 0).await;
    let mut change = Change::of(seen.edition.clone());
    change.edition.hold = Some(hold());
    change.edition.retraction = Some(Retraction {
        by: ODD.to_owned(),
        at: at(9),
        note: Some(ODD.to_owned()),
        revision: 3,
    });
    let odd = || ODD.to_owned();
    change.edition.corrections = vec![
        Correction::Drop { story: odd() },
        Correction::Move {
            story: odd(),
            to: u32::MAX,
        },
        Correction::Edit {
            story: odd(),
            title: None,
            summary: Some(String::new()),
            comments: Some(odd()),
        },
    ];
    let expected = change.clone().apply(seen);
    changed(&*store, change).await;
    let read = account_of(&*store, day(0)).await;
    assert_eq!(read, expected);
    let filter = EditionFilter {
        limit: 1,
        ..EditionFilter::default()
    };
    let listed = store.list_editions(&filter).await.unwrap();
    assert_eq!(listed[0].edition, expected.edition);

    let mut change = Change::of(read.edition.clone());
    change.edition.hold = None;
    change.edition.retraction = None;
    change.edition.corrections = Vec::new();
    let expected = change.clone().apply(read);
    changed(&*store, change).await;
    assert_eq!(account_of(&*store, day(0)).await, expected);
}

/// Newest first, no more than asked for, and none of another day.
pub(crate) async fn ed_42_revisions_are_listed_with_their_authors(store: Arc<dyn Store>) {
    opened(&*store, 1).await;
    let mut account = opened(&*store, 0).await;
    let by_person = |revision| {
        Some(Revised {
            by: format!("ada {revision}"),
            change: Revision::Dropped {
                story: StoryKey(ODD.to_owned()),
                title: ODD.to_owned(),
            },
        })
    };
    let mut expected = Vec::new();
    for revision in 1..=3 {
        let mut change = Change::of(account.edition.clone());
        change.edition.revision = revision;
        let mut made = document(day(0), revision, &[]);
        made.revised = (revision > 1).then(|| by_person(revision)).flatten();
        let line = RevisionLine::new(revision, made.made_at, made.revised.clone());
        expected.insert(0, line);
        change.document = Some(made.clone());
        account = change.clone().apply(account);
        changed(&*store, change).await;
        let read = store.load_document(day(0).into(), None).await.unwrap();
        assert_eq!(read, Some(made));
    }
    let all = store.load_revisions(day(0).into(), 10).await.unwrap();
    assert_eq!(all, expected);
    let two = store.load_revisions(day(0).into(), 2).await.unwrap();
    assert_eq!(two, expected[..2]);
    assert_eq!(store.load_revisions(day(1).into(), 10).await.unwrap(), []);
}
