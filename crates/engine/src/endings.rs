//! Writing endings so that one the store refuses for good costs the others nothing (SF-06).
//!
//! A batch that is refused is halved until its culprit is alone. That one is ended with less:
//! without what the attempt reported, then without the events it would send. Only if even that is
//! refused it is given up, and its lease decides. Whatever else goes wrong may pass: what is
//! written stays written, and the rest is tried again.

use std::ops::Range;

use almanack_core::{
    finish::Finish,
    store::{Error, Finished, Result, Store},
};

/// Endings on their way into the store.
pub(crate) struct Writing {
    finishes: Vec<Finish>,
    answers: Vec<Option<Finished>>,
    /// What is still to be written, last part first.
    left: Vec<Range<usize>>,
}

impl Writing {
    pub(crate) fn of(finishes: Vec<Finish>) -> Self {
        Self {
            answers: vec![None; finishes.len()],
            left: std::iter::once(0..finishes.len()).collect(),
            finishes,
        }
    }

    /// Writes what is left. After an error it goes on where it was.
    pub(crate) async fn run(&mut self, store: &dyn Store) -> Result<()> {
        while let Some(part) = self.left.last().cloned() {
            match store.finish(self.finishes[part.clone()].to_vec()).await {
                Ok(answers) => {
                    for (index, answer) in part.zip(answers) {
                        self.answers[index] = Some(answer);
                    }
                }
                Err(Error::Refused { .. }) if part.len() > 1 => {
                    let middle = part.start + part.len() / 2;
                    self.left.pop();
                    self.left.extend([middle..part.end, part.start..middle]);
                    continue;
                }
                Err(refused @ Error::Refused { .. }) => {
                    self.answers[part.start] =
                        self.end_with_less(store, part.start, refused).await?;
                }
                Err(error) => return Err(error),
            }
            self.left.pop();
        }
        Ok(())
    }

    async fn end_with_less(
        &self,
        store: &dyn Store,
        index: usize,
        mut refused: Error,
    ) -> Result<Option<Finished>> {
        let finish = &self.finishes[index];
        let task_id = finish.task_id.0;
        for less in finish.with_less() {
            match store.finish(vec![less]).await {
                Ok(answers) => {
                    tracing::error!(
                        task.id = task_id,
                        error = refused.chain(),
                        "the store refused an outcome; writing it without its details"
                    );
                    return Ok(answers.first().copied());
                }
                Err(error @ Error::Refused { .. }) => refused = error,
                Err(error) => return Err(error),
            }
        }
        metrics::counter!("almanack_endings_refused_total").increment(1);
        tracing::error!(
            task.id = task_id,
            error = refused.chain(),
            "the store permanently refuses an outcome; its task returns when the lease expires"
        );
        Ok(None)
    }

    /// The endings with what became of them; `None` is one that was given up.
    pub(crate) fn into_answers(self) -> impl Iterator<Item = (Finish, Option<Finished>)> {
        self.finishes.into_iter().zip(self.answers)
    }
}
