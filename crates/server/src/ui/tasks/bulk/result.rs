//! The result of a bulk action: counts by rule, in the address of the list.
//!
//! The address contains rules and numbers, never texts, and a seal that only a form of this session
//! could have made: a foreign link cannot make the page claim anything.

use std::collections::BTreeMap;

use almanack_core::reschedule::{Receipt, Rule};

use super::Act;
use crate::ui::prelude::*;
use crate::ui::tasks::words;

/// The key of refused tasks.
const REFUSED: &str = "refused";

/// The result in the address.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Done {
    counts: Option<String>,
    seal: Option<String>,
}

/// Encodes the results: `cancel.cancelled-12.ignored_done-1`.
pub(super) fn report(act: Act, receipts: &[Option<Receipt>]) -> String {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for receipt in receipts {
        let rule = receipt
            .as_ref()
            .map_or(REFUSED, |receipt| receipt.rule.as_str());
        *counts.entry(rule).or_default() += 1;
    }
    let counts = counts.iter().map(|(rule, n)| format!(".{rule}-{n}"));
    format!("{}{}", act.as_str(), counts.collect::<String>())
}

/// Shows the result, if it came from this session.
pub(crate) fn notice(viewer: &Viewer, done: &Done) -> Markup {
    let (Some(counts), Some(given)) = (&done.counts, &done.seal) else {
        return Markup::default();
    };
    if *given != seal(viewer, counts) {
        return Markup::default();
    }
    let lang = viewer.lang;
    let (comma, end) = (lang.pick(", ", "，"), lang.pick(".", "。"));
    let counts = read(lang, counts).join(comma);
    let counts = if counts.is_empty() {
        pick!(lang; "No change: no task was left to change", "未作更改：没有需要更改的任务")
            .to_owned()
    } else {
        counts
    };
    let by = viewer.origin();
    parts::notice(&html! {
        p { (counts) (end) " "
            a href=(address(Place::Activity.path(), [("by", &*by)])) { (lang.pick("My recent activity", "我最近的操作")) }
        }
    })
}

fn read(lang: Lang, encoded: &str) -> Vec<String> {
    let parts = encoded.split('.').skip(1);
    let pairs = parts.filter_map(|part| part.rsplit_once('-'));
    let texts = pairs.filter_map(|(rule, n)| {
        let n: u64 = n.parse().ok()?;
        match rule {
            REFUSED => Some(say!(lang, "{n} refused", "{n} 个被拒绝")),
            rule => Some(words::counted(lang, Rule::parse(rule)?, n)),
        }
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use almanack_core::{
        reschedule::DecisionId,
        task::{Revision, TaskId},
    };
    use jiff::Timestamp;

    use super::*;

    fn receipt(rule: Rule) -> Receipt {
        Receipt {
            decision: DecisionId {
                task_id: TaskId(1),
                number: 0,
            },
            rule,
            task_id: TaskId(1),
            cancelled_task_id: None,
            old_execute_at: None,
            execute_at: Timestamp::UNIX_EPOCH,
            revision: Revision::NONE,
        }
    }

    #[test]
    fn counts_are_reported_by_rule_in_both_languages() {
        let receipts = [
            Some(receipt(Rule::Cancelled)),
            Some(receipt(Rule::IgnoredDone)),
            Some(receipt(Rule::Cancelled)),
            None,
        ];
        let encoded = report(Act::Cancel, &receipts);
        assert_eq!(encoded, "cancel.cancelled-2.ignored_done-1.refused-1");
        assert_eq!(
            read(Lang::English, &encoded),
            ["2 cancelled", "1 already done", "1 refused"]
        );
        assert_eq!(
            read(Lang::Chinese, &encoded),
            ["2 个已取消", "1 个早已成功", "1 个被拒绝"]
        );
    }

    #[test]
    fn what_is_no_rule_is_not_shown() {
        assert!(read(Lang::English, "cancel.you_won-1000000.cancelled-x").is_empty());
    }
}
