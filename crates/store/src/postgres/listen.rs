//! Hearing of other nodes' changes.
//!
//! One connection does nothing but listen. If it breaks, hints were missed: after every (re)connect
//! the listener gives one hint of its own, "anything may be due".

use std::{future::poll_fn, time::Duration};

use jiff::Timestamp;
use tokio::task::AbortHandle;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls, Socket, tls::NoTlsStream};

use crate::{nudge::Nudger, row::instant};

/// Between two tries to reconnect.
const RECONNECT_AFTER: Duration = Duration::from_secs(1);

/// Tells every listening node that something is due at `$2` (microseconds).
pub(super) const NOTIFY: &str = "select pg_notify($1, $2)";

/// Listens until dropped.
pub(super) struct Listener(AbortHandle);

impl Listener {
    pub(super) fn start(config: Config, channel: String, nudger: Nudger) -> Self {
        Self(tokio::spawn(run(config, channel, nudger)).abort_handle())
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn run(config: Config, channel: String, nudger: Nudger) {
    loop {
        if let Err(error) = listen(&config, &channel, &nudger).await {
            tracing::warn!(error = %error, "listening for changes was interrupted; reconnecting");
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "a reconnect needs a real pause, not a task's time"
        )]
        tokio::time::sleep(RECONNECT_AFTER).await;
    }
}

async fn listen(
    config: &Config,
    channel: &str,
    nudger: &Nudger,
) -> Result<(), tokio_postgres::Error> {
    let (client, connection) = config.connect(NoTls).await?;
    let hearing = hear(connection, nudger);
    let asking = ask(&client, channel, nudger);
    tokio::try_join!(hearing, asking).map(|_| ())
}

/// Subscribes, and then keeps the connection alive by holding its client.
async fn ask(client: &Client, channel: &str, nudger: &Nudger) -> Result<(), tokio_postgres::Error> {
    client
        .batch_execute(&format!("listen \"{}\"", channel.replace('"', "\"\"")))
        .await?;
    nudger.nudge(Timestamp::MIN);
    std::future::pending().await
}

/// Passes on what the server says until the connection ends.
async fn hear(
    mut connection: Connection<Socket, NoTlsStream>,
    nudger: &Nudger,
) -> Result<(), tokio_postgres::Error> {
    while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
        if let AsyncMessage::Notification(notification) = message? {
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
