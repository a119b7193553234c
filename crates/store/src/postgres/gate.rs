//! The gate that changes of intent pass through together.
//!
//! A commit costs a flush to disk, whether it carries one change or a thousand. Requests that arrive
//! while a commit is on its way therefore wait here and go with the next one: eight clients
//! moving one task each cost two commits, not eight. Two groups may be under way at once, so that
//! one is being prepared while the other is being flushed.

use std::sync::Arc;

use almanack_core::{
    reschedule::Change,
    store::{Applied, Error, Result},
};
use deadpool_postgres::Pool;
use tokio::sync::{Mutex, mpsc, oneshot};

use super::{client, task::apply_all};

/// Groups under way at once.
const GROUPS: usize = 2;
/// A group is closed when it has this many changes; bounds its statement.
const CHANGES_MAX: usize = 2_000;
/// Requests that may wait; more than that wait outside.
const QUEUE: usize = 4_096;

struct Asked {
    changes: Vec<Change>,
    reply: oneshot::Sender<Result<Vec<Applied>>>,
}

/// Where changes are handed in.
pub(super) struct Gate {
    queue: mpsc::Sender<Asked>,
}

impl Gate {
    pub(super) fn start(pool: &Pool, channel: &str) -> Self {
        let (queue, asked) = mpsc::channel(QUEUE);
        let asked = Arc::new(Mutex::new(asked));
        for _ in 0..GROUPS {
            tokio::spawn(run(pool.clone(), channel.to_owned(), Arc::clone(&asked)));
        }
        Self { queue }
    }

    /// Has changes carried out with whatever else is waiting. Once handed in they are carried out
    /// even if the asker goes away, so no connection is left in the middle of something.
    pub(super) async fn apply(&self, changes: Vec<Change>) -> Result<Vec<Applied>> {
        let (reply, answer) = oneshot::channel();
        let stopped = || Error::Unavailable {
            statement: "apply changes",
            source: "stopped".into(),
        };
        self.queue
            .send(Asked { changes, reply })
            .await
            .map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }
}

async fn run(pool: Pool, channel: String, asked: Arc<Mutex<mpsc::Receiver<Asked>>>) {
    while let Some(group) = next_group(&asked).await {
        carry_out(&pool, &channel, group).await;
    }
}

async fn next_group(asked: &Mutex<mpsc::Receiver<Asked>>) -> Option<Vec<Asked>> {
    let mut asked = asked.lock().await;
    let mut group = vec![asked.recv().await?];
    let mut changes = group[0].changes.len();
    while changes < CHANGES_MAX {
        let Ok(next) = asked.try_recv() else { break };
        changes += next.changes.len();
        group.push(next);
    }
    Some(group)
}

async fn carry_out(pool: &Pool, channel: &str, mut group: Vec<Asked>) {
    if let [_] = group.as_slice() {
        return carry_out_alone(pool, channel, group).await;
    }
    let sizes: Vec<usize> = group.iter().map(|asked| asked.changes.len()).collect();
    let all: Vec<Change> = group
        .iter()
        .flat_map(|asked| asked.changes.iter().cloned())
        .collect();
    let together = match client(pool).await {
        Ok(mut client) => apply_all(&mut client, channel, &all).await,
        Err(error) => Err(error),
    };
    let Ok(mut applied) = together else {
        // One request's trouble must not become its neighbours': everybody tries alone and hears
        // for itself what is wrong.
        return carry_out_alone(pool, channel, group).await;
    };
    for (asked, size) in group.drain(..).zip(sizes) {
        let rest = applied.split_off(size);
        let _ = asked.reply.send(Ok(std::mem::replace(&mut applied, rest)));
    }
}

async fn carry_out_alone(pool: &Pool, channel: &str, group: Vec<Asked>) {
    for asked in group {
        let applied = match client(pool).await {
            Ok(mut client) => apply_all(&mut client, channel, &asked.changes).await,
            Err(error) => Err(error),
        };
        // An asker that went away no longer cares; the effect stands.
        let _ = asked.reply.send(applied);
    }
}
