//! A writer whose requests are counted, as those of a model are (ED-44).

use std::sync::Arc;

use almanack_core::{
    budget::Budget,
    edition::{
        allowance::{Money, Price, Usage},
        document::Printed,
        port::{Failure, Length, Meter, Sensitivity, Text, Writer},
        prompts::Prompts,
    },
};
use async_trait::async_trait;

/// Every request is counted with a thousand tokens before it leaves…
pub const MOST: u64 = 1_000;
/// …and costs a hundred.
pub const COSTS: u64 = 100;

/// So many tokens, at a price of one for each.
pub fn tokens(tokens: u64) -> Usage {
    let price = Price {
        input: Money(1_000_000),
        output: Money(1_000_000),
    };
    price.usage(tokens, 0)
}

/// Counts what `writer` does.
pub struct Metered {
    pub writer: Arc<dyn Writer>,
    pub meter: Arc<dyn Meter>,
    /// Whether it writes overviews: nothing is counted for one that is not asked for.
    pub opens: bool,
    /// Counts what leaves: one more before a request does, one less where a spent budget kept it.
    pub leaves: Arc<dyn Fn(i64) + Send + Sync>,
}

impl Metered {
    async fn asked<T>(
        &self,
        ask: impl Future<Output = Result<T, Failure>> + Send,
    ) -> Result<T, Failure> {
        let reserved = self.meter.reserve(tokens(MOST)).await?;
        (self.leaves)(1);
        let answer = ask.await;
        let actual = if answer.as_ref().is_err_and(Failure::is_spent) {
            (self.leaves)(-1);
            Usage::default()
        } else {
            tokens(COSTS)
        };
        self.meter.settle(reserved, actual).await;
        answer
    }
}

#[async_trait]
impl Writer for Metered {
    fn name(&self) -> &str {
        self.writer.name()
    }

    fn prompts(&self) -> Option<&Prompts> {
        self.writer.prompts()
    }

    async fn titles(
        &self,
        titles: &[String],
        budget: &Arc<Budget>,
    ) -> Result<Option<Vec<Option<String>>>, Failure> {
        self.asked(self.writer.titles(titles, budget)).await
    }

    async fn summary(
        &self,
        text: Text<'_>,
        length: Length,
        budget: &Arc<Budget>,
    ) -> Result<String, Failure> {
        self.asked(self.writer.summary(text, length, budget)).await
    }

    async fn overview(
        &self,
        stories: &[Printed],
        budget: &Arc<Budget>,
    ) -> Result<Option<String>, Failure> {
        if !self.opens {
            return Ok(None);
        }
        self.asked(self.writer.overview(stories, budget)).await
    }

    async fn judge(
        &self,
        titles: &[String],
        sensitivity: Sensitivity,
        budget: &Arc<Budget>,
    ) -> Result<Vec<bool>, Failure> {
        let judged = self.writer.judge(titles, sensitivity, budget);
        self.asked(judged).await
    }
}
