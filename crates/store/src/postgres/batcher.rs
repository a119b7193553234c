//! Gates that requests pass through together.
//!
//! A commit costs a flush to disk, whether it carries one change or a thousand; a question costs a
//! round trip, whether it is about one task or a thousand. Small requests that arrive while others
//! are under way therefore wait here and go together with the next group: eight clients moving one
//! task each cost one or two commits, not eight. A request that is a crowd by itself gains nothing
//! from waiting and goes on its own, beside the others.
//!
//! Whoever changes a task looks at it first. Left to themselves, callers fall into two camps: one
//! looks while the other's changes are written, and every commit carries half of them. So a group
//! of changes waits for those who look right now ([`Lookers`]): a look is shorter than a commit.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use almanack_core::store::Result;
use async_trait::async_trait;
use tokio::{
    sync::{Notify, mpsc, oneshot},
    task::yield_now,
    time::timeout,
};

use crate::unavailable;

/// A group is closed when it has this many items; bounds its statement.
const ITEMS_MAX: usize = 2_000;
/// A request of so many items does not wait for company.
const CROWD_FROM: usize = 256;
/// Requests that may wait; more than that wait outside.
const QUEUE: usize = 4_096;

/// How long a group waits for those who look, at most: a look that hangs holds up no change.
const LOOK_MAX: Duration = Duration::from_millis(2);

/// Callers that look at tasks now, and most of which are about to change them.
#[derive(Default)]
pub(super) struct Lookers {
    count: AtomicUsize,
    left: Notify,
}

/// A caller that looks, until this is dropped.
pub(super) struct Looking(Arc<Lookers>);

impl Lookers {
    pub(super) fn enter(self: &Arc<Self>) -> Looking {
        self.count.fetch_add(1, Ordering::Relaxed);
        Looking(Arc::clone(self))
    }

    /// Waits for those who look now, not for those who come later.
    async fn have_left(&self) {
        // Callers that were just answered get to ask again.
        yield_now().await;
        for _ in 0..self.count.load(Ordering::Relaxed) {
            let left = self.left.notified();
            if self.count.load(Ordering::Relaxed) == 0 {
                break;
            }
            left.await;
        }
        // What they saw becomes a change at once.
        yield_now().await;
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::Relaxed);
        self.0.left.notify_waiters();
    }
}

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
        Self::behind(Arc::default(), work)
    }

    /// Groups wait for those who look.
    pub(super) fn behind(lookers: Arc<Lookers>, work: E) -> Self {
        let (queue, asked) = mpsc::channel(QUEUE);
        let work = Arc::new(work);
        tokio::spawn(run(Arc::clone(&work), asked, lookers));
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

async fn run<E: BatchedWork>(
    work: Arc<E>,
    mut asked: mpsc::Receiver<Asked<E>>,
    lookers: Arc<Lookers>,
) {
    while let Some(group) = next_group(&mut asked, &lookers).await {
        do_together(&*work, group).await;
    }
}

async fn next_group<E: BatchedWork>(
    asked: &mut mpsc::Receiver<Asked<E>>,
    lookers: &Lookers,
) -> Option<Vec<Asked<E>>> {
    let is_abandoned = |asked: &Asked<E>| E::ONLY_READS && asked.reply.is_closed();
    let mut group = vec![asked.recv().await?];
    let _ = timeout(LOOK_MAX, lookers.have_left()).await;
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
