//! What readers should know about a story that has less than it could, in both languages.

use super::{
    ladder::Cause,
    story::{Note, Written},
};

/// A remark in English and in Simplified Chinese.
pub type Remark = (&'static str, &'static str);

/// The remark on a story; none where it has everything, or where its page itself is the cause.
pub fn remark(note: Option<Note>, degraded_by: Option<Cause>) -> Option<Remark> {
    match (note?, degraded_by) {
        (Note::ShortSummary, _) => Some((
            "Short summary: there was no time for a full one.",
            "因时间不足，仅提供简短摘要。",
        )),
        (Note::Extractive, Some(Cause::Cap)) => Some((
            "Excerpt from the page: no summary was written.",
            "摘自原文：未撰写摘要。",
        )),
        (Note::Extractive, _) => Some((
            "Excerpt from the page: a summary was not available in time.",
            "摘自原文：未能及时生成摘要。",
        )),
        (Note::TitleOnly | Note::NotSummarised, Some(Cause::Time)) => Some((
            "Title only: there was no time for more.",
            "因时间不足，仅保留标题。",
        )),
        (Note::TitleOnly | Note::NotSummarised, _) => None,
    }
}

impl Written {
    /// The remark on it.
    pub fn remark(&self) -> Option<Remark> {
        remark(self.note, self.degraded_by)
    }
}
