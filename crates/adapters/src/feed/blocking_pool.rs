//! Reading on a separate thread, for a limited time.
//!
//! Reading a document takes milliseconds, but its author is untrusted. A thread cannot be stopped,
//! so one that takes too long goes on alone while its source has already failed; it keeps its
//! permit, so that no number of such documents takes more than a few threads.

use std::{sync::Arc, time::Duration};

use almanack_core::source::check::{Failure, FailureClass};
use tokio::{sync::Semaphore, task, time::timeout};

/// How long reading one document may take. The wait for a thread does not count: it is others'
/// documents that take long then.
pub(crate) const TIME_MAX: Duration = Duration::from_secs(20);
/// How many documents are read at once. Reading takes no other resource than the processor.
const AT_ONCE: usize = 4;

#[derive(Debug, Clone)]
pub(crate) struct BlockingPool {
    permits: Arc<Semaphore>,
    time_max: Duration,
}

impl BlockingPool {
    /// Threads that are waited for no longer than `time_max`.
    pub(crate) fn new(time_max: Duration) -> Self {
        let permits = Arc::new(Semaphore::new(AT_ONCE));
        Self { permits, time_max }
    }

    /// Runs `work`; fails when it panics or takes too long.
    pub(crate) async fn run<T, F>(&self, work: F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: FnOnce() -> Result<T, Failure> + Send + 'static,
    {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let running = task::spawn_blocking(move || {
            let worked = work();
            drop(permit);
            worked
        });
        match timeout(self.time_max, running).await {
            Ok(Ok(worked)) => worked,
            // A parser gave up in the middle: the document is at fault, and the node goes on.
            Ok(Err(_)) => {
                let detail = "the document cannot be read: a parser gave up on it";
                Err(Failure::new(FailureClass::Malformed, detail))
            }
            Err(_) => {
                let detail = format!(
                    "reading the document took longer than {} s",
                    self.time_max.as_secs()
                );
                Err(Failure::new(FailureClass::Malformed, detail))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn ss_12_waiting_for_a_thread_is_no_failure() {
        let blocking_pool = BlockingPool::new(TIME_MAX);
        let others = Arc::clone(&blocking_pool.permits)
            .acquire_many_owned(4)
            .await
            .unwrap();
        let waiting = blocking_pool.clone();
        let waiting = tokio::spawn(async move { waiting.run(|| Ok(())).await });
        task::yield_now().await;
        tokio::time::advance(TIME_MAX * 2).await;
        task::yield_now().await;
        drop(others);
        assert_eq!(waiting.await.unwrap(), Ok(()));
    }

    #[tokio::test]
    async fn ss_12_what_takes_too_long_fails_and_keeps_its_permit() {
        let blocking_pool = BlockingPool::new(Duration::ZERO);
        let mut stuck = Vec::new();
        for _ in 0..AT_ONCE {
            let (release, held) = mpsc::channel::<()>();
            stuck.push(release);
            let failed = blocking_pool
                .run(move || Ok(held.recv().is_ok()))
                .await
                .unwrap_err();
            assert_eq!(failed.class, FailureClass::Malformed);
            insta::allow_duplicates! {
                insta::assert_snapshot!(failed.detail, @"reading the document took longer than 0 s");
            }
        }
        assert_eq!(
            blocking_pool.permits.available_permits(),
            0,
            "they continue"
        );
        drop(stuck);
        let permits = blocking_pool
            .permits
            .acquire_many(u32::try_from(AT_ONCE).unwrap());
        assert!(permits.await.is_ok(), "each is released in the end");
    }

    #[tokio::test]
    async fn ss_12_a_parser_that_gives_up_costs_its_document_only() {
        let blocking_pool = BlockingPool::new(TIME_MAX);
        let failed = blocking_pool.run(|| -> Result<(), Failure> { panic!("a parser's mistake") });
        let failed = failed.await.unwrap_err();
        insta::assert_snapshot!(failed.detail, @"the document cannot be read: a parser gave up on it");
        assert_eq!(blocking_pool.run(|| Ok(1)).await, Ok(1));
    }
}
