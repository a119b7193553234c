//! `[events.*.mapping]`: where to find each field in a service's own messages.

use almanack_core::event::incoming::mapping::{Action, Mapping, Path, Template, Unit};

use super::super::prelude::*;

words! {
    Unit {
        "rfc3339" = Self::Rfc3339,
        "seconds" = Self::Seconds,
        "milliseconds" = Self::Milliseconds,
    }
}

settings! {
    pub(super) struct MappingKeys {
        /// Subject of the task: a text, a path, or a text with paths like `article:{/id}`.
        /// 任务的主体：文本、路径，或含路径的文本，如 `article:{/id}`。
        subject: Option<Template> = template().unset("(missing)");
        /// Kind of the task.
        /// 任务的类型。
        kind: Option<Template> = template().unset("(missing)");
        /// Path of the time to run at.
        /// 执行时间所在的路径。
        execute_at: Option<Path> = path().unset("(missing)");
        /// Unit of the time to run at.
        /// 执行时间的单位。
        execute_at_unit: Unit = choice().default(Unit::Rfc3339);
        /// Path of the revision, a number that grows with every change.
        /// 修订号所在的路径；每次变更都会增大。
        revision: Option<Path> = path().unset("(missing)");
        /// Path of the action.
        /// 动作所在的路径。
        action: Option<Path> = path().unset("(every message schedules)");
        /// Values of the action that cancel the task.
        /// 表示取消任务的动作值。
        cancel: Vec<String> = texts(|text| Ok(text.to_owned())).default(Vec::new());
        /// Values of the action that schedule the task.
        /// 表示安排任务的动作值。
        put: Vec<String> = texts(|text| Ok(text.to_owned())).default(Vec::new());
        /// Path of the payload.
        /// 负载所在的路径。
        payload: Option<Path> = path().unset("(none)");
        /// Address to call.
        /// 回调地址。
        callback_url: Option<Template> = template().unset("(the kind's)");
        /// Path of the message's id.
        /// 消息标识所在的路径。
        id: Option<Path> = path().unset("(topic and offset of the message)");
        /// Name of the message's source.
        /// 消息来源的名称。
        source: Option<Template> = template().unset("(the topic)");
    }
}

/// Reads a mapping; four of its keys are required.
pub(super) fn read(
    reader: &mut Reader<'_>,
    outer: &'static str,
    section: &'static str,
) -> Option<Mapping> {
    let read = MappingKeys::read_in(reader, section);
    for name in ["subject", "kind", "execute_at", "revision"] {
        if !reader.is_given(section, &[name]) {
            let hint = format!(
                "format = \"json\" needs [{section}] with subject, kind, execute_at and revision"
            );
            reader.half(outer, &format!("{section}.{name}"), &hint);
        }
    }
    Some(Mapping {
        action: action(reader, section, &read),
        subject: read.subject?,
        kind: read.kind?,
        execute_at: read.execute_at?,
        unit: read.execute_at_unit,
        revision: read.revision?,
        payload: read.payload,
        callback_url: read.callback_url,
        id: read.id,
        source: read.source,
    })
}

fn action(reader: &mut Reader<'_>, section: &'static str, read: &MappingKeys) -> Option<Action> {
    let MappingKeys { cancel, put, .. } = read.clone();
    let Some(path) = read.action.clone() else {
        let hint = "set the path of the action: action = \"/op\"";
        let names = (&["cancel", "put"][..], "action");
        reader.without_effect(Severity::Error, section, names, hint);
        return None;
    };
    if cancel.is_empty() && put.is_empty() {
        let what = format!("{section}.action: no value of it has a meaning");
        let hint = "list values that cancel, cancel = [\"delete\"], or that schedule, \
                    put = [\"update\"]";
        reader.refuse(what, (section, "action"), hint);
    }
    Some(Action { path, cancel, put })
}

/// Refuses a mapping that has no effect with this format.
pub(super) fn check_idle(reader: &mut Reader<'_>, outer: &'static str, section: &'static str) {
    if let Some(place) = reader.first_place(|path| path.section == section) {
        let what = format!("[{section}] has no effect while {outer}.format is \"cloudevents\"");
        reader.push(
            Severity::Error,
            (what, Some(place)),
            "write format = \"json\"",
        );
    }
}

fn path() -> Form<Path> {
    let hint = "write one path in the message: \"/article/id\" or \"$.article.id\"";
    text_as(move |text| Path::parse(text).map_err(|error| Problem::new(error.to_string(), hint)))
}

fn template() -> Form<Template> {
    let hint =
        "write a text, a path, or a text with paths: \"article:{/id}\"; {key} is the message's key";
    text_as(move |text| {
        Template::parse(text).map_err(|error| Problem::new(error.to_string(), hint))
    })
}
