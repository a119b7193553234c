//! Rows that cannot be read, written by a hand or by a newer version: the others go on (SF-06).
//!
//! On both databases, and damaged by the same statements.

use std::sync::Arc;

use almanack_core::{
    alert::{About, Alert, Key, Rule, Severity},
    edition::EditionId,
    plan::State,
    reschedule::{Request, decide},
    sign_in::{PasswordHash, User},
    source::{self, SourceId},
    store::{
        AlertFilter, EditionFilter, Error, HistoryPage, PermitRequest, ScheduleFilter,
        SourceFilter, Store, TaskFilter, Visitor,
    },
    task::{Status, Task, TaskId},
    time::LATEST,
    token::Scope,
};
use almanack_store::{
    postgres::PostgresStore,
    sqlite::{Durability, SqliteStore},
};
use almanack_testkit::{
    fixture::{
        LEASE, PUBLISH, START, at, claim_request, identity, new_schedule, node, put, schedule,
        schedule_name, source, token,
    },
    postgres::Schema,
};
use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;
use tempfile::TempDir;

/// A store, and a way to write into it behind its back.
struct House {
    store: Arc<dyn Store>,
    behind: Behind,
}

enum Behind {
    Sqlite(TempDir),
    Postgres(Schema),
}

impl House {
    fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("almanack.db");
        Self {
            store: Arc::new(SqliteStore::open(&path, Durability::Normal).unwrap()),
            behind: Behind::Sqlite(folder),
        }
    }

    async fn postgres() -> Self {
        let schema = Schema::create().await;
        Self {
            store: Arc::new(PostgresStore::connect(schema.url()).await.unwrap()),
            behind: Behind::Postgres(schema),
        }
    }

    async fn damage(&self, statement: &str) {
        match &self.behind {
            Behind::Sqlite(folder) => {
                let file = Connection::open(folder.path().join("almanack.db")).unwrap();
                file.busy_timeout(std::time::Duration::from_secs(5))
                    .unwrap();
                file.execute_batch(statement).unwrap();
            }
            Behind::Postgres(schema) => schema.run(statement).await,
        }
    }

    /// Tasks 1, 2, 3, due at [`START`].
    async fn plant_three(&self) {
        for number in 1..=3 {
            let request = Request::Put(put(&format!("article:{number}"), PUBLISH, START));
            let change = decide(None, &request, "test", START).unwrap();
            self.store.apply(vec![change]).await.unwrap();
        }
    }

    async fn claim(&self, number: i64) -> Vec<TaskId> {
        let request = claim_request(number, START, 9);
        let claimed = self.store.claim(request).await.unwrap();
        claimed.tasks.iter().map(|task| task.id).collect()
    }

    async fn task(&self, id: i64) -> Task {
        self.store.load_task(TaskId(id)).await.unwrap().unwrap()
    }
}

/// The same rule on both.
macro_rules! both {
    ($($rule:ident),* $(,)?) => {
        mod on_sqlite {
            $(#[tokio::test]
            async fn $rule() {
                super::$rule(&super::House::sqlite()).await;
            })*
        }
        mod on_postgres {
            $(#[tokio::test]
            async fn $rule() {
                super::$rule(&super::House::postgres().await).await;
            })*
        }
    };
}

both! {
    sf_06_an_unreadable_schedule_is_passed_over_and_shown_as_parked,
    sf_06_an_unreadable_task_is_set_aside_and_the_others_are_claimed,
    sf_06_an_unreadable_task_does_not_keep_leases_from_coming_back,
    sf_06_a_time_that_no_calendar_has_stops_no_claim_and_no_walk,
    sf_06_an_unreadable_task_is_listed_and_fails_alone,
    sf_06_one_unreadable_row_empties_no_list,
    sf_06_an_unreadable_lane_is_closed_for_a_while_and_the_others_are_open,
    sf_06_an_unreadable_edition_fails_alone,
}

/// The list of a claim's tasks is a text on SQLite, and none on PostgreSQL.
#[tokio::test]
async fn sf_06_a_claim_with_an_unreadable_list_loses_nothing_and_stops_no_other() {
    let house = House::sqlite();
    house.plant_three().await;
    let first = house.store.claim(claim_request(1, START, 1)).await.unwrap();
    assert_eq!(first.tasks.len(), 1);
    assert_eq!(house.claim(2).await, [TaskId(2), TaskId(3)]);
    let damage = "update claim set task_ids = '[1', node = x'ff' where id = 1";
    house.damage(damage).await;
    let store = &house.store;
    let expired = store.load_expired(START + LEASE, 9).await.unwrap();
    let left: Vec<Vec<i64>> = expired
        .iter()
        .map(|claim| claim.tasks.iter().map(|task| task.id.0).collect())
        .collect();
    assert_eq!(left, [vec![1], vec![2, 3]], "found without the list");
    assert_eq!(store.load_claims(9).await.unwrap().len(), 1);
    assert_eq!(store.load_running(9).await.unwrap().len(), 2);
    store.load_finished(START, at(99), 9).await.unwrap();
    let claims: Vec<_> = expired.iter().map(|claim| claim.claim_id).collect();
    store.release_claims(&claims).await.unwrap();
    house
        .damage("update task set finished_at_us = started_at_us")
        .await;
    let ended = store.load_finished(START, at(99), 9).await.unwrap();
    assert_eq!(ended.len(), 2, "under the claim that can be read");
}

async fn sf_06_an_unreadable_schedule_is_passed_over_and_shown_as_parked(house: &House) {
    for name in ["a", "bad", "c"] {
        let new = new_schedule(schedule(name, START));
        house.store.write_schedules(vec![new]).await.unwrap();
    }
    let names = |found: &[almanack_core::plan::Schedule]| -> Vec<String> {
        found.iter().map(|row| row.name.to_string()).collect()
    };
    let whole = house.store.load_due_schedules(START, 9).await.unwrap();
    assert_eq!(names(&whole.schedules), ["a", "bad", "c"]);
    for (damage, repair) in [
        ("origin = 'galaxy'", "origin = 'api'"),
        ("state = 'dreaming'", "state = 'active'"),
        ("beside = '{'", "beside = null"),
        ("last_subject = ' '", "last_subject = null"),
        ("created_at_us = 9000000000000000000", "created_at_us = 0"),
    ] {
        let change = |what| format!("update schedule set {what} where name = 'bad'");
        house.damage(&change(damage)).await;
        let due = house.store.load_due_schedules(START, 9).await.unwrap();
        assert_eq!(names(&due.schedules), ["a", "c"], "{damage}");
        assert_eq!(names(&due.unreadable), ["bad"], "{damage}");
        let two = house.store.load_due_schedules(START, 2).await.unwrap();
        assert_eq!(names(&two.schedules), ["a"], "it has a place among them");
        assert_eq!(two.next_look_at, Some(START));
        let all = ScheduleFilter {
            limit: 9,
            ..ScheduleFilter::default()
        };
        let listed = house.store.list_schedules(&all).await.unwrap().rows;
        assert_eq!(names(&listed), ["a", "bad", "c"], "{damage}");
        let alone = house.store.load_schedules(&[schedule_name("bad")]).await;
        for shown in [&listed[1], alone.unwrap()[0].as_ref().unwrap()] {
            let reason = match &shown.state {
                State::Parked { reason, .. } => reason.to_string(),
                _ => String::new(),
            };
            assert!(reason.starts_with("cannot be read: "), "{shown:?}");
        }
        house.damage(&change(repair)).await;
    }
    let healed = house.store.load_due_schedules(START, 9).await.unwrap();
    assert_eq!(names(&healed.schedules), ["a", "bad", "c"], "untouched");
}

async fn sf_06_an_unreadable_task_is_set_aside_and_the_others_are_claimed(house: &House) {
    house.plant_three().await;
    let damage = "update task set max_retry = -1 where id = 2";
    house.damage(damage).await;
    assert_eq!(house.claim(1).await, [TaskId(1), TaskId(3)]);
    let aside = house.task(2).await;
    assert_eq!((aside.status, aside.due_at), (Status::Fail, None));
    let detail = aside.detail.unwrap();
    assert!(detail.starts_with("cannot be read: "), "{detail}");
    assert_eq!(house.claim(2).await, [], "it delays no other again");
    let damage = "update task set status = 'INIT', due_at_us = 0, kind = '7 seas' where id = 2";
    house.damage(damage).await;
    assert_eq!(house.claim(3).await, [], "a lane without a readable name");
    let depths = house.store.load_depths(START).await.unwrap();
    assert_eq!(depths, []);
}

async fn sf_06_an_unreadable_task_does_not_keep_leases_from_coming_back(house: &House) {
    house.plant_three().await;
    house.claim(1).await;
    let damage = "update task set started_at_us = 9000000000000000000 where id = 2";
    house.damage(damage).await;
    let expired = house.store.load_expired(START + LEASE, 9).await.unwrap();
    let left: Vec<TaskId> = expired[0].tasks.iter().map(|task| task.id).collect();
    assert_eq!(left, [TaskId(1), TaskId(3)]);
    let aside = house.task(2).await;
    assert_eq!((aside.status, aside.due_at), (Status::Fail, None));
}

async fn sf_06_a_time_that_no_calendar_has_stops_no_claim_and_no_walk(house: &House) {
    house.plant_three().await;
    let damage = "update task set execute_at_us = 9000000000000000000, \
         due_at_us = 9000000000000000000, created_at_us = -9000000000000000000 where id = 2";
    house.damage(damage).await;
    let request = claim_request(1, START, 9);
    let claimed = house.store.claim(request).await.unwrap();
    assert_eq!(claimed.tasks.len(), 2);
    assert_eq!(claimed.next_due_at, Some(LATEST), "as far as instants go");
    let pruned = house.store.prune(START, TaskId(0), 9).await.unwrap();
    assert_eq!(pruned.rows, 0);
}

async fn sf_06_an_unreadable_task_is_listed_and_fails_alone(house: &House) {
    house.plant_three().await;
    let damage = "update task set status = 'DREAMING' where id = 2";
    house.damage(damage).await;
    let page = TaskFilter {
        limit: 3,
        ..TaskFilter::default()
    };
    let tasks = house.store.list_tasks(&page).await.unwrap().rows;
    let ids: Vec<i64> = tasks.iter().map(|task| task.id.0).collect();
    assert_eq!(ids, [3, 2, 1], "a page is as full as before");
    assert!(tasks[1].detail.as_deref().unwrap().contains("DREAMING"));
    let search = TaskFilter {
        among: Some(9),
        limit: 9,
        ..TaskFilter::default()
    };
    assert_eq!(house.store.search_tasks(&search).await.unwrap().len(), 3);
    let [bad, good] = [2, 3].map(|number| identity(&format!("article:{number}"), PUBLISH));
    let both = house.store.load_current(&[bad.clone(), good.clone()]).await;
    assert!(matches!(both, Err(Error::Unreadable { .. })), "{both:?}");
    let alone = house.store.load_current(&[good]).await.unwrap();
    assert!(alone[0].is_some());
    let records = house
        .store
        .load_history(&bad, HistoryPage::WHOLE)
        .await
        .unwrap();
    assert_eq!(records.tasks.len(), 1);
}

async fn sf_06_an_unreadable_lane_is_closed_for_a_while_and_the_others_are_open(house: &House) {
    let asks = ["kind:BAD", "kind:GOOD"].map(|name| PermitRequest {
        limit: name.to_owned(),
        permits: 0,
        wanted: 1,
        at_once: 1,
        gap: SignedDuration::ZERO,
        hold_until: None,
    });
    let enter = async |name: &str, now: Timestamp| -> Vec<usize> {
        let visitor = Visitor {
            name: name.to_owned(),
            now,
            lease_until: now + LEASE,
        };
        let answers = house.store.request_permits(&visitor, &asks).await.unwrap();
        answers.iter().map(|answer| answer.granted).collect()
    };
    assert_eq!(enter("node-a", START).await, [1, 1]);
    house
        .damage("update shared_limit set visitors = '{' where name = 'kind:BAD'")
        .await;
    assert_eq!(enter("node-b", at(1)).await, [0, 0], "node-a may be inside");
    assert_eq!(enter("node-b", at(31)).await, [1, 1], "it is not any more");
}

fn alert(source: i64) -> Alert {
    Alert {
        key: Key {
            rule: Rule::Silent,
            about: About::Source(SourceId(source)),
        },
        severity: Severity::Warning,
        detail: String::new().into(),
        opened_at: START,
        cool_down_since: None,
        closed_at: None,
        returns: 0,
        open_notified_at: None,
        close_notified_at: None,
        notify_at: None,
        taken_by: Vec::new(),
        version: 0,
    }
}

async fn sf_06_one_unreadable_row_empties_no_list(house: &House) {
    let store = &house.store;
    for name in ["a", "b"] {
        store.save_node(&node(name, name)).await.unwrap();
        store.save_token(&token(name, Scope::Admin)).await.unwrap();
        let user = User {
            name: name.to_owned(),
            password: PasswordHash("$".to_owned()),
            scope: Scope::Admin,
            created_at: START,
            changed_at: START,
        };
        store.save_user(&user).await.unwrap();
        store.add_sources(vec![source(name)]).await.unwrap();
    }
    store.write_alerts(vec![alert(1), alert(2)]).await.unwrap();
    for date in ["2026-01-05", "2026-01-06"] {
        store
            .open_edition(date.parse().unwrap(), START)
            .await
            .unwrap();
    }
    house
        .damage(
            "update node set seen_at_us = 9000000000000000000 where name = 'b'; \
             update token set scope = 'root' where name = 'b'; \
             update user_account set scope = 'root' where name = 'b'; \
             update source set state = 'dreaming' where name = 'b'; \
             update alert set severity = 'dire' where about = 'source:2'; \
             update edition set state = 'dreaming' where edition_on = '2026-01-06'",
        )
        .await;
    assert_eq!(store.load_nodes().await.unwrap().len(), 1);
    let tokens = store.load_tokens().await.unwrap();
    assert_eq!(tokens.len(), 2, "what is protected stays protected");
    assert_eq!(tokens[1].scope, Scope::Read);
    assert!(store.load_token(&tokens[1].hash).await.is_err());
    let users = store.load_users().await.unwrap();
    assert_eq!((users.len(), users[1].scope), (2, Scope::Read));
    assert!(store.load_user("b").await.is_err());
    let all = SourceFilter {
        limit: 9,
        ..SourceFilter::default()
    };
    let sources = store.list_sources(&all).await.unwrap().rows;
    let state = &sources[1].state;
    assert!(matches!(state, source::State::Paused { .. }), "{state:?}");
    assert_eq!(
        store.load_due_sources(None, at(9), 9).await.unwrap().len(),
        1
    );
    store.count_sources(None, START).await.unwrap();
    let open = AlertFilter {
        closed_from: START,
        limit: 9,
    };
    assert_eq!(store.load_alerts(open).await.unwrap().len(), 1);
    let editions = EditionFilter {
        limit: 9,
        ..EditionFilter::default()
    };
    assert_eq!(store.list_editions(&editions).await.unwrap().len(), 1);
}

/// Of the days that are put away one has a row that cannot be read.
async fn sf_06_an_unreadable_edition_fails_alone(house: &House) {
    let store = &house.store;
    let days = ["2026-01-05", "2026-01-06"].map(|day| day.parse::<EditionId>().unwrap());
    for date in days {
        store.open_edition(date, START).await.unwrap();
        let rows = [
            "update edition set state = 'archived' where edition_on = 'DAY'",
            "insert into story (edition_on, story_key, rank, status, retry_count, updated_at_us, \
             url, title) values ('DAY', 'hn:1', 1, 'pending', 0, 0, '', '')",
        ];
        for row in rows {
            house.damage(&row.replace("DAY", &date.to_string())).await;
        }
    }
    house
        .damage("update story set note = 'dreaming' where edition_on = '2026-01-05'")
        .await;
    let bad = store.load_account(days[0]).await;
    assert!(matches!(bad, Err(Error::Unreadable { .. })), "{bad:?}");
    let good = store.load_account(days[1]).await.unwrap().unwrap();
    assert_eq!(good.stories.len(), 1);
    let all = EditionFilter {
        limit: 9,
        ..EditionFilter::default()
    };
    assert_eq!(store.list_editions(&all).await.unwrap().len(), 2);
    if matches!(house.behind, Behind::Sqlite(_)) {
        // A day that is no text; PostgreSQL takes none of that sort.
        for table in ["edition", "story"] {
            let day = "edition_on = cast(x'31ff' as text)";
            let damage = format!("update {table} set {day} where edition_on = '2026-01-06'");
            house.damage(&damage).await;
        }
    }
    let pruned = store.prune_stories(days[1].date, 9).await.unwrap();
    assert_eq!(pruned.stories, 1, "what is old goes, whatever it says");
}
