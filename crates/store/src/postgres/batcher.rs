//! Gates that requests pass through together.
//!
//! A commit costs a flush to disk, whether it carries one change or a thousand; a question costs a
//! round trip, whether it is about one task or a thousand. Small requests that arrive while others
//! are under way therefore wait here and go together with the next group: eight clients moving one
//! task each cost one or two commits, not eight. A request that is a crowd by itself gains nothing
//! from waiting and goes on its own, beside the others.

use std::sync::Arc;

use almanack_core::store::Result;
use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot};

use crate::unavailable;

/// A group is closed when it has this many items; bounds its statement.
const ITEMS_MAX: usize = 2_000;
/// A request of so many items does not wait for company.
const CROWD_FROM: usize = 256;
/// Requests that may wait; more than that wait outside.
const QUEUE: usize = 4_096;

/// What a batcher does with a group.
#[async_trait]
pub(super) trait BatchedWork: Send + Sync + 'static {
    type Item: Send + Sync + 'static;
    /// What is answered, one for each item.
    type Answer: Send + 'static;
    /// Whether it has no effect, and need not be done when no caller waits for it any more.
    const ONLY_READS: bool = false;

    /// Does it for all items, in order.
    async fn run(&self, items: &[Self::Item]) -> Result<Vec<Self::Answer>>;
}

struct Asked<E: BatchedWork> {
    items: Vec<E::Item>,
    reply: oneshot::Sender<Result<Vec<E::Answer>>>,
}

/// Where requests are handed in.
pub(super) struct Batcher<E: BatchedWork> {
    work: Arc<E>,
    queue: mpsc::Sender<Asked<E>>,
}

impl<E: BatchedWork> Batcher<E> {
    pub(super) fn open(work: E) -> Self {
        let (queue, asked) = mpsc::channel(QUEUE);
        let work = Arc::new(work);
        tokio::spawn(run(Arc::clone(&work), asked));
        Self { work, queue }
    }

    /// Has it done with whatever else is waiting. Once handed in it is done even if the requester
    /// goes away, so no connection is left in the middle of something.
    pub(super) async fn pass(&self, items: Vec<E::Item>) -> Result<Vec<E::Answer>> {
        let stopped = || unavailable("run a batch", "stopped");
        let (reply, answer) = oneshot::channel();
        let asked = Asked { items, reply };
        if asked.items.len() >= CROWD_FROM {
            let work = Arc::clone(&self.work);
            tokio::spawn(async move { do_alone(&*work, vec![asked]).await });
        } else {
            self.queue.send(asked).await.map_err(|_| stopped())?;
        }
        answer.await.map_err(|_| stopped())?
    }
}

async fn run<E: BatchedWork>(work: Arc<E>, mut asked: mpsc::Receiver<Asked<E>>) {
    while let Some(group) = next_group(&mut asked).await {
        do_together(&*work, group).await;
    }
}

async fn next_group<E: BatchedWork>(asked: &mut mpsc::Receiver<Asked<E>>) -> Option<Vec<Asked<E>>> {
    let is_abandoned = |asked: &Asked<E>| E::ONLY_READS && asked.reply.is_closed();
    let mut group = vec![asked.recv().await?];
    let mut items = group[0].items.len();
    while items < ITEMS_MAX {
        let Ok(next) = asked.try_recv() else { break };
        if is_abandoned(&next) {
            continue;
        }
        items += next.items.len();
        group.push(next);
    }
    Some(group)
}

/// One request's trouble must not become its neighbours': if the group fails, each tries alone
/// and hears for itself what is wrong.
async fn do_together<E: BatchedWork>(work: &E, mut group: Vec<Asked<E>>) {
    if group.len() == 1 {
        return do_alone(work, group).await;
    }
    let sizes: Vec<usize> = group.iter().map(|asked| asked.items.len()).collect();
    let all: Vec<E::Item> = group
        .iter_mut()
        .flat_map(|asked| asked.items.drain(..))
        .collect();
    let together = work.run(&all).await;
    let mut all = all.into_iter();
    let Ok(answers) = together else {
        for (asked, size) in group.iter_mut().zip(sizes) {
            asked.items.extend(all.by_ref().take(size));
        }
        return do_alone(work, group).await;
    };
    let mut answers = answers.into_iter();
    for (asked, size) in group.into_iter().zip(sizes) {
        let _ = asked.reply.send(Ok(answers.by_ref().take(size).collect()));
    }
}

async fn do_alone<E: BatchedWork>(work: &E, group: Vec<Asked<E>>) {
    for asked in group {
        let answers = work.run(&asked.items).await;
        // A requester that went away no longer cares; the effect stays.
        let _ = asked.reply.send(answers);
    }
}
