//! Alerts in words: what is wrong, in half a sentence.

use super::{About, Alert, Rule};
use crate::lang::{Lang, Say};

/// What is wrong: `schedule nightly keeps failing`.
impl Say for Alert {
    fn say(&self, lang: Lang) -> String {
        match lang {
            Lang::English => format!("{} {}", about(self).0, wrong(self).0),
            Lang::Chinese => format!("{}{}", about(self).1, wrong(self).1),
        }
    }
}

fn about(alert: &Alert) -> (String, String) {
    let both = |english: &str, chinese: &str| (english.to_owned(), chinese.to_owned());
    match &alert.key.about {
        About::Schedule(name) => (format!("schedule {name}"), format!("日程 {name} ")),
        About::Kind(kind) => (format!("work of kind {kind}"), format!("{kind} 类任务")),
        About::Source(id) => (format!("source {id}"), format!("信源 {id} ")),
        About::Edition(id) => (format!("the edition of {id}"), format!("{id} 日报")),
        About::Delivery {
            edition,
            destination,
        } => (
            format!("the delivery of the edition of {edition} to {destination}"),
            format!("{edition} 日报到 {destination} 的投递"),
        ),
        About::Calendar(name) => (format!("calendar {name}"), format!("日历 {name} ")),
        About::Node(name) => (format!("node {name}"), format!("节点 {name} ")),
        About::Fleet => both("the fleet of sources", "全部信源"),
        About::Clock => both("the machine's clock", "机器时钟"),
    }
}

fn wrong(alert: &Alert) -> (&'static str, &'static str) {
    match alert.key.rule {
        Rule::Missing => ("missed its time", "错过了执行时间"),
        Rule::Late => ("is late", "启动延迟"),
        Rule::Stuck => ("is stuck", "卡住了"),
        Rule::Failing => ("keeps failing", "持续失败"),
        Rule::Parked => ("cannot be planned", "无法排程"),
        Rule::Gone => ("has sent no heartbeat", "没有心跳"),
        Rule::Silent => ("is unusually quiet", "久未更新"),
        Rule::Credentials => ("needs credentials", "需要凭据"),
        Rule::Budget => ("exceeds its budget", "超出预算"),
        Rule::Overdue => ("is late and not published", "超时仍未发布"),
        Rule::Unfinished => (
            "was not published before its day ended",
            "当天结束时仍未发布",
        ),
        Rule::Empty => (
            "has no story that could be completed",
            "没有任何文章处理成功",
        ),
        Rule::Approval => ("needs approval", "需要审批"),
        Rule::Quality => (
            "is held: it is below its quality standard",
            "因低于质量标准被暂缓发布",
        ),
        Rule::Cap => ("has reached a cap on what models cost", "模型费用已达上限"),
        Rule::Spendthrift => ("has a batch that used too many requests", "单批请求数过多"),
        Rule::Destination => (
            "failed or could not be confirmed",
            "失败，或无法确认是否送达",
        ),
        Rule::Disconnected => ("is disconnected from a message bus", "与消息总线断开"),
        Rule::Disk => ("is running out of disk space", "磁盘空间不足"),
        Rule::Backup => ("cannot make its backup", "备份失败"),
        Rule::Unwritable => ("cannot write to its database", "无法写入数据库"),
        Rule::Clock if alert.key.about == About::Clock => ("cannot be trusted", "不可信"),
        Rule::Clock => (
            "was planned by a clock that was ahead",
            "曾按偏快的时钟排程",
        ),
    }
}
