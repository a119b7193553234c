//! The keys of `[[schedule]]` and of its targets, and how values of lists of tables are read.

use std::borrow::Cow;

use almanack_core::plan::MAX_CATCH_UP_MAX;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Number, Value};
use toml::{
    Spanned,
    de::{DeFloat, DeInteger, DeValue},
};

use super::super::{
    file::raw,
    list::Variants,
    report::{Place, Problem},
    secret,
    table::Shape,
    value::{self, Read},
};
use crate::when;

/// One key of a table.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    /// What it means, in English and in Chinese.
    pub(crate) words: [&'static str; 2],
    pub(crate) shape: Shape,
    /// What to write, where it must be written.
    pub(crate) needed: Option<&'static str>,
}

/// The keys of a table, each below its description in English and in Chinese: `name: shape;` or, if
/// required, `name: shape, example;`. Defaults are in `core::plan::Definition`.
macro_rules! fields {
    ($(
        #[doc = $en:literal]
        #[doc = $zh:literal]
        $name:literal: $shape:expr $(, $example:expr)?;
    )+) => {
        &[$(Field {
            name: $name,
            words: [$en, $zh],
            shape: $shape,
            needed: fields!(@needed $($example)?),
        }),+]
    };
    (@needed) => { None };
    (@needed $example:expr) => { Some($example) };
}
pub(in super::super) use fields;

const TARGET_EXAMPLE: &str =
    "for example target = { type = \"webhook\", url = \"https://example.org/hook\" }";
/// What it may be is checked with the whole; the shape only asks whether it is one.
const DURATION: Shape = Shape::Duration(SignedDuration::MIN, SignedDuration::MAX);
const NAMES: Shape = Shape::Texts(Cow::Borrowed(&[]));
const TARGET_TYPE: Shape = choice(&["webhook", "workflow", "command", "task", "ping"]);
/// What a target is decided by.
pub(in super::super) const TARGET: Variants = Variants {
    by: &Field {
        name: "type",
        words: ["What it fires.", "触发的对象。"],
        shape: TARGET_TYPE,
        needed: Some(TARGET_EXAMPLE),
    },
    fields: fields_of_target,
    example: TARGET_EXAMPLE,
};

/// The keys of `[[schedule]]`.
pub(crate) const SCHEDULE: &[Field] = fields! {
    /// Name of the schedule.
    /// 调度的名称。
    "name": Shape::Text, "for example name = \"nightly-report\"";
    /// When it fires: a cron expression, or `@every 10m`.
    /// 触发时间：cron 表达式，或 `@every 10m`。
    "expression": Shape::Text, "for example expression = \"0 8 * * 1-5\"";
    /// Time zone of the expression.
    /// 表达式的时区。
    "tz": Shape::Text;
    /// Further expressions, each with its own zone if it has one: `[{ expression = "0 9 * * *" }]`.
    /// 其他表达式，可各带时区：`[{ expression = "0 9 * * *" }]`。
    "also": Shape::Anything;
    /// Calendars on whose days it does not fire.
    /// 不触发的日历：其中的日子被排除。
    "except": NAMES;
    /// Calendars outside whose days it does not fire.
    /// 仅在这些日历的日子触发。
    "only": NAMES;
    /// Where a slot goes whose day is left out; default: it is skipped.
    /// 被排除的时间槽移到哪一天；默认跳过。
    "move": choice(&["next_workday", "previous_workday"]);
    /// Hours in which it does not fire: `["22:00-06:00"]`.
    /// 静默时段：`["22:00-06:00"]`。
    "quiet": NAMES;
    /// No slot before this time.
    /// 此时间之前没有时间槽。
    "starts_at": Shape::Instant;
    /// No slot after this time.
    /// 此时间之后没有时间槽。
    "ends_at": Shape::Instant;
    /// Number of slots that fire; then it is done. Default: all.
    /// 触发的次数，之后即完成；默认不限。
    "runs": Shape::Count(1, u32::MAX as i64);
    /// Delay every slot by a random part of this, the same on every node.
    /// 每个时间槽随机推迟，各节点一致。
    "jitter": DURATION;
    /// What it fires.
    /// 触发的对象。
    "target": Shape::Target, TARGET_EXAMPLE;
    /// Missed slots to fire later: `none`, the `latest`, or `all`.
    /// 补触发错过的时间槽：`none` 无、`latest` 最近一个或 `all` 全部。
    "catch_up": choice(&["none", "latest", "all"]);
    /// How late a slot may still fire; default: half the gap to the next slot, 15s to 12h.
    /// 时间槽最迟可触发的延迟；默认为到下一时间槽间隔的一半，15s 到 12h。
    "grace": DURATION;
    /// Maximum number of missed slots to fire.
    /// 补触发的时间槽数上限。
    "max_catch_up": Shape::Count(1, MAX_CATCH_UP_MAX as i64);
    /// Time between two missed slots when they fire.
    /// 补触发时两个时间槽之间的间隔。
    "catch_up_pace": DURATION;
    /// When a slot comes while the last firing still runs.
    /// 上一次触发仍在运行时如何处理新的时间槽。
    "overlap": choice(&["skip", "queue_one", "allow", "cancel_running"]);
    /// How long the work of a firing may take before it counts as failed; default: 24h.
    /// 触发的工作最长可持续的时间，超过即视为失败；默认 24h。
    "run_timeout": DURATION;
    /// Spread firings over this time, to avoid load peaks.
    /// 将触发分散在此时间内，避免负载高峰。
    "splay": DURATION;
    /// After a pause: `skip` missed slots, or fire the `latest`.
    /// 暂停恢复后：`skip` 跳过错过的时间槽，或触发 `latest` 最近一个。
    "on_resume": choice(&["skip", "latest"]);
    /// How long to retry a failed firing; default: the gap to the next slot, 10s to 1h.
    /// 失败的触发可重试的时间；默认为到下一时间槽的间隔，10s 到 1h。
    "retry_for": DURATION;
    /// How to retry a failed firing within that time: `count`, `backoff`, `backoff_max`.
    /// 在此时间内如何重试失败的触发：`count`、`backoff`、`backoff_max`。
    "retry": Shape::Retry;
    /// How long one attempt of a webhook or workflow may take, 1s to 1h; default: the node's.
    /// Webhook 或工作流一次尝试的超时，1s 到 1h；默认取节点的设置。
    "timeout": DURATION;
    /// How many of its firings run at once in all nodes; further ones wait.
    /// 所有节点同时运行的触发数上限；其余等待。
    "firings_max": Shape::Count(1, 1_000);
    /// Words to find it by.
    /// 用于查找的标签。
    "tags": Shape::Texts(Cow::Borrowed(&[]));
    /// Who looks after it.
    /// 负责人。
    "owner": Shape::Text;
    /// Alert channels for its alerts, like `ntfy`; an empty list notifies nobody; default: all.
    /// 其告警的渠道，如 `ntfy`；空列表表示不通知；默认全部渠道。
    "alerts": Shape::Texts(Cow::Borrowed(&[]));
    /// Priority of its tasks, 0 to 9.
    /// 任务的优先级，0 到 9。
    "priority": Shape::Count(0, 9);
    /// Addresses to call when a firing starts, succeeds or fails: `start`, `success`, `failure`.
    /// 触发开始、成功或失败时调用的地址：`start`、`success`、`failure`。
    "pings": Shape::TextByName;
};

const WEBHOOK: &[Field] = fields! {
    /// What it fires.
    /// 触发的对象。
    "type": TARGET_TYPE;
    /// Address to call.
    /// 调用的地址。
    "url": Shape::Text, "for example url = \"https://example.org/hook\"";
    /// HTTP method; default: `POST`. A `GET` has no body.
    /// HTTP 方法；默认 `POST`。`GET` 没有正文。
    "method": choice(&["GET", "POST", "PUT", "PATCH", "DELETE"]);
    /// Further headers; secrets as `env:NAME` or `file:/path`, released in `schedules.secrets`.
    /// 其他请求头；机密写作 `env:NAME` 或 `file:/path`，并在 `schedules.secrets` 中放行。
    "headers": Shape::Headers;
    /// Body to send along with the firing, as JSON.
    /// 随触发一起发送的 JSON 正文。
    "body": Shape::Anything;
    /// The receiver may answer 202 and report the end within this time; default: its answer is the end.
    /// 接收方可应答 202，并在此时间内报告结束；默认以应答为结束。
    "report_within": DURATION;
    /// Body to send instead; `{slot}`, `{date}`, `{schedule}`, `{firing}`, `{attempt}` are filled in.
    /// 代替触发内容发送的正文；会填入 `{slot}`、`{date}`、`{schedule}`、`{firing}`、`{attempt}`。
    "template": Shape::Anything;
};
const WORKFLOW: &[Field] = fields! {
    /// What it fires.
    /// 触发的对象。
    "type": TARGET_TYPE;
    /// Repository on GitHub, as `owner/name`.
    /// GitHub 仓库，写作 `owner/name`。
    "repository": Shape::Text, "for example repository = \"owner/name\"";
    /// File of the workflow.
    /// 工作流文件。
    "workflow": Shape::Text, "for example workflow = \"daily.yml\"";
    /// Branch or tag to run; default: `main`.
    /// 运行的分支或标签；默认 `main`。
    "ref": Shape::Text;
    /// Inputs of the workflow.
    /// 工作流的输入。
    "inputs": Shape::TextByName;
};
const COMMAND: &[Field] = fields! {
    /// What it fires.
    /// 触发的对象。
    "type": TARGET_TYPE;
    /// Program, by full path, and its arguments.
    /// 程序（完整路径）及其参数。
    "argv": Shape::Texts(Cow::Borrowed(&[])),
        "for example argv = [\"/usr/bin/rsync\", \"-a\", \"from/\", \"to/\"]";
    /// How long the program may run; default: 1h.
    /// 程序的超时时间；默认 1h。
    "timeout": DURATION;
};
const TASK: &[Field] = fields! {
    /// What it fires.
    /// 触发的对象。
    "type": TARGET_TYPE;
    /// Kind of the task.
    /// 任务的类型。
    "kind": Shape::Text, "for example kind = \"EDITION_RUN\"";
    /// Subject of the task, with placeholders like `{date}`.
    /// 任务的主体，可含 `{date}` 等占位符。
    "subject": Shape::Text, "for example subject = \"edition:{date}\"";
    /// Payload of the task, as JSON.
    /// 任务的 JSON 负载。
    "payload": Shape::Anything;
};

const PING: &[Field] = fields! {
    /// What it fires.
    /// 触发的对象。
    "type": TARGET_TYPE;
    /// What the job does, for people.
    /// 作业说明。
    "note": Shape::Text;
};

/// The keys of `retry`.
pub(in super::super) const RETRY: &[Field] = fields! {
    /// Maximum number of retries; default: as many as `retry_for` has room for.
    /// 最多重试次数；默认为 `retry_for` 时间内允许的次数。
    "count": Shape::Count(0, 1_000);
    /// Longest wait before the first retry; each further one is up to twice as long; default: 2s.
    /// 首次重试前的最长等待，之后每次至多加倍；默认 2s。
    "backoff": DURATION;
    /// Longest wait before any retry; default: 1m.
    /// 任何一次重试前的最长等待；默认 1m。
    "backoff_max": DURATION;
};

/// The keys of each type of target.
pub(crate) const TARGETS: &[(&str, &[Field])] = &[
    ("webhook", WEBHOOK),
    ("workflow", WORKFLOW),
    ("command", COMMAND),
    ("task", TASK),
    ("ping", PING),
];

pub(in super::super) const fn choice(words: &'static [&'static str]) -> Shape {
    Shape::Choice(Cow::Borrowed(words))
}

/// The keys of a target of this type.
fn fields_of_target(type_name: &str) -> &'static [Field] {
    let mut targets = TARGETS.iter();
    targets
        .find(|(name, _)| *name == type_name)
        .map_or(TASK, |(_, fields)| fields)
}

/// The value as JSON, durations in the common form.
pub(in super::super) fn read(shape: &Shape, given: &Spanned<DeValue<'_>>) -> Read<Value> {
    let raw = raw(given.get_ref());
    match shape {
        Shape::Text => return Ok(value::text(&raw)?.into()),
        Shape::Duration(least, most) => {
            let found = value::duration(*least..=*most)(&raw)?;
            return Ok(when::show_duration(found).into());
        }
        Shape::Count(from, to) => return Ok(value::count(*from..=*to)(&raw)?.into()),
        Shape::Choice(words) => drop(value::word(&raw, words)?),
        Shape::Texts(_) => drop(value::texts(|text| Ok(text.to_owned()))(&raw)?),
        Shape::TextByName => {
            let example = "for example { environment = \"staging\" }";
            return text_by_name(given.get_ref(), "inputs", example);
        }
        Shape::Headers => {
            let example = "for example { Accept-Language = \"de\", Cookie = \"env:COOKIE\" }";
            return text_by_name(given.get_ref(), "headers", example);
        }
        Shape::Instant => return instant(given.get_ref()),
        Shape::Truth => drop(value::truth(&raw)?),
        Shape::Secret => {
            let hint = "write \"env:NAME\" or \"file:/path\"";
            let is_reference = secret::is_reference(&value::text(&raw)?);
            if !is_reference {
                return Err(Problem::new("must say where the secret is kept", hint));
            }
        }
        _ => {}
    }
    Ok(json_of(given.get_ref()))
}

fn instant(given: &DeValue<'_>) -> Read<Value> {
    let written = json_of(given);
    let read = written.as_str().map(str::parse::<Timestamp>);
    match read {
        Some(Ok(at)) => Ok(at.to_string().into()),
        _ => Err(Problem::new(
            "expected a time with its offset",
            "for example 2026-12-24T18:00:00+01:00",
        )),
    }
}

fn text_by_name(given: &DeValue<'_>, what: &str, hint: &str) -> Read<Value> {
    let DeValue::Table(table) = given else {
        return Err(Problem::new("expected a table of texts", hint));
    };
    for (_, value) in table {
        if !matches!(value.get_ref(), DeValue::String(_)) {
            let found = format!("expected text, found {}", raw(value.get_ref()).name());
            let place = Some(Place::File { span: value.span() });
            let hint = format!("{what} are texts; put it in quotes");
            return Err(Problem::error(found, place).hint(hint));
        }
    }
    Ok(json_of(given))
}

fn json_of(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => whole(number),
        DeValue::Float(number) => fraction(number),
        DeValue::Boolean(truth) => Value::Bool(*truth),
        DeValue::Datetime(date) => Value::String(date.to_string()),
        DeValue::Array(items) => {
            let items = items.iter().map(|item| json_of(item.get_ref()));
            Value::Array(items.collect())
        }
        DeValue::Table(table) => {
            let entries = table
                .iter()
                .map(|(key, value)| (key.get_ref().to_string(), json_of(value.get_ref())));
            Value::Object(entries.collect::<Map<_, _>>())
        }
    }
}

/// A number too large for a whole one stays what was written.
fn whole(number: &DeInteger<'_>) -> Value {
    match i64::from_str_radix(number.as_str(), number.radix()) {
        Ok(number) => number.into(),
        Err(_) => Value::String(number.as_str().to_owned()),
    }
}

/// Infinity is no number of JSON.
fn fraction(number: &DeFloat<'_>) -> Value {
    let parsed = number.as_str().parse().ok().and_then(Number::from_f64);
    parsed.map_or_else(|| Value::String(number.as_str().to_owned()), Value::Number)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use almanack_core::{plan::Definition, target::Target};

    use super::*;

    fn names(fields: &[Field]) -> BTreeSet<String> {
        let names = fields.iter().map(|field| field.name.to_owned());
        names.collect()
    }

    fn keys(value: &Value) -> BTreeSet<String> {
        value.as_object().unwrap().keys().cloned().collect()
    }

    #[test]
    fn every_key_of_a_definition_can_be_written() {
        let target = |json: &str| serde_json::from_str::<Target>(json).unwrap();
        let targets = [
            r#"{"type":"webhook","url":"http://x","body":1,"method":"PUT","headers":{"a":"b"},"template":1,"report_within":"1h"}"#,
            r#"{"type":"workflow","repository":"o/r","workflow":"w","ref":"m","inputs":{"a":"b"}}"#,
            r#"{"type":"command","argv":["x"],"timeout":"1s"}"#,
            r#"{"type":"task","kind":"K","subject":"s","payload":{}}"#,
            r#"{"type":"ping","note":"n"}"#,
        ];
        for json in targets {
            let target = target(json);
            let written = serde_json::to_value(&target).unwrap();
            let known = names(fields_of_target(target.type_name()));
            assert_eq!(keys(&written), known, "{json}");
        }
        let mut definition = Definition::new("@daily", target(targets[0]));
        definition.grace = Some(SignedDuration::from_secs(1));
        definition.retry_for = definition.grace;
        definition.timeout = definition.grace;
        definition.retry.count = Some(1);
        definition.firings_max = Some(1);
        definition.tags = vec!["a".to_owned()];
        definition.owner = Some("a".to_owned());
        definition.alerts = Some(Vec::new());
        definition.run_timeout = definition.grace;
        definition.pings.start = Some("https://x/".to_owned());
        let all = r#"{"also":[{"expression":"@daily"}],"except":["a"],"only":["b"],
            "move":"next_workday","quiet":["22:00-06:00"],"starts_at":"2026-01-01T00:00:00Z",
            "ends_at":"2026-01-01T00:00:00Z","runs":1,"jitter":"1s"}"#;
        let all: serde_json::Map<String, Value> = serde_json::from_str(all).unwrap();
        let mut written = serde_json::to_value(&definition).unwrap();
        written.as_object_mut().unwrap().extend(all);
        let definition: Definition = serde_json::from_value(written).unwrap();
        let mut written = keys(&serde_json::to_value(&definition).unwrap());
        written.insert("name".to_owned());
        assert_eq!(written, names(SCHEDULE));
    }
}
