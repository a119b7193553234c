//! The document as the reference page shows it: operations with everything that they refer to.
//!
//! Read from the JSON rather than from the builder's types: that is what clients see, and shapes
//! are found by following its references.

use std::sync::LazyLock;

use serde_json::{Map, Value};

/// Most fields listed of one body; deeper ones are in the document.
const FIELDS_MAX: usize = 80;
/// How deep objects within objects are listed, as `callback.url`.
const DEPTH_MAX: usize = 2;
const METHODS: [&str; 5] = ["get", "put", "post", "patch", "delete"];

/// One operation.
#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) id: String,
    /// The resource that it belongs to.
    pub(crate) tag: String,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) summary: String,
    pub(crate) description: String,
    /// The scope that it needs, unless it is public.
    pub(crate) scope: Option<String>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Option<Content>,
    pub(crate) answers: Vec<Answer>,
}

#[derive(Debug)]
pub(crate) struct Parameter {
    /// `path`, `query` or `header`.
    pub(crate) place: String,
    pub(crate) example: String,
    pub(crate) field: Field,
}

/// A named value: a parameter, or a field of a body.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) shape: String,
    pub(crate) is_required: bool,
    pub(crate) description: String,
}

#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) media_type: String,
    pub(crate) shape: String,
    pub(crate) fields: Vec<Field>,
    pub(crate) example: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: String,
    pub(crate) description: String,
    pub(crate) content: Option<Content>,
}

impl Operation {
    /// All of them, in the document's order.
    pub(crate) fn all() -> &'static [Self] {
        static ALL: LazyLock<Vec<Operation>> = LazyLock::new(|| {
            let document = serde_json::to_value(super::document()).unwrap_or_default();
            read(&document)
        });
        &ALL
    }

    /// Whether it is about a word.
    pub(crate) fn is_about(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        let texts = [
            &self.id,
            &self.path,
            &self.summary,
            &self.description,
            &self.tag,
        ];
        let names = self.parameters.iter().map(|it| &it.field.name);
        let fields = self
            .body
            .iter()
            .flat_map(|body| &body.fields)
            .map(|it| &it.name);
        let mut all = texts.into_iter().chain(names).chain(fields);
        all.any(|text| text.to_lowercase().contains(&word))
    }
}

fn read(document: &Value) -> Vec<Operation> {
    let schemas = Schemas(&document["components"]["schemas"]);
    let paths = document["paths"].as_object().into_iter().flatten();
    paths
        .flat_map(|(path, item)| METHODS.map(|method| (path, method, &item[method])))
        .filter(|(.., operation)| operation.is_object())
        .map(|(path, method, operation)| schemas.operation(path, method, operation))
        .collect()
}

/// The shapes that the document names.
#[derive(Clone, Copy)]
struct Schemas<'a>(&'a Value);

impl<'a> Schemas<'a> {
    fn operation(self, path: &str, method: &str, it: &'a Value) -> Operation {
        let answers = it["responses"].as_object().into_iter().flatten();
        Operation {
            id: text(&it["operationId"]),
            tag: text(&it["tags"][0]),
            method: method.to_uppercase(),
            path: path.to_owned(),
            summary: text(&it["summary"]),
            description: text(&it["description"]),
            scope: it["security"][0]["token"][0].as_str().map(str::to_owned),
            parameters: items(&it["parameters"])
                .map(|it| self.parameter(it))
                .collect(),
            body: self.content(&it["requestBody"]["content"]),
            answers: answers
                .map(|(status, it)| Answer {
                    status: status.clone(),
                    description: text(&it["description"]),
                    content: self.content(&it["content"]),
                })
                .collect(),
        }
    }

    fn parameter(self, it: &'a Value) -> Parameter {
        Parameter {
            place: text(&it["in"]),
            example: shown(&it["example"]),
            field: Field {
                name: text(&it["name"]),
                shape: self.shape(&it["schema"]),
                is_required: it["required"] == true,
                description: text(&it["description"]),
            },
        }
    }

    /// The first way in which it can be sent.
    fn content(self, of: &'a Value) -> Option<Content> {
        let (media_type, content) = of.as_object()?.iter().next()?;
        let mut fields = Vec::new();
        self.list(&content["schema"], "", 0, &mut fields);
        let example = &content["example"];
        Some(Content {
            media_type: media_type.clone(),
            shape: self.shape(&content["schema"]),
            fields,
            example: (!example.is_null()).then(|| shown(example)),
        })
    }

    /// A shape in a word: `string`, `integer | null`, `TaskView[]`, `"INIT" | "RUNNING"`.
    fn shape(self, schema: &'a Value) -> String {
        if let Some(name) = schema["$ref"].as_str() {
            let named = self.named(name);
            if named["enum"].is_array() {
                return self.shape(named);
            }
            return name.rsplit('/').next().unwrap_or_default().to_owned();
        }
        let joined = |key: &str, between: &str| {
            let parts: Vec<String> = items(&schema[key]).map(|it| self.shape(it)).collect();
            (!parts.is_empty()).then(|| parts.join(between))
        };
        let choices = items(&schema["enum"]).map(ToString::to_string);
        let choices: Vec<String> = choices.collect();
        if !choices.is_empty() {
            return choices.join(" | ");
        }
        let combined = joined("oneOf", " | ").or_else(|| joined("anyOf", " | "));
        combined
            .or_else(|| joined("allOf", " & "))
            .unwrap_or_else(|| {
                let plain = match &schema["type"] {
                    Value::Array(types) => types.iter().map(text).collect::<Vec<_>>().join(" | "),
                    one => text(one),
                };
                match (plain.as_str(), schema["format"].as_str()) {
                    ("", _) => "any".to_owned(),
                    (_, _) if schema["items"].is_object() => {
                        plain.replace("array", &format!("{}[]", self.shape(&schema["items"])))
                    }
                    (_, Some("date-time")) => plain.replace("string", "date-time"),
                    _ => plain,
                }
            })
    }

    /// The fields of an object, or of the objects in a list.
    fn list(self, schema: &'a Value, within: &str, depth: usize, fields: &mut Vec<Field>) {
        if let Some(name) = schema["$ref"].as_str() {
            return self.list(self.named(name), within, depth, fields);
        }
        for key in ["allOf", "oneOf", "anyOf"] {
            items(&schema[key]).for_each(|part| self.list(part, within, depth, fields));
        }
        if schema["items"].is_object() {
            let within = format!("{within}[]");
            self.list(
                &schema["items"],
                within.trim_start_matches("[]"),
                depth,
                fields,
            );
        }
        let none = Map::new();
        let properties = schema["properties"].as_object().unwrap_or(&none);
        for (name, of) in properties {
            let full = if within.is_empty() {
                name.clone()
            } else {
                format!("{within}.{name}")
            };
            if fields.len() == FIELDS_MAX || fields.iter().any(|it| it.name == full) {
                continue;
            }
            fields.push(Field {
                shape: self.shape(of),
                is_required: items(&schema["required"]).any(|it| it == name),
                description: self.described(of),
                name: full.clone(),
            });
            if depth + 1 < DEPTH_MAX {
                self.list(of, &full, depth + 1, fields);
            }
        }
    }

    /// What is said of a field, or else of its shape.
    fn described(self, of: &'a Value) -> String {
        let choice = items(&of["oneOf"])
            .map(|it| text(&it["description"]))
            .find(|it| !it.is_empty());
        let named = of["$ref"]
            .as_str()
            .map(|name| text(&self.named(name)["description"]));
        match of["description"].as_str() {
            Some(own) => own.to_owned(),
            None => choice.or(named).unwrap_or_default(),
        }
    }

    fn named(self, reference: &str) -> &'a Value {
        let name = reference.rsplit('/').next().unwrap_or_default();
        &self.0[name]
    }
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(of: &Value) -> String {
    of.as_str().unwrap_or_default().to_owned()
}

/// An example as people read it: a text as it is, anything else as indented JSON.
fn shown(example: &Value) -> String {
    match example {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(id: &str) -> &'static Operation {
        Operation::all().iter().find(|it| it.id == id).unwrap()
    }

    #[test]
    fn an_operation_shows_its_fields_by_following_references() {
        let put = operation("put_task");
        assert_eq!(
            (put.method.as_str(), put.scope.as_deref()),
            ("PUT", Some("operate"))
        );
        let body = put.body.as_ref().unwrap();
        let field = |name: &str| body.fields.iter().find(|it| it.name == name).unwrap();
        assert_eq!(field("execute_at").shape, "date-time");
        assert!(field("execute_at").is_required && !field("priority").is_required);
        assert_eq!(field("priority").shape, "integer | null");
        assert_eq!(field("tags").shape, "string[] | null");
        assert!(
            !field("callback.url").description.is_empty(),
            "objects within objects"
        );
        assert!(body.example.as_deref().unwrap().contains("execute_at"));
    }

    #[test]
    fn a_word_finds_an_operation_by_its_path_its_texts_and_its_fields() {
        let put = operation("put_task");
        for word in [
            "PUT_TASK",
            "{subject}",
            "waiting task",
            "expires_after_s",
            "Idempotency",
        ] {
            assert!(put.is_about(word), "{word}");
        }
        assert!(!put.is_about("newsletter"));
    }

    #[test]
    fn every_operation_has_a_name_of_its_own_a_resource_and_a_summary() {
        let all = Operation::all();
        assert!(all.len() > 100);
        for (index, it) in all.iter().enumerate() {
            assert!(!it.tag.is_empty() && !it.summary.is_empty(), "{}", it.path);
            assert!(
                !all[..index].iter().any(|other| other.id == it.id),
                "{}",
                it.id
            );
        }
    }
}
