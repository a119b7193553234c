//! Why a monitor's ping was expected, came or was missed.

use jiff::SignedDuration;

use super::{Facts, because, lateness};
use crate::{
    lang::Lang,
    plan::{Reason, Slot},
    say,
};

/// A ping was for it.
pub(super) fn pinged(facts: &Facts<'_>, row: &Slot, lang: Lang) -> String {
    let at = facts.at;
    let late = row.decided_at.duration_since(at);
    let came = if late <= SignedDuration::ZERO {
        lang.pick("in time", "按时").to_owned()
    } else {
        let late = lateness(late, lang);
        say!(lang; "{late} after its time, within its grace", "晚 {late}，仍在宽限时间内")
    };
    let result = match row.detail.as_deref() {
        Some(failed) => {
            say!(lang; ", and reported that the job {failed}", "，并报告作业失败（{failed}）")
        }
        None => String::new(),
    };
    say!(
        lang,
        "{at} was pinged {came}{result}.",
        "{at} {came}收到通知{result}。"
    )
}

/// No ping was.
pub(super) fn unpinged(facts: &Facts<'_>, reason: Reason, row: &Slot, lang: Lang) -> String {
    let at = facts.at;
    let late = lateness(row.decided_at.duration_since(at), lang);
    let because = because(reason, row, &late, lang);
    match reason {
        Reason::NoPing => say!(
            lang,
            "{at} was missed: {because}.",
            "{at} 错过：{because}。"
        ),
        _ => say!(
            lang,
            "{at} was not watched: {because}.",
            "{at} 未受监控：{because}。"
        ),
    }
}

/// No verdict yet about a ping.
pub(super) fn expected(facts: &Facts<'_>, lang: Lang) -> String {
    let (at, created_at) = (facts.at, facts.created_at);
    match facts.next_at {
        _ if at <= created_at => say!(lang;
            "{at} was not watched: the monitor was first written at {created_at}.",
            "{at} 未受监控：该监控创建于 {created_at}。"),
        Some(next) if at < next => say!(lang;
            "{at} was not expected, or its outcome is no longer kept; the next ping is expected at {next}.",
            "{at} 并非预期时间，或其结果已不再保留；下一次通知预计在 {next}。"),
        Some(_) if at <= facts.now => say!(lang;
            "{at} is undecided: no ping has come, and its grace has not passed or no ping has ever come.",
            "{at} 尚未决定：还没有收到通知，宽限时间未过，或从未收到过通知。"),
        _ => say!(lang; "{at} is still to come: a ping is expected then unless one comes before.",
            "{at} 尚未到来：届时应收到通知，除非通知提前到达。"),
    }
}
