//! `[events.*.mapping]`: where in a service's own messages is what.

use almanack_core::event::mapping::{Action, Mapping, Path, Template, Unit};

use super::{
    super::super::{
        key::KeyPath,
        layer::Raw,
        reader::{Reader, Show},
        report::Problem,
        value::{self, Complaint, Read},
    },
    half,
};

impl Show for Path {
    fn show(&self) -> String {
        format!("\"{self}\"")
    }
}

impl Show for Template {
    fn show(&self) -> String {
        format!("\"{self}\"")
    }
}

impl Show for Unit {
    fn show(&self) -> String {
        let name = match self {
            Self::Rfc3339 => "\"rfc3339\"",
            Self::Seconds => "\"seconds\"",
            Self::Milliseconds => "\"milliseconds\"",
        };
        name.to_owned()
    }
}

/// Reads a mapping; four of its keys must be there.
pub(super) fn read(
    reader: &mut Reader<'_>,
    outer: &'static str,
    section: &'static str,
) -> Option<Mapping> {
    let key = |name| KeyPath::plain(section, name);
    let subject = reader.optional(&key("subject"), "(missing)", template);
    let kind = reader.optional(&key("kind"), "(missing)", template);
    let execute_at = reader.optional(&key("execute_at"), "(missing)", path);
    let units = &[
        ("rfc3339", Unit::Rfc3339),
        ("seconds", Unit::Seconds),
        ("milliseconds", Unit::Milliseconds),
    ];
    let unit = reader.value(&key("execute_at_unit"), Unit::Rfc3339, value::choice(units));
    let revision = reader.optional(&key("revision"), "(missing)", path);
    let action = action(reader, section);
    let payload = reader.optional(&key("payload"), "(none)", path);
    let callback_url = reader.optional(&key("callback_url"), "(the kind's own)", template);
    let id = reader.optional(&key("id"), "(the message's place)", path);
    let source = reader.optional(&key("source"), "(the topic)", template);
    for name in ["subject", "kind", "execute_at", "revision"] {
        if reader.place(&key(name)).is_none() {
            let hint = format!(
                "format = \"json\" needs [{section}] with subject, kind, execute_at and revision"
            );
            half(reader, outer, &format!("{section}.{name}"), &hint);
        }
    }
    Some(Mapping {
        subject: subject?,
        kind: kind?,
        execute_at: execute_at?,
        unit,
        revision: revision?,
        action,
        payload,
        callback_url,
        id,
        source,
    })
}

fn action(reader: &mut Reader<'_>, section: &'static str) -> Option<Action> {
    let key = |name| KeyPath::plain(section, name);
    let path = reader.optional(&key("action"), "(every message sets a time)", path);
    let word = |text: &str| Ok(text.to_owned());
    let cancel = reader.value(&key("cancel"), Vec::new(), value::texts(word));
    let put = reader.value(&key("put"), Vec::new(), value::texts(word));
    let Some(path) = path else {
        for name in ["cancel", "put"] {
            if let Some(place) = reader.place(&key(name)) {
                let what = format!("{section}.{name} has no effect without {section}.action");
                let hint = "say where the action stands: action = \"/op\"";
                reader
                    .problems
                    .push(Problem::error(what, Some(place)).hint(hint));
            }
        }
        return None;
    };
    if cancel.is_empty() && put.is_empty() {
        let what = format!("{section}.action: no value of it is given a meaning");
        let hint = "name values that withdraw, cancel = [\"delete\"], or that set a time, put = [\"update\"]";
        let place = reader.place(&key("action"));
        reader.problems.push(Problem::error(what, place).hint(hint));
    }
    Some(Action { path, cancel, put })
}

/// A mapping that nobody reads by is a mistake about the format.
pub(super) fn check_idle(reader: &mut Reader<'_>, outer: &'static str, section: &'static str) {
    let mut given = reader.layer.iter();
    let Some((_, given)) = given.find(|(path, _)| path.section == section) else {
        return;
    };
    let place = Some(given.place.clone());
    let what = format!("[{section}] has no effect while {outer}.format is \"cloudevents\"");
    let problem = Problem::error(what, place).hint("write format = \"json\"");
    reader.problems.push(problem);
}

fn path(raw: &Raw) -> Read<Path> {
    let text = value::text(raw)?;
    let hint = "one place in the message: \"/article/id\" or \"$.article.id\"";
    Path::parse(&text).map_err(|error| Complaint::new(error.to_string(), hint))
}

fn template(raw: &Raw) -> Read<Template> {
    let text = value::text(raw)?;
    let hint =
        "a text, a path, or a text with paths in it: \"article:{/id}\"; {key} is the message's key";
    Template::parse(&text).map_err(|error| Complaint::new(error.to_string(), hint))
}
