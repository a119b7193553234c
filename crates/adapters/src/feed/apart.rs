//! Reading apart from everything else: on a thread of its own, for a limited time.
//!
//! A document is read in milliseconds, but it comes from anybody. A thread cannot be stopped, so one that takes too long goes
//! on alone while its source has already failed; it keeps its permit, so that no number of such documents
//! takes more than a few threads.

use std::{sync::Arc, time::Duration};

use almanack_core::source::check::{Failure, FailureClass};
use tokio::{sync::Semaphore, task, time::timeout};

/// How long reading one document may take. The wait for a thread does not count: it is others' documents that take long then.
const TIME_MAX: Duration = Duration::from_secs(20);
/// How many documents are read at once. Reading takes no other resource than the processor.
const AT_ONCE: usize = 4;

/// Threads for reading.
#[derive(Debug, Clone)]
pub(crate) struct Apart(Arc<Semaphore>);

impl Apart {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }

    /// Runs `work`, or fails in its place.
    pub(crate) async fn run<T, F>(&self, work: F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: FnOnce() -> Result<T, Failure> + Send + 'static,
    {
        let permit = Arc::clone(&self.0).acquire_owned().await;
        let running = task::spawn_blocking(move || {
            let worked = work();
            drop(permit);
            worked
        });
        match timeout(TIME_MAX, running).await {
            Ok(Ok(worked)) => worked,
            // A parser gave up in the middle: the document is at fault, and the node goes on.
            Ok(Err(_)) => {
                let detail = "the document cannot be read: a parser gave up on it";
                Err(Failure::new(FailureClass::Malformed, detail))
            }
            Err(_) => {
                let detail = format!(
                    "reading the document took longer than {} s",
                    TIME_MAX.as_secs()
                );
                Err(Failure::new(FailureClass::Malformed, detail))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn ss_12_waiting_for_a_thread_is_nobodys_failure() {
        let apart = Apart::new();
        let others = Arc::clone(&apart.0).acquire_many_owned(4).await.unwrap();
        let waiting = apart.clone();
        let waiting = tokio::spawn(async move { waiting.run(|| Ok(())).await });
        task::yield_now().await;
        tokio::time::advance(TIME_MAX * 2).await;
        task::yield_now().await;
        drop(others);
        assert_eq!(waiting.await.unwrap(), Ok(()));
    }
}
