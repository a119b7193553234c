//! The SQL functions that services call in their own transactions (WK-03): made when a node starts,
//! and made anew by a newer version.
//!
//! They are in a schema of their own, so that a role can be given them and nothing else: `almanack`
//! for tables in `public`, `almanack_NAME` for tables in another schema. Their version is that of
//! the newest migration, and every request carries it: a node leaves what newer functions wrote to
//! newer nodes, and never puts older functions in the place of newer ones.
//!
//! A server that does not let this role make them is no reason not to start: everything else works,
//! the log says what is missing, and so does `almanack doctor`.

use almanack_core::{
    event::incoming::{cancel_fields, put_fields},
    store::{Error, Result},
    task::{KIND_BYTES_MAX, PAYLOAD_BYTES_MAX, SUBJECT_BYTES_MAX},
};
use tokio_postgres::{Client, GenericClient};

use super::{
    explain,
    migration::{UNLOCK, lock},
};

const TEXT: &str = include_str!("functions.sql");
/// Options beside the payload, which has its own limit.
const OPTIONS_BYTES_MAX: usize = 64 * 1024;
/// Arguments of the functions, and therefore no options.
const ARGUMENTS: [&str; 3] = ["kind", "execute_at", "payload"];

/// What is white space everywhere; the server's own idea of it depends on its locale.
const BLANK: &str = r"[ \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]";

const SCHEMAS: &str = "select current_schema()::text, case when current_schema() in \
     ('public', 'almanack') then 'almanack' else 'almanack_' || current_schema() end";
/// What `put` says about itself. Its version stands at the end.
const COMMENT: &str = "Almanack's functions, version ";
const INSTALLED: &str = "select obj_description(to_regprocedure(format(\
     '%I.put(text, text, timestamptz, jsonb, jsonb)', $1::text))::oid, 'pg_proc'), \
     to_regprocedure(format('%I.cancel(text, text, jsonb)', $1::text)) is not null \
     and to_regprocedure(format('%I.receipt(bigint)', $1::text)) is not null";

/// Where the tables are, and where the functions.
pub(crate) struct Schemas {
    tables: String,
    pub(crate) functions: String,
}

impl Schemas {
    pub(crate) async fn find(client: &impl GenericClient) -> Result<Self> {
        let row = client.query_one(SCHEMAS, &[]).await.map_err(failed)?;
        let missing = || Error::Incompatible {
            what: "no schema that the search path names exists".to_owned(),
        };
        let name = |index| row.get::<_, Option<String>>(index).ok_or_else(missing);
        Ok(Self {
            tables: name(0)?,
            functions: name(1)?,
        })
    }

    /// The channel for hints.
    pub(super) fn channel(&self) -> String {
        format!("almanack_{}", self.tables)
    }
}

/// The version of the functions that are there, if any are; `None` if one of this version lacks.
pub(crate) async fn installed(
    client: &impl GenericClient,
    schemas: &Schemas,
    own: i64,
) -> Result<Option<i64>> {
    let row = client.query_one(INSTALLED, &[&schemas.functions]).await;
    let row = row.map_err(failed)?;
    let (comment, is_whole): (Option<String>, bool) = (row.get(0), row.get(1));
    let version = comment.and_then(|text| text.strip_prefix(COMMENT)?.parse().ok());
    // How those of another version are called is not known here.
    Ok(version.filter(|version| *version != own || is_whole))
}

/// Makes the functions, unless they are there in this version or a newer one.
pub(super) async fn keep(client: &mut Client, schemas: &Schemas, version: i64) {
    let schema = schemas.functions.as_str();
    match try_keep(client, schemas, version).await {
        Ok(found) if found > version => tracing::warn!(
            schema,
            found,
            version,
            "the SQL functions are of a newer version; their requests wait for a newer node"
        ),
        Ok(_) => {}
        Err(error) => tracing::warn!(
            schema,
            error = error.chain(),
            "could not create the SQL functions; tasks can be changed through the API only"
        ),
    }
}

/// Answers which version is there afterwards.
async fn try_keep(client: &mut Client, schemas: &Schemas, version: i64) -> Result<i64> {
    if let Some(found) = installed(client, schemas, version).await?
        && found >= version
    {
        return Ok(found);
    }
    lock(client).await?;
    let made = make(client, schemas, version).await;
    client.batch_execute(UNLOCK).await.map_err(failed)?;
    made
}

/// Under the lock: another node may have been here.
async fn make(client: &mut Client, schemas: &Schemas, version: i64) -> Result<i64> {
    if let Some(found) = installed(client, schemas, version).await?
        && found >= version
    {
        return Ok(found);
    }
    let transaction = client.transaction().await.map_err(failed)?;
    let text = text(schemas, version);
    transaction.batch_execute(&text).await.map_err(failed)?;
    transaction.commit().await.map_err(failed)?;
    Ok(version)
}

fn text(schemas: &Schemas, version: i64) -> String {
    let filled = [
        ("{tables}", identifier(&schemas.tables)),
        ("{functions}", identifier(&schemas.functions)),
        ("{functions_name}", literal(&identifier(&schemas.functions))),
        ("{channel}", literal(&schemas.channel())),
        ("{version}", version.to_string()),
        ("{comment}", literal(&format!("{COMMENT}{version}"))),
        ("{put_options}", options(put_fields())),
        ("{cancel_options}", options(cancel_fields())),
        ("{blank}", BLANK.to_owned()),
        ("{kind_bytes}", KIND_BYTES_MAX.to_string()),
        ("{subject_bytes}", SUBJECT_BYTES_MAX.to_string()),
        ("{payload_bytes}", PAYLOAD_BYTES_MAX.to_string()),
        ("{options_bytes}", OPTIONS_BYTES_MAX.to_string()),
        ("{{}}", "{}".to_owned()),
    ];
    let fill = |text: String, (name, value): &(&str, String)| text.replace(name, value);
    filled.iter().fold(TEXT.to_owned(), fill)
}

fn options(fields: &[&str]) -> String {
    let options = fields.iter().filter(|field| !ARGUMENTS.contains(field));
    let options: Vec<String> = options.map(|field| literal(field)).collect();
    format!("array[{}]::text[]", options.join(", "))
}

fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn failed(error: tokio_postgres::Error) -> Error {
    explain("keep SQL functions", error)
}
