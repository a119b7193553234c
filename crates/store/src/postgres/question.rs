//! Questions that can be given up.
//!
//! A statement continues at the server after its client stopped waiting. A client that looks at
//! pages may leave at any moment, so a question of theirs that is dropped keeps its connection
//! until the server is done with it, and soon asks the server to stop: whatever clients do, the
//! server works on no more questions than there are connections.

use std::{sync::Arc, time::Duration};

use deadpool_postgres::Object;
use tokio::{runtime::Handle, time::timeout};

use super::tls::Tls;

/// How long a question that was given up may take to end by itself. Most are nearly done, and to
/// cancel costs a connection.
const ENDS_BY_ITSELF: Duration = Duration::from_millis(100);
/// How long it may take once the server was asked to stop it.
const ENDS_WHEN_ASKED: Duration = Duration::from_secs(5);

/// A connection with a question on it. Dropped before it is answered, it is stopped.
pub(super) struct Question {
    client: Arc<Object>,
    tls: Tls,
    answered: bool,
    in_transaction: bool,
}

impl Question {
    /// Only readers of pages may leave; others are `patient`.
    pub(super) fn on(client: Object, tls: Tls, patient: bool) -> Self {
        Self {
            client: Arc::new(client),
            tls,
            answered: patient,
            in_transaction: false,
        }
    }

    /// Several in one transaction; if the caller leaves in the middle of it, the connection is
    /// closed.
    pub(super) fn in_transaction(client: Object, tls: Tls) -> Self {
        let mut question = Self::on(client, tls, false);
        question.in_transaction = true;
        question
    }

    pub(super) fn client(&self) -> &Object {
        &self.client
    }

    /// Nothing is under way any more.
    pub(super) fn answered(mut self) {
        self.answered = true;
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        // Without a runtime the process ends, and the connection with it.
        if let Ok(runtime) = Handle::try_current() {
            let stopped = stop(
                Arc::clone(&self.client),
                self.tls.clone(),
                self.in_transaction,
            );
            runtime.spawn(stopped);
        }
    }
}

/// Gives the connection back once nothing runs on it. One that was cancelled is closed instead: the
/// server may be slow to act on that, and must not stop what the next one asks.
async fn stop(client: Arc<Object>, tls: Tls, in_transaction: bool) {
    // The server takes one thing after another, so it answers this when it is done with the
    // question.
    if ends(&client, ENDS_BY_ITSELF).await && !in_transaction {
        return;
    }
    tracing::debug!("cancelling a query whose client went away");
    let asked = timeout(ENDS_WHEN_ASKED, client.cancel_token().cancel_query(tls)).await;
    if matches!(asked, Ok(Ok(()))) {
        ends(&client, ENDS_WHEN_ASKED).await;
    }
    if let Some(client) = Arc::into_inner(client) {
        drop(Object::take(client));
    }
}

async fn ends(client: &Object, within: Duration) -> bool {
    timeout(within, client.batch_execute("")).await.is_ok()
}
