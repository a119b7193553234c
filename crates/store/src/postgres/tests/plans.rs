//! Checks on PostgreSQL's plans: what a look or a page reads is found by its index, in order, on an
//! empty table as on a full one.

use almanack_testkit::postgres::Schema;
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage};

use crate::{
    activity, coming, edition, entry, find, inbox, migrate, overview, postgres::SESSION_OPTIONS,
    run_log, schedule, sign_in, source, task,
};

/// Two thousand sources of which few are odd, with thirty entries each.
const FILL: &str = "insert into source (version, source_type, state, cadence, attention, \
     due_at_us, check_count, hit_count, fail_count, created_at_us, updated_at_us, address, name, \
     category, reading, moving_times, shown, recent, learned) \
     select 1, case when n % 200 = 0 then 'custom' else 'rss' end, \
     case when n % 200 = 0 then 'paused' else 'active' end, 'P' || n % 7, \
     case when n % 200 = 0 then 'silent' end, n, 0, 0, 0, 0, 0, n, 'n', '', '', 0, '', '', '' \
     from generate_series(1, 2000) n; \
     insert into entry (source_id, seen_at_us, key, title, link_hash) \
     select n % 2000, n, n, '', n from generate_series(1, 60000) n; \
     analyze source; analyze entry";

/// A session as the store opens it, on migrated tables.
async fn session(schema: &Schema) -> Client {
    let mut config: Config = schema.url().parse().unwrap();
    let given = config.get_options().unwrap_or_default().to_owned();
    config.options(format!("{given} {SESSION_OPTIONS}"));
    let (client, connection) = config.connect(NoTls).await.unwrap();
    tokio::spawn(connection);
    for migration in migrate::ALL {
        client.batch_execute(migration.postgres).await.unwrap();
    }
    client
}

async fn plan(client: &Client, text: &str, values: &str) -> String {
    let prepare = format!("deallocate all; prepare asked as {text}");
    client.batch_execute(&prepare).await.unwrap();
    let explain = format!("explain (costs off) execute asked({values})");
    let output = client.simple_query(&explain).await.unwrap();
    let lines = output.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn sources_and_entries_are_found_by_their_indexes() {
    let schema = Schema::create().await;
    let client = session(&schema).await;
    let nothing = "null, null, null, null, null, null, null, 0, 99, 20";
    let rows = [
        (source::LOAD_DUE, "9, 10", "source_due"),
        (source::LOAD_DUE_OF, "'rss', 9, 10", "source_type_due"),
        (source::LOAD_STRAYS, "9, 10", "source_due"),
        (source::LOAD_STRAYS, "9, 10", "task_current"),
        (source::LOAD_POSTGRES, "'{1,2}'", "source_pkey"),
        (source::LOAD_AT, "'7'", "source_address_key"),
        (source::list::LIST, nothing, "source_pkey"),
        (source::list::LIST_ATTENTION, nothing, "source_attention"),
        (source::list::LIST_RESTING, nothing, "source_resting"),
        (source::list::ALL_TO, "0, 20", "source_pkey"),
        (source::list::ATTENTION_TO, "0, 20", "source_attention"),
        (source::list::RESTING_TO, "0, 20", "source_resting"),
        (source::NEXT_ROWS, "0, 10", "source_pkey"),
        (entry::KNOWN_POSTGRES, "1, '{a,b}', '{}', 8", "entry_key"),
        (
            entry::KNOWN_POSTGRES,
            "1, '{a,b}', '{1,2}', 8",
            "entry_link",
        ),
        (entry::LIST, "9, 0, 0, 10", "entry_pkey"),
        (entry::LIST_OF, "1, 9, 0, 0, 10", "entry_newest"),
        (entry::LIST_IN, "9, 0, 0, 'news', 10", "entry_pkey"),
        (entry::search::UNREAD, "1, 50, 0, 5", "entry_newest"),
        (entry::EXAMINED_TO, "9, 10", "entry_pkey"),
        (entry::EXAMINED_TO_OF, "1, 9, 10", "entry_newest"),
        (entry::FIRST_SINCE, "0, 10", "entry_seen_at"),
        (entry::REMOVE_ALL, "1", "entry_"),
    ];
    for fill in ["", FILL] {
        client.batch_execute(fill).await.unwrap();
        for (text, values, index) in rows {
            let plan = plan(&client, text, values).await;
            // In an empty table every index of a source's entries costs the same.
            let any = fill.is_empty() && index == "entry_key";
            let index = if any { "entry_" } else { index };
            assert!(plan.contains(index), "{index} is not used:\n{text}\n{plan}");
            let walks = ["Seq Scan", "Sort"].iter().any(|bad| plan.contains(bad));
            assert!(!walks, "{text}\n{plan}");
        }
    }
}

/// Most of the inbox is answered, and what waits is a few rows: they alone are looked at, each with
/// the one before it.
#[tokio::test]
async fn wk_03_the_inbox_is_taken_by_its_indexes() {
    let schema = Schema::create().await;
    let client = session(&schema).await;
    let fill = "insert into inbox (nth, asked_at_us, answered_at_us, version, verb, kind, subject, \
         role, request) select n / 1000, 0, case when n < 59000 then n end, 1, 'put', 'K', \
         n % 1000, '', '' from generate_series(1000, 60999) n; analyze inbox";
    for fill in ["", fill] {
        client.batch_execute(fill).await.unwrap();
        for (text, values, index) in [
            (inbox::TAKE, "1, 10", "inbox_waiting"),
            (inbox::TAKE, "1, 10", "inbox_identity"),
            (inbox::COUNT_NEWER, "1", "inbox_waiting"),
        ] {
            let plan = plan(&client, text, values).await;
            assert!(plan.contains(index), "{index} is not used:\n{text}\n{plan}");
            let walks = ["Seq Scan", "Sort"].iter().any(|bad| plan.contains(bad));
            assert!(!walks, "{text}\n{plan}");
        }
    }
}

/// Words are looked up together with numbers, however many entries there are.
#[tokio::test]
async fn ss_24_words_are_found_by_their_index() {
    let schema = Schema::create().await;
    let client = session(&schema).await;
    let fill = "insert into entry (source_id, seen_at_us, key, title, words) \
         select n % 2000, n, n, '', 'ferry w' || n from generate_series(1, 60000) n; analyze entry";
    client.batch_execute("begin").await.unwrap();
    client
        .batch_execute(entry::search::BY_WORDS_POSTGRES)
        .await
        .unwrap();
    client.batch_execute(fill).await.unwrap();
    for words in ["ferry", "w7", "ferry & w7", "w7:*"] {
        let values = format!("'{words}', 60000, 50000, 0, null, null, 51");
        let plan = plan(&client, entry::search::SEARCH_POSTGRES, &values).await;
        // All rows have the one word: then their numbers alone say which are looked at.
        let is_found = plan.contains("entry_search") || words == "ferry";
        assert!(is_found && !plan.contains("Seq Scan"), "{words}\n{plan}");
    }
}

/// Ten years of editions, the last ten of them with stories, batches, a document and its
/// deliveries.
const FILL_EDITIONS: &str = "insert into edition (edition_on, version, state, revision, \
     list_requests, started_at_us, created_at_us, updated_at_us) \
     select (date '2026-01-01' - n)::text, 1, case when n < 10 then 'published' else 'archived' \
     end, 1, 0, 0, 0, 0 from generate_series(0, 3650) n; \
     insert into story (edition_on, story_key, rank, status, retry_count, updated_at_us, url, \
     title) select (date '2026-01-01' - n / 30)::text, n, n, 'pending', 0, 0, '', '' \
     from generate_series(0, 299) n; \
     insert into batch (edition_on, batch_index, status, story_count, requests, model_requests, \
     tokens_in, tokens_out, started_at_us, lease_until_us, node) \
     select (date '2026-01-01' - n / 5)::text, n, 'success', 6, 0, 0, 0, 0, 0, 0, '' \
     from generate_series(0, 49) n; \
     insert into edition_document select (date '2026-01-01' - n)::text, 1, 0, '', '', '', '', '' \
     from generate_series(0, 3650) n; \
     insert into delivery (edition_on, revision, destination, part, state, attempts, requests, \
     updated_at_us) select (date '2026-01-01' - n / 4)::text, 1, n, 1, 'confirmed', 1, 1, 0 \
     from generate_series(0, 3650 * 4) n; \
     analyze edition; analyze story; analyze batch; analyze edition_document; analyze delivery";

#[tokio::test]
async fn editions_are_found_by_their_indexes() {
    let schema = Schema::create().await;
    let client = session(&schema).await;
    let (day, page) = ("'2026-01-01'", "',init,', 0, 0, '2026-01-01', '~', 20");
    let named = "',init,', 0, 0, '', '2026-01-01', '~', 20";
    let taken = "'init', null, 0, null, 0, null, 0, null, null, null, 0, null, null, null, \
         null, null, null, null, null, '2026-01-01', 1";
    let skipped = "'', 0, '2026-01-01', 2";
    let rows = [
        (edition::LOAD, day, "edition_pkey"),
        (edition::TAKE, taken, "edition_pkey"),
        (edition::list::LIST, page, "edition_day"),
        (edition::list::LIST_LIVE, page, "edition_live_day"),
        (edition::list::LIST_NAME, named, "edition_pkey"),
        (edition::list::LIST_NAME_LIVE, named, "edition_live"),
        (edition::list::LIST_LIVE, page, "Index Scan using story_"),
        (edition::list::LIST_LIVE, page, "batch_pkey"),
        (edition::LOAD_STORIES, day, "story_edition_on_rank_key"),
        (edition::LOAD_BATCHES, day, "batch_pkey"),
        (edition::LOAD_DELIVERIES, day, "delivery_pkey"),
        (edition::SKIP_OLDER, skipped, "delivery_pkey"),
        (
            edition::LOAD_DOCUMENT,
            "'2026-01-01', 1",
            "edition_document_pkey",
        ),
        (edition::LOAD_NEWEST_DOCUMENT, day, "edition_document_pkey"),
        (
            edition::LOAD_REVISIONS,
            "'2026-01-01', 9",
            "edition_document_pkey",
        ),
        (edition::PRUNE_STORIES, day, "Index Scan using story_"),
        (edition::PRUNE_BATCHES, day, "batch_pkey"),
    ];
    for fill in ["", FILL_EDITIONS] {
        client.batch_execute(fill).await.unwrap();
        for (text, values, index) in rows {
            let plan = plan(&client, text, values).await;
            assert!(plan.contains(index), "{index} is not used:\n{text}\n{plan}");
            let walks = ["Seq Scan", "Sort"].iter().any(|bad| plan.contains(bad));
            assert!(!walks, "{text}\n{plan}");
        }
        let plan = plan(&client, edition::PRUNABLE, "'2026-01-01', 9").await;
        assert!(
            plan.contains("edition_pkey") && !plan.contains("Seq Scan"),
            "{plan}"
        );
    }
}

/// Tasks of three kinds that ended, with a decision each; ledgers and edits of a hundred schedules;
/// sessions.
const FILL_PAGES: &str = "insert into task (subject, kind, status, is_current, execute_at_us, \
     due_at_us, priority, attempt, max_retry, term, revision, decisions, created_at_us, \
     created_execute_at_us, finished_at_us, origin, payload) \
     select n, 'K' || n % 3, 'SUCCESS', true, n, case when n % 2 = 0 then n end, 5, 1, 3, 1, 0, 1, \
     n, n, n, 'ada', '' from generate_series(1, 20000) n; \
     insert into decision (task_id, number, decided_at_us, origin, rule, execute_at_us, revision) \
     select n, 1, n, 'ada', 'updated', n, 0 from generate_series(1, 20000) n; \
     insert into schedule (name, origin, definition, revision, version, state, created_at_us, \
     changed_at_us) select n, 'api', '', 1, 1, 'active', 0, 0 from generate_series(1, 100) n; \
     insert into slot (schedule_id, slot_at_us, last_at_us, slots, verdict, revision, \
     decided_at_us) select n % 100, n, n + n % 2, 1 + n % 2, 'fired', 1, n \
     from generate_series(1, 20000) n; \
     insert into schedule_edit (schedule_id, version, revision, edited, by_whom, definition, \
     at_us) select n % 100, n, 1, 'changed', 'ada', '', n from generate_series(1, 20000) n; \
     insert into session (hash, holder_kind, holder, created_at_us, expires_at_us) \
     select n, 'user', n % 100, n, n from generate_series(1, 2000) n; \
     insert into past_claim select n, n, array[n] from generate_series(1, 20000) n; \
     analyze past_claim; analyze task; analyze decision; analyze schedule; analyze slot; analyze schedule_edit; \
     analyze session";

/// Lists that are merged or searched are sorted in the end; nothing is read from end to end for it.
#[tokio::test]
async fn pages_are_found_by_their_indexes() {
    let schema = Schema::create().await;
    let client = session(&schema).await;
    let window = "10, 20, 5";
    let past = "10, 20, '{1,2}'";
    let (listed, named) = (
        "99999, 10, 'K', null, null, null, null, null, null, null, null, null, null, '', 10",
        "'a', 'z', null, null, 1, null, null, 10",
    );
    let found = "99999, 10, null, null, null, null, null, null, null, null, null, null, null, ''";
    let tagged = "99999, 10, null, null, null, null, null, null, null, 'x', null, null, null, '', \
         'x', 10";
    let about = "50, 99999, null, 0, null, null, null, 10";
    let rows = [
        (find::TAGGED_TO, "'x', 99999, 50", "task_tag_pkey"),
        (find::LIST.tagged[1], tagged, "task_tag_pkey"),
        (find::EXAMINED_TO, "99999, 50", "Backward using task_pkey"),
        (find::LIST.all[1], listed, "Backward using task_pkey"),
        (schedule::EXAMINED_TO, "'a', 50", "schedule_name_key"),
        (schedule::LIST, named, "schedule_name_key"),
        (find::LINES.all[1], listed, "Backward using task_pkey"),
        (find::COUNT_LINES.all[1], found, "task_pkey"),
        (overview::COUNT_STATUSES, "50, null", "task_pkey"),
        (overview::PAST_CLAIMS, "10, 20", "past_claim_lease_until"),
        (overview::ENDED_POSTGRES, "10, 20", "task_pkey"),
        (overview::ENDED_PAST_POSTGRES, past, "past_claim_pkey"),
        (overview::ENDED_PAST_POSTGRES, past, "task_pkey"),
        (overview::UPCOMING, "'K1', 5, 0, 50, 10", "task_due"),
        (task::DEPTH, "'K1', 5, 10", "task_due"),
        (coming::LANE_POSTGRES, "'K1', 5, 0, 50, 10", "task_due"),
        (overview::RUNNING_POSTGRES, "10", "task_pkey"),
        (overview::SLOTS_BETWEEN, window, "slot_last_at"),
        (overview::SLOTS_BETWEEN, window, "slot_several"),
        (overview::SLOTS_BETWEEN, window, "schedule_pkey"),
        (activity::CREATIONS_POSTGRES, about, "task_pkey"),
        (activity::CHANGES_POSTGRES, about, "decision_decided_at"),
        (activity::CHANGES_POSTGRES, about, "task_pkey"),
        (
            activity::EDITS_POSTGRES,
            "50, 99999, null, 0, null, 10",
            "schedule_edit_at",
        ),
        (sign_in::LOAD_SESSION, "'1'", "session_pkey"),
        (sign_in::PRUNE_SESSIONS, "1", "session_expires_at"),
        (sign_in::REMOVE_USER[1], "'1'", "session_holder"),
    ];
    let sorted = [
        find::EXAMINED_TO,
        find::LIST.all[1],
        schedule::EXAMINED_TO,
        schedule::LIST,
        find::LINES.all[1],
        overview::PAST_CLAIMS,
        overview::UPCOMING,
    ];
    for fill in ["", FILL_PAGES] {
        client.batch_execute(fill).await.unwrap();
        for (text, values, index) in rows {
            let plan = plan(&client, text, values).await;
            assert!(plan.contains(index), "{index} is not used:\n{text}\n{plan}");
            let claims = plan.replace("Seq Scan on claim", "");
            assert!(!claims.contains("Seq Scan"), "{text}\n{plan}");
            assert!(
                !sorted.contains(&text) || !plan.contains("Sort"),
                "{text}\n{plan}"
            );
        }
    }
}

/// Pieces of a log, old pieces, and firings by hand are found without reading others.
#[tokio::test]
async fn dp_20_run_logs_are_found_by_their_indexes() {
    let schema = Schema::create().await;
    let client = session(&schema).await;
    let fill = "insert into run_log (task_id, term, at_byte, bytes, written_at_us, packed) \
         select n / 20, 1, n % 20 * 100, 100, n, '' from generate_series(1, 20000) n; \
         insert into task (subject, kind, status, is_current, execute_at_us, priority, attempt, \
         max_retry, term, revision, decisions, created_at_us, created_execute_at_us, origin, payload) \
         select 's' || n, 'DISPATCH', 'SUCCESS', true, n, 5, 1, 0, 1, 0, 0, n, n, 'x', '' \
         from generate_series(1, 20000) n; analyze run_log; analyze task";
    let rows = [
        (run_log::LOAD, "7, 1, 0, 50, 9", "run_log_pkey"),
        (run_log::LOAD_EXTENTS, "7", "run_log_pkey"),
        (run_log::CUT, "7, 1, 100, 300", "run_log_pkey"),
        (
            run_log::REPORT_POSTGRES,
            "7, 1, 3, 9, 'abc', 99",
            "run_log_pkey",
        ),
        (run_log::PRUNE_POSTGRES, "50, 9", "run_log_written_at"),
        (
            schedule::LOAD_BY_HAND,
            "'s1', 's2', 'DISPATCH', 'y', 9",
            "task_current",
        ),
    ];
    for fill in ["", fill] {
        client.batch_execute(fill).await.unwrap();
        for (text, values, index) in rows {
            let plan = plan(&client, text, values).await;
            assert!(plan.contains(index), "{index} is not used:\n{text}\n{plan}");
            assert!(!plan.contains("Seq Scan"), "{text}\n{plan}");
        }
    }
}
