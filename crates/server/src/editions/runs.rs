//! Work on editions that continues when its caller disconnects.
//!
//! Building an edition takes minutes: a proxy timeout or a closed terminal must not stop it. So the
//! work runs as a separate task, and the caller waits for that. The number of concurrent runs is
//! bounded, because a caller that disconnects frees nothing.

use almanack_core::both;
use almanack_core::edition::EditionId;
use almanack_engine::editions::{Editions, Error, Ran, Unwatched};
use tokio::{sync::Semaphore, task::JoinHandle};
use tracing::Instrument as _;

use crate::prelude::*;
use crate::problem::internal;

/// Concurrent runs on one node. Runs of one edition take turns, so more would gain nothing.
const RUNS_MAX: usize = 8;

/// The runs of one process.
#[derive(Debug)]
pub(crate) struct Runs(Arc<Semaphore>);

impl Default for Runs {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(RUNS_MAX)))
    }
}

impl Runs {
    /// Builds an edition as far as possible.
    pub(super) async fn build(&self, editions: &Arc<Editions>, id: EditionId) -> Result<Ran> {
        let editions = Arc::clone(editions);
        let work = async move {
            editions.take_up(id).await?;
            editions.run(id, &Unwatched).await
        };
        self.carry_out(work).await
    }

    /// Runs work to its end, whether or not the caller waits for it.
    pub(crate) async fn carry_out<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T> {
        match self.start(work)?.await {
            Ok(done) => Ok(done?),
            Err(error) => {
                tracing::error!(%error, "work on an edition panicked");
                Err(internal())
            }
        }
    }

    /// Starts work in the background; the log reports a failure, the edition its progress.
    pub(crate) fn begin<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<()> {
        let logged = async move {
            let done = work.await;
            if let Err(error) = &done {
                tracing::warn!(error = error.chain(), "work on an edition failed");
            }
            done
        };
        self.start(logged).map(drop)
    }

    fn start<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<JoinHandle<Result<T, Error>>> {
        let permit = Arc::clone(&self.0).try_acquire_owned().map_err(|_| {
            let detail = both!(
                "this node already builds as many editions as it can; try again later",
                "本节点同时生成的日报已达上限；请稍后重试"
            );
            Problem::new(Code::TooManyRuns, detail)
        })?;
        let own = async move {
            let done = work.await;
            drop(permit);
            done
        };
        Ok(tokio::spawn(own.in_current_span()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn too_many_at_once_are_refused_and_later_taken() {
        let runs = Arc::new(Runs::default());
        let authentication = Arc::new(Semaphore::new(0));
        let held = |authentication: Arc<Semaphore>| async move {
            let _ = authentication.acquire().await;
            Ok(())
        };
        let waiting: Vec<_> = (0..RUNS_MAX)
            .map(|_| {
                let (runs, work) = (runs.clone(), held(authentication.clone()));
                tokio::spawn(async move { runs.carry_out(work).await })
            })
            .collect();
        while runs.0.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let refused = runs.carry_out(async { Ok(()) }).await;
        assert_eq!(refused.err().map(|p| p.code), Some(Code::TooManyRuns));
        authentication.close();
        for run in waiting {
            assert_eq!(run.await.unwrap(), Ok(()));
        }
        assert_eq!(runs.carry_out(async { Ok(()) }).await, Ok(()));
    }

    #[tokio::test]
    async fn work_goes_on_when_its_caller_goes_away() {
        let runs = Arc::new(Runs::default());
        let (authentication, done) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let work = {
            let (authentication, done) = (authentication.clone(), done.clone());
            async move {
                let _ = authentication.acquire().await;
                done.add_permits(1);
                Ok(())
            }
        };
        let caller = {
            let runs = runs.clone();
            tokio::spawn(async move { runs.carry_out(work).await })
        };
        while runs.0.available_permits() == RUNS_MAX {
            tokio::task::yield_now().await;
        }
        caller.abort();
        assert!(caller.await.is_err(), "the caller is gone");
        authentication.add_permits(1);
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
        assert_eq!(
            done.available_permits(),
            1,
            "the caller is gone, and the work is done"
        );
    }

    #[tokio::test]
    async fn a_panic_is_a_problem_and_frees_its_place() {
        let runs = Runs::default();
        let broken: Result<(), Problem> = runs.carry_out(async { panic!("a secret") }).await;
        let problem = broken.unwrap_err();
        assert_eq!(problem.code, Code::Internal);
        assert!(!problem.detail.to_string().contains("secret"));
        assert_eq!(runs.0.available_permits(), RUNS_MAX);
    }
}
