//! A schedule as `[[schedule]]`, the way people write it: defaults are omitted.

use almanack_core::{import::Imported, target::Target};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::config::schedule::shape::{Field, SCHEDULE};

/// Written even if it is the default, to be explicit.
const ALWAYS: &str = "tz";

/// The schedule with a line for each key.
pub(super) fn schedule(imported: &Imported) -> String {
    let mut lines = vec![
        "[[schedule]]".to_owned(),
        format!("name = {}", plain(&imported.name.as_str().into())),
    ];
    let given = given(&imported.definition, &[ALWAYS]);
    for Field { name: key, .. } in SCHEDULE {
        match given.get(*key) {
            Some(_) if *key == "target" => {
                let target = target(&imported.definition.target);
                lines.push(format!("target = {target}"));
            }
            Some(value) => lines.push(format!("{key} = {}", plain(value))),
            None => {}
        }
    }
    lines.join("\n") + "\n"
}

/// The keys without which it would be something else.
fn given<T: Serialize + DeserializeOwned + PartialEq>(
    thing: &T,
    always: &[&str],
) -> Map<String, Value> {
    let Ok(Value::Object(mut map)) = serde_json::to_value(thing) else {
        return Map::new();
    };
    for key in map.keys().cloned().collect::<Vec<_>>() {
        let mut without = map.clone();
        without.remove(&key);
        let same = serde_json::from_value::<T>(Value::Object(without.clone()));
        if !always.contains(&key.as_str()) && same.is_ok_and(|same| same == *thing) {
            map = without;
        }
    }
    map
}

/// A target on one line, its type first.
fn target(target: &Target) -> String {
    let mut given = given(target, &[]);
    let kind = given.remove("type");
    let mut pairs = vec![format!("type = {}", plain(&kind.unwrap_or_default()))];
    pairs.extend(
        given
            .iter()
            .map(|(key, value)| format!("{key} = {}", plain(value))),
    );
    format!("{{ {} }}", pairs.join(", "))
}

/// A value as it stands behind a key.
fn plain(value: &Value) -> String {
    toml::Value::try_from(value).map_or_else(|_| value.to_string(), |it| it.to_string())
}

#[cfg(test)]
mod tests {
    use almanack_core::{
        import::{Options, crontab, dispatch},
        plan::Definition,
    };

    use super::*;

    /// What is written reads back to the same definition.
    fn check(imported: &Imported) {
        let written = schedule(imported);
        let document: toml::Table = toml::from_str(&written).unwrap();
        let mut table = document["schedule"][0].as_table().unwrap().clone();
        assert_eq!(
            table.remove("name").unwrap().as_str(),
            Some(imported.name.as_str())
        );
        let json = serde_json::to_value(table).unwrap();
        let definition: Definition = serde_json::from_value(json).unwrap();
        assert_eq!(definition, imported.definition, "{written}");
    }

    #[test]
    fn what_is_written_reads_back() {
        let options = Options::default();
        let text = "0 8 * * * x --a \"b\\\\c\t\u{1}\u{7f}\" | d 'é 文'\n@10s y\n0 1 * * * z\n";
        let mut import = crontab::read(text, &options);
        assert_eq!(import.schedules.len(), 3, "{import:?}");
        let dispatch =
            "@10s o/r w.yml ref=x input.a=\"b \\\" c\" input.d=\"\" catch_up=all tz=Asia/Tokyo\n";
        import
            .schedules
            .extend(dispatch::read(dispatch, &options).schedules);
        for imported in &mut import.schedules {
            check(imported);
            imported.definition.splay = jiff::SignedDuration::from_mins(90);
            imported.definition.priority = 9;
            imported.definition.grace = Some(jiff::SignedDuration::from_hours(3));
            check(imported);
        }
    }

    #[test]
    fn defaults_are_left_out() {
        let import = dispatch::read("0 8 * * * o/r w.yml", &Options::default());
        insta::assert_snapshot!(schedule(&import.schedules[0]), @r#"
        [[schedule]]
        name = "dispatch-37480a1eb3c7"
        expression = "0 8 * * *"
        tz = "UTC"
        target = { type = "workflow", repository = "o/r", workflow = "w.yml" }
        "#);
    }
}
