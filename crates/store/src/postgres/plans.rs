//! Checks on PostgreSQL's plans: what a look or a page reads is found by its index, in order, on an empty table as
//! on a full one.

use almanack_testkit::postgres::Schema;
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage};

use super::SESSION_OPTIONS;
use crate::{entry, migrate, source};

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
    let nothing = "null, null, null, null, null, 0, 20";
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
