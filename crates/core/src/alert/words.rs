//! Alerts in words: what is wrong, in half a sentence.

use super::{About, Alert, Rule};

/// What is wrong, in English: `schedule nightly keeps failing`.
pub fn english(alert: &Alert) -> String {
    let what = match &alert.key.about {
        About::Schedule(name) => format!("schedule {name}"),
        About::Kind(kind) => format!("work of kind {}", kind.as_str()),
        About::Source(id) => format!("source {id}"),
        About::Edition(date) => format!("the edition of {date}"),
        About::Delivery { date, destination } => {
            format!("the delivery of the edition of {date} to {destination}")
        }
        About::Node(name) => format!("node {name}"),
        About::Fleet => "the fleet of sources".to_owned(),
        About::Clock => "the machine's clock".to_owned(),
    };
    let wrong = match alert.key.rule {
        Rule::Missing => "missed its time",
        Rule::Late => "is late",
        Rule::Stuck => "is stuck",
        Rule::Failing => "keeps failing",
        Rule::Parked => "cannot be planned",
        Rule::Gone => "has sent no heartbeat",
        Rule::Silent => "is unusually quiet",
        Rule::Credentials => "needs credentials",
        Rule::Budget => "exceeds its budget",
        Rule::Overdue => "is late and not published",
        Rule::Unfinished => "was not published before its day ended",
        Rule::Empty => "has no story that could be completed",
        Rule::Spendthrift => "has a batch that used too many requests",
        Rule::Destination => "failed or could not be confirmed",
        Rule::Disconnected => "is disconnected from a message bus",
        Rule::Disk => "is running out of disk space",
        Rule::Backup => "cannot make its backup",
        Rule::Unwritable => "cannot write to its database",
        Rule::Clock if alert.key.about == About::Clock => "cannot be trusted",
        Rule::Clock => "was planned by a clock that was ahead",
    };
    format!("{what} {wrong}")
}

/// The same in Simplified Chinese.
pub fn chinese(alert: &Alert) -> String {
    let what = match &alert.key.about {
        About::Schedule(name) => format!("日程 {name} "),
        About::Kind(kind) => format!("{} 类任务", kind.as_str()),
        About::Source(id) => format!("信源 {id} "),
        About::Edition(date) => format!("{date} 日报"),
        About::Delivery { date, destination } => format!("{date} 日报到 {destination} 的投递"),
        About::Node(name) => format!("节点 {name} "),
        About::Fleet => "全部信源".to_owned(),
        About::Clock => "机器时钟".to_owned(),
    };
    let wrong = match alert.key.rule {
        Rule::Missing => "错过了执行时间",
        Rule::Late => "启动延迟",
        Rule::Stuck => "卡住了",
        Rule::Failing => "持续失败",
        Rule::Parked => "无法排程",
        Rule::Gone => "没有心跳",
        Rule::Silent => "久未更新",
        Rule::Credentials => "需要凭据",
        Rule::Budget => "超出预算",
        Rule::Overdue => "超时仍未发布",
        Rule::Unfinished => "当天结束时仍未发布",
        Rule::Empty => "没有任何文章处理成功",
        Rule::Spendthrift => "单批请求数过多",
        Rule::Destination => "失败，或无法确认是否送达",
        Rule::Disconnected => "与消息总线断开",
        Rule::Disk => "磁盘空间不足",
        Rule::Backup => "备份失败",
        Rule::Unwritable => "无法写入数据库",
        Rule::Clock if alert.key.about == About::Clock => "不可信",
        Rule::Clock => "曾按偏快的时钟排程",
    };
    format!("{what}{wrong}")
}
