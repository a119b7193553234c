//! Editions for tests.

use jiff::Timestamp;

use super::{
    Account, Edition,
    document::{Document, Inputs, Printed},
    plan::{Action, Requester, plan},
    rules::Rules,
    story::{Listed, Status, Story, StoryKey, Written},
    turn::{self, Ending},
};
use crate::budget::Spend;

/// 2026-01-04T06:00:00Z.
pub(crate) const NOW: Timestamp = Timestamp::constant(1_767_506_400, 0);

pub(crate) fn key(number: u32) -> StoryKey {
    StoryKey(format!("hn:{number}"))
}

pub(crate) fn listed(number: u32) -> Listed {
    Listed {
        key: key(number),
        url: format!("https://example.org/{number}"),
        title: format!("Story {number}"),
        score: Some(i64::from(number)),
        published_at: Some(NOW),
        ..Listed::default()
    }
}

/// An edition with stories in these states.
pub(crate) fn account(statuses: &[Status]) -> Account {
    let edition = Edition::new(jiff::civil::date(2026, 1, 4), NOW);
    let stories = statuses.iter().zip(1..).map(|(status, rank)| Story {
        status: *status,
        ..Story::new(listed(rank), rank, NOW)
    });
    Account {
        edition,
        stories: stories.collect(),
        batches: Vec::new(),
        deliveries: Vec::new(),
    }
}

/// An edition whose list was just fetched.
pub(crate) fn fetched(count: u32) -> Account {
    let account = account(&[]);
    let list = (1..=count).map(listed).collect();
    turn::fetched(&account, "test", list, 3, NOW)
        .unwrap()
        .apply(account)
}

pub(crate) fn written() -> Ending {
    Ending::Completed(Written {
        title: Some("译文".to_owned()),
        ..Written::default()
    })
}

pub(crate) fn document(account: &Account) -> Document {
    let completed = account
        .stories
        .iter()
        .filter(|story| story.status == Status::Completed);
    let inputs = Inputs {
        name: account.edition.id.name,
        date: account.edition.id.date,
        revision: account.edition.revision + 1,
        title: "Daily".to_owned(),
        language: "zh-CN".to_owned(),
        overview: None,
        stories: completed.map(Printed::from).collect(),
        left_out: 0,
    };
    Document {
        inputs,
        template: String::new(),
        body: "# Daily".to_owned(),
        inputs_digest: String::new(),
        body_digest: String::new(),
        made_at: NOW,
        revised: None,
    }
}

/// Carries out every batch without a failure, up to the document, which no destination takes.
pub(crate) fn work_through(mut account: Account, rules: &Rules, now: Timestamp) -> Account {
    loop {
        account = match plan(&account, Requester::Tick, rules, now) {
            Action::Process(keys) => {
                let (change, batch) =
                    turn::start_batch(&account, &keys, "node", rules, now).unwrap();
                let account = change.apply(account);
                let endings: Vec<_> = keys.into_iter().map(|key| (key, written())).collect();
                turn::end_batch(
                    &account,
                    batch.index,
                    &endings,
                    Spend::default(),
                    rules,
                    now,
                )
                .unwrap()
                .apply(account)
            }
            Action::Aggregate => {
                let made = document(&account);
                turn::aggregate(&account, made, Vec::new(), now).apply(account)
            }
            _ => return account,
        };
    }
}
