//! What the texts about editions cost when a store grows old.

use super::{check_costs_no_more, migrated};
use crate::{edition, model_spend, shared_text};

pub(super) const SHARED: [&str; 29] = [
    edition::list::LIST,
    edition::list::LIST_LIVE,
    edition::list::LIST_NAME,
    edition::list::LIST_NAME_LIVE,
    edition::LOAD,
    edition::LOAD_BATCHES,
    edition::LOAD_DELIVERIES,
    edition::LOAD_DOCUMENT,
    edition::LOAD_NEWEST_DOCUMENT,
    edition::LOAD_REVISIONS,
    edition::LOAD_STORIES,
    edition::OPEN,
    edition::PRUNABLE,
    edition::PRUNE_BATCHES,
    edition::PRUNE_STORIES,
    edition::SKIP_OLDER,
    edition::TAKE,
    edition::TAKE_ARCHIVED,
    edition::WRITE_BATCH,
    edition::WRITE_DELIVERY,
    edition::WRITE_DOCUMENT,
    edition::WRITE_STORY,
    shared_text::KEEP,
    shared_text::LOAD,
    shared_text::PRUNE,
    edition::PUBLISHED_AFTER,
    edition::SEARCH,
    model_spend::ADD,
    model_spend::LOAD,
];

/// Editions day by day into the past, of which the last ten are not archived.
const EDITIONS: &str = "insert into edition (edition_on, version, state, revision, list_requests, \
     started_at_us, created_at_us, updated_at_us) values (date('2026-01-01', -?1 || ' days'), 1, \
     case when ?1 < 10 then 'published' else 'archived' end, 1, 0, 0, 0, 0)";
/// Thirty stories a day.
const STORIES: &str = "insert into story (edition_on, story_key, rank, status, retry_count, \
     updated_at_us, url, title) values (date('2026-01-01', -(?1 / 30) || ' days'), ?1, ?1, \
     'pending', 0, 0, '', '')";
/// Five batches a day.
const BATCHES: &str = "insert into batch (edition_on, batch_index, status, story_count, requests, \
     model_requests, tokens_in, tokens_out, started_at_us, lease_until_us, node) values \
     (date('2026-01-01', -(?1 / 5) || ' days'), ?1, 'success', 6, 0, 0, 0, 0, 0, 0, '')";
/// Six documents of ten deliveries a day.
const DELIVERIES: &str = "insert into delivery (edition_on, revision, destination, part, state, \
     attempts, requests, updated_at_us) values (date('2026-01-01', -(?1 / 60) || ' days'), \
     ?1 / 10 % 6, 'd', ?1, 'intended', 0, 0, 0)";
/// Three documents a day.
const DOCUMENTS: &str = "insert into edition_document values \
     (date('2026-01-01', -(?1 / 3) || ' days'), ?1 % 3, 0, '', '', '', '', '', null)";
const DAY: &str = "2026-01-01";

/// Every table is searched by a key. What `PRUNABLE` collects is walked, and has been searched for.
#[test]
fn no_text_about_editions_walks_a_table() {
    let connection = migrated();
    for text in SHARED {
        let mut program = connection
            .prepare(&format!("explain query plan {text}"))
            .unwrap();
        let nothing = vec![None::<i64>; program.parameter_count()];
        let steps = program.query_map(rusqlite::params_from_iter(nothing), |row| row.get(3));
        for step in steps.unwrap() {
            let step: String = step.unwrap();
            let walks = step.starts_with("SCAN") && step != "SCAN o";
            assert!(!walks, "{step}: {text}");
        }
    }
}

/// A tick reads one day, whatever else there is.
#[test]
fn ed_02_an_account_costs_no_more_when_more_editions_exist() {
    check_costs_no_more(edition::LOAD, [DAY], 1, EDITIONS);
    check_costs_no_more(edition::LOAD_STORIES, [DAY], 30, STORIES);
    check_costs_no_more(edition::LOAD_BATCHES, [DAY], 5, BATCHES);
    check_costs_no_more(edition::LOAD_DELIVERIES, [DAY], 0, DELIVERIES);
    check_costs_no_more(edition::LOAD_NEWEST_DOCUMENT, [DAY], 1, DOCUMENTS);
    check_costs_no_more(edition::LOAD_DOCUMENT, (DAY, 1), 1, DOCUMENTS);
}

/// A page begins where the one before ended, and a search for what is not archived reads nothing
/// else.
#[test]
fn a_page_of_editions_costs_no_more_when_more_exist() {
    let nothing: Option<&str> = None;
    let (day, end) = ("2025-12-30", "9999-99-99");
    let page = rusqlite::params![nothing, 0, 0, day, "~", 5];
    check_costs_no_more(edition::list::LIST, page, 5, EDITIONS);
    let named = rusqlite::params![nothing, 0, 0, "", day, "~", 5];
    check_costs_no_more(edition::list::LIST_NAME, named, 5, EDITIONS);
    for (state, found) in [(",init,", 0), (",published,", 10)] {
        let live = rusqlite::params![state, 0, 0, end, "~", 100];
        check_costs_no_more(edition::list::LIST_LIVE, live, found, EDITIONS);
        let named = rusqlite::params![state, 0, 0, "", end, "~", 100];
        check_costs_no_more(edition::list::LIST_NAME_LIVE, named, found, EDITIONS);
    }
}

#[test]
fn a_change_costs_no_more_when_more_editions_exist() {
    let none: Option<i64> = None;
    let taken = rusqlite::params![
        "init", none, 0, none, 0, none, 0, none, none, none, 0, none, none, none, none, none, none,
        none, none, DAY, 1
    ];
    check_costs_no_more(edition::TAKE, taken, 0, EDITIONS);
    let skipped = rusqlite::params!["", 0, DAY, 2];
    check_costs_no_more(edition::SKIP_OLDER, skipped, 0, DELIVERIES);
}

/// Looking for what can be forgotten costs what is left, not what there ever was.
#[test]
fn ed_31_pruning_costs_no_more_when_more_editions_were_pruned() {
    check_costs_no_more(edition::PRUNABLE, ("2027-01-01", 9), 0, EDITIONS);
    check_costs_no_more(edition::PRUNE_STORIES, [DAY], 0, STORIES);
    check_costs_no_more(edition::PRUNE_BATCHES, [DAY], 0, BATCHES);
}
