//! `[log]` and `[telemetry]`: what the process logs, and where traces go.

use url::Url;

use super::prelude::*;
use crate::suggest;

sections! { Log, Telemetry }

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

words! { LogFormat { "text" = Self::Text, "json" = Self::Json } }

settings! {
    /// What the process logs.
    pub(crate) struct Log in "log" {
        /// Format of log lines: `text` for people, `json` for programs.
        /// 日志行的格式：`text` 供人阅读，`json` 供程序处理。
        format: LogFormat = choice().default(LogFormat::Text);
        /// Log level, or levels per module like `info,almanack_engine=debug`.
        /// 日志级别，或按模块设置，如 `info,almanack_engine=debug`。
        level: String = text_as(level).default("info".to_owned()).reloadable();
    }
}

const LEVELS: &[&str] = &["off", "error", "warn", "info", "debug", "trace"];

/// The log's own parser takes any word for a module's name, so a misspelt level would silence
/// everything; hence this check.
fn level(text: &str) -> Read<String> {
    for part in text.split(',') {
        let word = part.rsplit('=').next().unwrap_or(part).trim();
        if !LEVELS.contains(&word) {
            let hint = suggest::nearest(word, LEVELS.iter().copied()).map_or_else(
                || "write error, warn, info, debug or trace, or levels per module: \"info,almanack_engine=debug\"".to_owned(),
                |near| format!("did you mean \"{near}\"?"),
            );
            return Err(Problem::new(format!("`{word}` is not a level"), hint));
        }
    }
    Ok(text.to_owned())
}

settings! {
    /// Traces for an OpenTelemetry collector.
    pub(crate) struct Telemetry in "telemetry" {
        /// OpenTelemetry collector that receives traces over HTTP, without the path of the signal.
        /// 通过 HTTP 接收追踪数据的 OpenTelemetry 收集器，不含信号路径。
        otlp_endpoint: Option<Url> =
            Form::new(Shape::Address, value::web_address).unset("(no traces)");
        /// HTTP headers for the collector: `name=value`, separated by commas.
        /// 发给收集器的 HTTP 头：`name=value`，用逗号分隔。
        headers: Vec<(String, Secret)> = kept(headers).unset("(none)").map(Option::unwrap_or_default);
        /// Fraction of tasks to trace, from 0 to 1.
        /// 追踪的任务比例，从 0 到 1。
        sample: f64 = Form::new(Shape::Share, share).default(Share(1.0)).map(|share| share.0);
        /// Service name in traces.
        /// 追踪数据中的服务名称。
        service: String = text().default("almanack".to_owned());
    }
}

/// Where traces go.
pub(super) fn telemetry(reader: &mut Reader<'_>) -> Telemetry {
    let read = Telemetry::read(reader);
    if read.otlp_endpoint.is_none() {
        let names = (&["headers", "sample", "service"][..], "otlp_endpoint");
        let hint = "name the collector, like \"http://127.0.0.1:4318\"";
        reader.without_effect(Severity::Warning, "telemetry", names, hint);
    }
    read
}

struct Share(f64);

impl Show for Share {
    fn show(&self) -> String {
        format!("{}", self.0)
    }
}

fn share(raw: &Raw) -> Read<Share> {
    let number: Option<f64> = match raw {
        Raw::Text(text) | Raw::Bare(text) => text.trim().parse().ok(),
        Raw::Number(0) => Some(0.0),
        Raw::Number(1) => Some(1.0),
        _ => None,
    };
    let number = number.filter(|number| (0.0..=1.0).contains(number));
    number.map(Share).ok_or_else(|| {
        Problem::new(
            "a fraction is a number from 0 to 1",
            "\"0.1\", in quotes, traces one task in ten; \"1\" traces all",
        )
    })
}

/// `name=value`, separated by commas, as OpenTelemetry's own tools write it.
fn headers(text: &str) -> Read<Vec<(String, Secret)>> {
    let read = |part: &str| {
        let (name, value) = part.split_once('=')?;
        let name = name.trim();
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        (!name.is_empty() && name.chars().all(fits))
            .then(|| (name.to_ascii_lowercase(), Secret::new(value.trim())))
    };
    let parts: Option<Vec<_>> = text.split(',').map(read).collect();
    let hint = "write name=value, separated by commas";
    parts.ok_or_else(|| Problem::new("this is not a list of headers", hint))
}
