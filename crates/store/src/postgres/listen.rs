//! Hearing of other nodes' changes.
//!
//! One connection does nothing but listen. If it breaks, hints are missed: after every reconnect
//! the listener gives one more hint, "anything may be due".

use std::{future::poll_fn, time::Duration};

use jiff::Timestamp;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::{AbortHandle, JoinHandle};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, Socket};

use super::tls::Tls;
use crate::{nudge::Nudger, row::instant};

/// Between two tries to reconnect.
const RECONNECT_AFTER: Duration = Duration::from_secs(1);

/// Notifies every listening node that something is due at `$2` (microseconds).
pub(super) const NOTIFY: &str = "select pg_notify($1, $2)";

/// Says, instead of an instant, that something is in the inbox.
pub(super) const INBOX: &str = "inbox";

/// Who is notified: of what is due, and of the inbox.
type Nudgers = (Nudger, Nudger);

pub(super) struct Listener(AbortHandle);

impl Listener {
    /// Listens from now on: a change made after this call returns is heard.
    pub(super) async fn start(
        way: (Config, Tls),
        channel: String,
        nudgers: Nudgers,
    ) -> Result<Self, tokio_postgres::Error> {
        let line = Line::open(&way, &channel, &nudgers).await?;
        Ok(Self(
            tokio::spawn(run(line, way, channel, nudgers)).abort_handle(),
        ))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn run(mut line: Line, way: (Config, Tls), channel: String, nudgers: Nudgers) {
    loop {
        let ended = (&mut line.hearing).await;
        tracing::warn!(
            ?ended,
            "listening for changes was interrupted; reconnecting"
        );
        line = loop {
            #[expect(
                clippy::disallowed_methods,
                reason = "a reconnect needs a real pause, not a task's time"
            )]
            tokio::time::sleep(RECONNECT_AFTER).await;
            if let Ok(line) = Line::open(&way, &channel, &nudgers).await {
                break line;
            }
        };
        nudgers.0.nudge(Timestamp::MIN);
        nudgers.1.nudge(Timestamp::MIN);
    }
}

/// An open connection that listens as long as its client is kept.
struct Line {
    _client: Client,
    hearing: JoinHandle<Result<(), tokio_postgres::Error>>,
}

impl Line {
    async fn open(
        (config, tls): &(Config, Tls),
        channel: &str,
        nudgers: &Nudgers,
    ) -> Result<Self, tokio_postgres::Error> {
        let (client, connection) = config.connect(tls.clone()).await?;
        let hearing = tokio::spawn(hear(connection, nudgers.clone()));
        let listen = format!("listen \"{}\"", channel.replace('"', "\"\""));
        client.batch_execute(&listen).await?;
        Ok(Self {
            _client: client,
            hearing,
        })
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.hearing.abort();
    }
}

/// Passes on what the server says until the connection ends.
async fn hear<S: AsyncRead + AsyncWrite + Unpin>(
    mut connection: Connection<Socket, S>,
    (nudger, inbox_nudger): Nudgers,
) -> Result<(), tokio_postgres::Error> {
    while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
        if let AsyncMessage::Notification(notification) = message? {
            if notification.payload() == INBOX {
                inbox_nudger.nudge(Timestamp::MIN);
                continue;
            }
            let due_at = notification
                .payload()
                .parse()
                .ok()
                .and_then(|us| instant(us).ok());
            nudger.nudge(due_at.unwrap_or(Timestamp::MIN));
        }
    }
    Ok(())
}
