//! What a caller may do, what it hears, and which functions it calls.

use super::{House, at, house, put};
use almanack_store::postgres::PostgresStore;
use almanack_testkit::fixture::PUBLISH;

/// What the server says to a statement, with its hint.
async fn refusal(house: &House, statement: &str) -> String {
    let session = house.schema.session().await;
    let error = session.batch_execute(statement).await.unwrap_err();
    let error = error.as_db_error().unwrap();
    format!("{} {}", error.message(), error.hint().unwrap_or_default())
}

#[tokio::test]
async fn wk_03_bad_input_fails_in_the_callers_transaction_and_says_why() {
    let house = house().await;
    let large = "x".repeat(1_100_000);
    let when = format!("'{}'", at(60));
    for (call, why) in [
        (
            format!("put('9', 'a', {when})"),
            "kind '9' must start with a letter",
        ),
        (
            format!("put(null, 'a', {when})"),
            "must start with a letter",
        ),
        (
            format!("put('{PUBLISH}', '', {when})"),
            "subject must have 1 to 200 bytes",
        ),
        (
            format!("put('{PUBLISH}', null, {when})"),
            "subject must have 1 to 200 bytes",
        ),
        (
            format!("put('{PUBLISH}', 'a', null)"),
            "To withdraw a task, call cancel.",
        ),
        (
            format!("put('{PUBLISH}', 'a', 'infinity')"),
            "execute_at must be an instant",
        ),
        (
            format!("put('{PUBLISH}', 'a', {when}, '\"{large}\"')"),
            "payload has 1100002 bytes; the limit is 1048576",
        ),
        (
            format!("put('{PUBLISH}', 'a', {when}, null, '{{\"prio\": 1}}')"),
            "unknown option `prio` Options are revision",
        ),
        (
            format!("put('{PUBLISH}', 'a', {when}, null, '{{\"payload\": 1}}')"),
            "unknown option `payload`",
        ),
        (
            format!("put('{PUBLISH}', 'a', {when}, null, '[]')"),
            "options must be a JSON object",
        ),
        (
            format!("cancel('{PUBLISH}', 'a', '{{\"priority\": 1}}')"),
            "unknown option `priority` Options are revision.",
        ),
        (
            format!("cancel('{PUBLISH}', 'a', null)"),
            "options must be a JSON object",
        ),
    ] {
        let refused = refusal(&house, &house.sql(&call)).await;
        let call: String = call.chars().take(80).collect();
        assert!(refused.contains(why), "{call}: {refused}");
    }
    assert_eq!(house.drain().await, 0, "nothing was written");
}

#[tokio::test]
async fn wk_03_a_role_that_may_call_the_functions_can_do_nothing_else() {
    let house = house().await;
    let functions = house.schema.functions();
    let tables = functions.strip_prefix("almanack_").unwrap();
    let (role, other) = (format!("{tables}_shop"), format!("{tables}_other"));
    let session = house.schema.session().await;
    let made = format!(
        "create role {role}; create role {other}; grant usage on schema {functions} to {role}"
    );
    session.batch_execute(&made).await.unwrap();
    let own = house.ask(&put("article:9", 60)).await;
    let acting = format!("set session authorization {role}; ");
    let call = format!("{acting}{}", house.sql(&put("article:1", 60)));
    session.batch_execute(&call).await.unwrap();
    assert_eq!(house.drain().await, 2);
    let task = house.task("article:1").await.unwrap();
    assert_eq!(task.origin, format!("sql:{role}"));
    let receipt = async |number: i64| -> bool {
        let call = house.sql(&format!("receipt({number}) is not null"));
        session.query_one(&call, &[]).await.unwrap().get(0)
    };
    assert!(receipt(own.0 + 1).await, "its own");
    assert!(!receipt(own.0).await, "another role's");
    for denied in [
        format!("select * from {tables}.inbox"),
        format!("insert into {tables}.inbox (number) values (9)"),
        format!("update {tables}.task set status = 'SUCCESS'"),
        format!("delete from {tables}.task"),
        format!("select {tables}.inbox_write('put', 'A', 'a', '{{}}', '{{}}')"),
        format!("create table {tables}.mine (id bigint)"),
        format!("create table {functions}.mine (id bigint)"),
        format!(
            "create or replace function {functions}.cancel(text, text, jsonb) returns bigint language sql as 'select 1::bigint'"
        ),
    ] {
        let refused = refusal(&house, &format!("{acting}{denied}")).await;
        assert!(
            refused.contains("permission denied") || refused.contains("must be owner"),
            "{denied}: {refused}"
        );
    }
    let acting = format!("set session authorization {other}; ");
    let refused = refusal(
        &house,
        &format!("{acting}{}", house.sql(&put("article:1", 60))),
    )
    .await;
    assert!(
        refused.contains("permission denied for schema"),
        "{refused}"
    );
    let gone = format!(
        "reset session authorization; drop owned by {role}, {other}; drop role {role}, {other}"
    );
    session.batch_execute(&gone).await.unwrap();
}

fn comment(house: &House, version: i64) -> String {
    format!(
        "comment on function {}.put(text, text, timestamptz, jsonb, jsonb) is \
         'Almanack''s functions, version {version}'",
        house.schema.functions()
    )
}

#[tokio::test]
async fn wk_03_lost_and_older_functions_are_replaced_and_newer_ones_stay() {
    let house = house().await;
    let gone = format!("drop function {}.cancel", house.schema.functions());
    for (version, replaced) in [(None, true), (Some(1), true), (Some(9_999), false)] {
        house.schema.run(&gone).await;
        if let Some(version) = version {
            house.schema.run(&comment(&house, version)).await;
        }
        let again = PostgresStore::connect(house.schema.url()).await;
        again.expect("a node starts with functions of any version");
        let session = house.schema.session().await;
        let call = house.sql(&format!("cancel('{PUBLISH}', 'a')"));
        assert_eq!(session.query_one(&call, &[]).await.is_ok(), replaced);
    }
}

/// What the newer functions write may mean more than this program understands.
#[tokio::test]
async fn wk_03_requests_of_newer_functions_wait_for_a_newer_node() {
    let house = house().await;
    house.ask(&put("article:1", 60)).await;
    house.schema.run("update inbox set version = 9999").await;
    let taken = house.inbox.bite().await.unwrap();
    assert_eq!((taken.found, taken.newer), (0, 1));
    assert_eq!(house.task("article:1").await, None);
    house.ask(&put("article:1", 90)).await;
    assert_eq!(house.drain().await, 0, "the order of an identity holds");
}

/// The server does not let the node make the schema: a warning, and everything else works.
#[tokio::test]
async fn wk_03_a_node_starts_where_it_may_not_make_the_functions() {
    let house = house().await;
    let functions = house.schema.functions();
    let tables = functions.strip_prefix("almanack_").unwrap();
    let role = format!("{tables}_node");
    let made = format!(
        "drop schema {functions} cascade; create role {role} login; \
         grant all on schema {tables} to {role}; grant all on all tables in schema {tables} to {role}; \
         grant all on all sequences in schema {tables} to {role}"
    );
    house.schema.run(&made).await;
    let url = house.schema.url().to_owned() + "%20-c%20role%3D" + &role;
    let store = PostgresStore::connect(&url).await.unwrap();
    drop(store);
    let gone = format!("drop owned by {role}; drop role {role}");
    house.schema.run(&gone).await;
}
