//! Whether a server would serve a node: a check before one is started. Nothing is created, changed
//! or read.

use std::time::Duration;

use async_nats::{
    error::Error as ClientError,
    jetstream::{ErrorCode, context::GetStreamErrorKind},
};

use super::connection::Connection;
use crate::Error;

/// How long it may take altogether.
const WITHIN: Duration = Duration::from_secs(10);

/// Signs in, and looks for streams and for streams that keep subjects. Returns what is missing, a
/// sentence each.
pub async fn look(
    connection: &Connection,
    streams: &[&str],
    subjects: &[&str],
) -> Result<Vec<String>, Error> {
    let looking = tokio::time::timeout(WITHIN, missing(connection, streams, subjects));
    looking.await.unwrap_or_else(|_| {
        Err(Error::Unavailable {
            what: "connect",
            why: format!("no answer within {} s", WITHIN.as_secs()),
        })
    })
}

async fn missing(
    connection: &Connection,
    streams: &[&str],
    subjects: &[&str],
) -> Result<Vec<String>, Error> {
    let link = connection.open().await?;
    let unavailable = |why: String| Error::Unavailable {
        what: "ask JetStream",
        why: link.describe(why),
    };
    let context = link.context().map_err(unavailable)?;
    let mut missing = Vec::new();
    for stream in streams {
        match context.get_stream(stream).await {
            Ok(_) => {}
            Err(error) if is_unknown(&error) => {
                missing.push(format!("there is no stream `{stream}`"));
            }
            Err(error) => return Err(unavailable(error.to_string())),
        }
    }
    for subject in subjects {
        if context.stream_by_subject(*subject).await.is_err() {
            missing.push(format!("no stream keeps the subject `{subject}`"));
        }
    }
    Ok(missing)
}

fn is_unknown(error: &ClientError<GetStreamErrorKind>) -> bool {
    match error.kind() {
        GetStreamErrorKind::JetStream(error_text) => {
            error_text.error_code() == ErrorCode::STREAM_NOT_FOUND
        }
        GetStreamErrorKind::InvalidStreamName | GetStreamErrorKind::EmptyName => true,
        GetStreamErrorKind::Request => false,
    }
}
