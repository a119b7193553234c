//! Checks on PostgreSQL's plans: what a look or a page reads is found by its index, in order, on an empty table as
//! on a full one.

use almanack_testkit::postgres::Schema;
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage};

use super::SESSION_OPTIONS;
use crate::{edition, entry, migrate, source};

/// Two thousand sources of which few are odd, with thirty entries each.
const FILL: &str = "insert into source (version, source_type, state, cadence, attention, \
     due_at_us, check_count, hit_count, fail_count, created_at_us, updated_at_us, address, name, \
     category, reading, moving_times, shown, recent, learned) \
     select 1, case when n % 200 = 0 then 'custom' else 'rss' end, \
     case when n % 200 = 0 then 'paused' else 'active' end, 'P' || n % 7, \
     case when n % 200 = 0 then 'silent' end, n, 0, 0, 0, 0, 0, n, 'n', '', '', 0, '', '', '' \
     from generate_series(1, 2000) n; \
     insert into entry (source_id, seen_at_us, key, title) \
     select n % 2000, n, n, '' from generate_series(1, 60000) n; \
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
    let told = client.simple_query(&explain).await.unwrap();
    let lines = told.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn sources_and_entries_are_found_by_their_indexes() {
    let schema = Schema::create().await;
    let client = session(&schema).await;
    let nothing = "null, null, null, null, null, null, 0, 20";
    let rows = [
        (source::LOAD_DUE, "9, 10", "source_due"),
        (source::LOAD_DUE_OF, "'rss', 9, 10", "source_type_due"),
        (source::LOAD_STRAYS, "9, 10", "source_due"),
        (source::LOAD_STRAYS, "9, 10", "task_current"),
        (source::LOAD_POSTGRES, "'{1,2}'", "source_pkey"),
        (source::LOAD_AT, "'7'", "source_address_key"),
        (source::LIST, nothing, "source_pkey"),
        // Of few types and cadences each is common: a page is soon full along the numbers too.
        (source::LIST_TYPE, nothing, "Index Scan using source_"),
        (source::LIST_CADENCE, nothing, "Index Scan using source_"),
        (source::LIST_ATTENTION, nothing, "source_attention"),
        (source::LIST_RESTING, nothing, "source_resting"),
        (source::NEXT_ROWS, "0, 10", "source_pkey"),
        (entry::KNOWN_POSTGRES, "1, '{a,b}'", "entry_key"),
        (entry::LIST, "9, 10", "entry_pkey"),
        (entry::LIST_OF, "1, 0, 9, 10", "entry_newest"),
        (entry::LIST_SINCE, "0, 9, 10", "entry_seen_at"),
        (entry::REMOVE_ALL, "1", "entry_"),
    ];
    for fill in ["", FILL] {
        client.batch_execute(fill).await.unwrap();
        for (text, values, index) in rows {
            let plan = plan(&client, text, values).await;
            assert!(plan.contains(index), "{index} is not used:\n{text}\n{plan}");
            let walks = ["Seq Scan", "Sort"].iter().any(|bad| plan.contains(bad));
            assert!(!walks, "{text}\n{plan}");
        }
    }
}

/// Ten years of editions, the last ten of them with stories, batches, a document and its deliveries.
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
    let (day, page) = ("'2026-01-01'", "',init,', 0, '~', 20");
    let taken = "'init', null, 0, null, 0, null, 0, null, null, null, 0, '2026-01-01', 1";
    let skipped = "'', 0, '2026-01-01', 2";
    let rows = [
        (edition::LOAD, day, "edition_pkey"),
        (edition::TAKE, taken, "edition_pkey"),
        (edition::LIST, page, "edition_pkey"),
        (edition::LIST_LIVE, page, "edition_live"),
        (edition::LIST_LIVE, page, "Index Scan using story_"),
        (edition::LIST_LIVE, page, "batch_pkey"),
        (edition::LOAD_STORIES, day, "story_edition_on_rank_key"),
        (edition::LOAD_BATCHES, day, "batch_pkey"),
        (edition::LOAD_DELIVERIES, day, "delivery_pkey"),
        (edition::SKIP_OLDER, skipped, "delivery_pkey"),
        (edition::LOAD_ALERTS, day, "edition_alert_pkey"),
        (edition::UNTOLD, "'2026-01-01', 5", "edition_alert_untold"),
        (
            edition::LOAD_DOCUMENT,
            "'2026-01-01', 1",
            "edition_document_pkey",
        ),
        (edition::LOAD_NEWEST_DOCUMENT, day, "edition_document_pkey"),
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
