//! What became of many tasks, told after the form: counts by rule, in the address of the list.
//!
//! The address carries rules and numbers, never words, and a seal that only a session's own form could have made: a link from
//! elsewhere cannot make the page claim anything.

use std::collections::BTreeMap;

use almanack_core::reschedule::{Receipt, Rule};

use super::Act;
use crate::ui::prelude::*;
use crate::{ui::form::seal, ui::tasks::words};

/// Stands for those that were not carried out.
const REFUSED: &str = "refused";

/// What the address says was done.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Done {
    told: Option<String>,
    seal: Option<String>,
}

/// Writes what became of them: `cancel.cancelled-12.ignored_done-1`.
pub(super) fn tell(act: Act, receipts: &[Option<Receipt>]) -> String {
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

/// Tells what was done, if it was this session that did it.
pub(crate) fn notice(viewer: &Viewer, done: &Done) -> Markup {
    let (Some(told), Some(given)) = (&done.told, &done.seal) else {
        return Markup::default();
    };
    if *given != seal(viewer, told) {
        return Markup::default();
    }
    let lang = viewer.lang;
    let (comma, end) = (lang.pick(", ", "，"), lang.pick(".", "。"));
    let counts = read(lang, told).join(comma);
    let counts = if counts.is_empty() {
        lang.pick("No task was left to change", "没有需要更改的任务")
            .to_owned()
    } else {
        counts
    };
    let by = viewer.origin();
    parts::notice(&html! {
        p { (counts) (end) " "
            a href=(address(Place::Activity.path(), [("by", &*by)])) { (lang.pick("What I did lately", "我最近的操作")) }
        }
    })
}

fn read(lang: Lang, told: &str) -> Vec<String> {
    let parts = told.split('.').skip(1);
    let pairs = parts.filter_map(|part| part.rsplit_once('-'));
    let told = pairs.filter_map(|(rule, n)| {
        let n: u64 = n.parse().ok()?;
        match rule {
            REFUSED => Some(say!(lang, "{n} refused", "{n} 个被拒绝")),
            rule => Some(words::counted(lang, Rule::parse(rule)?, n)),
        }
    });
    told.collect()
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
    fn counts_are_told_by_rule_in_both_languages() {
        let receipts = [
            Some(receipt(Rule::Cancelled)),
            Some(receipt(Rule::IgnoredDone)),
            Some(receipt(Rule::Cancelled)),
            None,
        ];
        let told = tell(Act::Cancel, &receipts);
        assert_eq!(told, "cancel.cancelled-2.ignored_done-1.refused-1");
        assert_eq!(
            read(Lang::English, &told),
            ["2 cancelled", "1 already done", "1 refused"]
        );
        assert_eq!(
            read(Lang::Chinese, &told),
            ["2 个已取消", "1 个早已成功", "1 个被拒绝"]
        );
    }

    #[test]
    fn what_is_no_rule_is_not_told() {
        assert!(read(Lang::English, "cancel.you_won-1000000.cancelled-x").is_empty());
    }
}
