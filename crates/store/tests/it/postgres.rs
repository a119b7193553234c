//! PostgreSQL: a schema of its own per rule, in the cluster that `dev/check` starts.

use almanack_store::postgres::PostgresStore;
use almanack_testkit::{conformance::Fresh, postgres::Schema};

async fn fresh() -> Fresh {
    let schema = Schema::create().await;
    let store = PostgresStore::connect(schema.url()).await.unwrap();
    Fresh::new(store).keeping(schema)
}

almanack_testkit::conformance!(fresh);
