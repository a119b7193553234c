//! Writing without a model: titles stay, summaries are the text's own sentences, every title may be
//! published.

use std::sync::Arc;

use almanack_core::{
    budget::Budget,
    edition::{
        port::{Failure, FailureClass, Length, Sensitivity, Text, Writer},
        quote,
        summary::describe,
    },
};
use async_trait::async_trait;

/// Sends no request (ED-36).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extractive {
    /// How long a summary may be, in characters.
    pub summary_chars: usize,
}

impl Default for Extractive {
    fn default() -> Self {
        Self { summary_chars: 300 }
    }
}

#[async_trait]
impl Writer for Extractive {
    fn name(&self) -> &'static str {
        "extractive"
    }

    async fn titles(
        &self,
        _: &[String],
        _: &Arc<Budget>,
    ) -> Result<Option<Vec<Option<String>>>, Failure> {
        Ok(None)
    }

    /// However long it may be: sentences cost no time.
    async fn summary(&self, text: Text<'_>, _: Length, _: &Arc<Budget>) -> Result<String, Failure> {
        let summary = match text {
            Text::Article { text, description } => describe(text, description, self.summary_chars),
            Text::Comments(comments) => {
                quote::to_text(&quote::quotes(comments, self.summary_chars))
            }
        };
        if summary.is_empty() {
            let detail = "there is no sentence to summarise with";
            return Err(Failure::new(FailureClass::Unusable, detail));
        }
        Ok(summary)
    }

    async fn judge(
        &self,
        titles: &[String],
        _: Sensitivity,
        _: &Arc<Budget>,
    ) -> Result<Vec<bool>, Failure> {
        Ok(vec![true; titles.len()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use almanack_core::edition::quote::Comment;

    #[tokio::test]
    async fn ed_36_without_a_model_titles_stay_and_summaries_are_taken_from_the_text() {
        // An empty request budget: any request would be refused.
        let budget = Budget::new(0);
        let writer = Extractive::default();
        let titles = ["A title".to_owned(), "Another".to_owned()];
        assert_eq!(writer.titles(&titles, &budget).await, Ok(None));
        let judged = writer.judge(&titles, Sensitivity::High, &budget).await;
        assert_eq!(judged, Ok(vec![true, true]));
        let article = Text::article("The engine is fast. It was rewritten.");
        let summary = writer
            .summary(article, Length::Full, &budget)
            .await
            .unwrap();
        assert_eq!(summary, "The engine is fast. It was rewritten.");
        let comment = |author: &str, text: &str| Comment {
            author: Some(author.to_owned()),
            text: text.to_owned(),
        };
        let comments = [
            comment("ada", "I like it"),
            comment("bob", "So do I"),
            comment("eve", "It is slow"),
        ];
        let summary = writer
            .summary(Text::Comments(&comments), Length::Full, &budget)
            .await;
        assert_eq!(summary.unwrap(), "“I like it” — ada\n\n“So do I” — bob");
        let nothing = writer
            .summary(Text::article("..."), Length::Full, &budget)
            .await;
        assert_eq!(nothing.unwrap_err().class, FailureClass::Unusable);
        assert_eq!(budget.spent(), 0);
    }
}
