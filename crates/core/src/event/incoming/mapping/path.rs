//! Paths into JSON, and texts with paths in them.
//!
//! Two spellings of one thing: a JSON Pointer (RFC 6901, `/article/id`) and the plain part of
//! `JSONPath` (`$.article.id`, `$.tags[0]`). A path names one place, so wildcards and filters are
//! refused: which of several revisions would be the revision?

use std::{collections::BTreeMap, fmt};

use serde_json::value::RawValue;

/// Why a path or a template cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Neither a pointer nor a plain path.
    #[error("`{0}` is not a path; write `/article/id` or `$.article.id`")]
    Path(String),
    /// A brace without its partner.
    #[error("`{0}` has a brace without its partner; write `article:{{/id}}`")]
    Braces(String),
    #[error("nothing is written here")]
    Empty,
}

/// One place in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    written: String,
    steps: Vec<String>,
}

impl Path {
    /// Reads either spelling.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        let unreadable = || Unreadable::Path(text.to_owned());
        let steps = if let Some(pointer) = text.strip_prefix('/') {
            pointer.split('/').map(unescape).collect()
        } else {
            let rest = text.strip_prefix('$').ok_or_else(unreadable)?;
            plain_steps(rest).ok_or_else(unreadable)?
        };
        Ok(Self {
            written: text.to_owned(),
            steps,
        })
    }

    /// The value there, byte for byte.
    pub fn find<'a>(&self, document: &'a RawValue) -> Option<&'a RawValue> {
        self.steps.iter().try_fold(document, step)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

fn unescape(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

/// Reads one level only, so that what lies beside the path is not built.
fn step<'a>(value: &'a RawValue, name: &String) -> Option<&'a RawValue> {
    let text = value.get();
    match text.trim_start().as_bytes().first()? {
        b'{' => {
            let mut fields: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
            fields.remove(name)
        }
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
            items.get(name.parse::<usize>().ok()?).copied()
        }
        _ => None,
    }
}

/// The steps of `.article.id[0]`.
fn plain_steps(mut rest: &str) -> Option<Vec<String>> {
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, after) = if let Some(named) = rest.strip_prefix('.') {
            named.split_at(named.find(['.', '[']).unwrap_or(named.len()))
        } else {
            let (inside, after) = rest.strip_prefix('[')?.split_once(']')?;
            (indexed(inside)?, after)
        };
        if step.is_empty() || step.contains(['*', '?', '@', '(']) {
            return None;
        }
        steps.push(step.to_owned());
        rest = after;
    }
    Some(steps)
}

/// `0`, `'name'` or `"name"`.
fn indexed(inside: &str) -> Option<&str> {
    let quoted = |quote| inside.strip_prefix(quote)?.strip_suffix(quote);
    let number = inside.bytes().all(|byte| byte.is_ascii_digit());
    quoted('\'')
        .or_else(|| quoted('"'))
        .or_else(|| number.then_some(inside))
}

/// A text with places in it that each message fills: `article:{/id}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    written: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Hole(Hole),
}

/// What fills a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Hole {
    /// The value at a path.
    Path(Path),
    Key,
}

impl Template {
    /// Reads a text. One that starts like a path is a path; one without braces is the same for
    /// every message.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        let parts = match text.chars().next() {
            None => return Err(Unreadable::Empty),
            Some('/' | '$') => vec![Part::Hole(Hole::Path(Path::parse(text)?))],
            Some(_) => parts(text)?,
        };
        Ok(Self {
            written: text.to_owned(),
            parts,
        })
    }

    pub(super) fn fill<E>(&self, with: impl Fn(&Hole) -> Result<String, E>) -> Result<String, E> {
        let texts = self.parts.iter().map(|part| match part {
            Part::Text(text) => Ok(text.clone()),
            Part::Hole(hole) => with(hole),
        });
        texts.collect()
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

fn parts(text: &str) -> Result<Vec<Part>, Unreadable> {
    let lonely = || Unreadable::Braces(text.to_owned());
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (inside, after) = after.split_once('}').ok_or_else(lonely)?;
        if before.contains('}') {
            return Err(lonely());
        }
        parts.push(Part::Text(before.to_owned()));
        parts.push(Part::Hole(match inside {
            "key" => Hole::Key,
            path => Hole::Path(Path::parse(path)?),
        }));
        rest = after;
    }
    if rest.contains('}') {
        return Err(lonely());
    }
    parts.push(Part::Text(rest.to_owned()));
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn found(document: &Value, path: &str) -> Option<String> {
        let text = document.to_string();
        let raw: &RawValue = serde_json::from_str(&text).unwrap();
        let path = Path::parse(path).unwrap();
        path.find(raw).map(|raw| raw.get().to_owned())
    }

    #[test]
    fn both_spellings_name_the_same_places() {
        let document = json!({"a": {"b": [10, {"c d": 7}], "x/y": 1, "~": 2}, "": 3});
        for (pointer, plain, expected) in [
            ("/a/b/0", "$.a.b[0]", Some("10")),
            ("/a/b/1/c d", "$.a.b[1]['c d']", Some("7")),
            ("/a/b/1/c d", "$['a'][\"b\"][1].c d", Some("7")),
            ("/a/x~1y", "$.a.x/y", Some("1")),
            ("/a/~0", "$.a.~", Some("2")),
            ("/a/b/2", "$.a.b[2]", None),
            ("/a/b/c", "$.a.b.c", None),
            ("/a/b/0/c", "$.a.b[0].c", None),
            ("/nothing", "$.nothing", None),
        ] {
            assert_eq!(found(&document, pointer).as_deref(), expected, "{pointer}");
            assert_eq!(found(&document, plain).as_deref(), expected, "{plain}");
        }
        assert_eq!(found(&document, "/").as_deref(), Some("3"), "an empty name");
        assert_eq!(found(&json!(5), "$").as_deref(), Some("5"), "all of it");
    }

    #[test]
    fn what_names_no_single_place_is_refused() {
        for text in [
            "",
            "id",
            "a.b",
            "$.",
            "$..a",
            "$.a.*",
            "$[*]",
            "$[?(@.a)]",
            "$.a[",
            "$a",
            "$[-1]",
        ] {
            assert!(Path::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_template_is_a_path_a_text_or_both() {
        let filled = |text: &str| {
            let template = Template::parse(text).unwrap();
            let text = template.fill(|hole| match hole {
                Hole::Path(path) => Ok::<_, ()>(format!("<{path}>")),
                Hole::Key => Ok("<the key>".to_owned()),
            });
            text.unwrap()
        };
        for (text, expected) in [
            ("ARTICLE_PUBLISH", "ARTICLE_PUBLISH"),
            ("/id", "</id>"),
            ("$.id", "<$.id>"),
            ("article:{/id}", "article:</id>"),
            ("{$.a}-{/b}", "<$.a>-</b>"),
            ("article:{key}", "article:<the key>"),
        ] {
            assert_eq!(filled(text), expected);
        }
        for text in ["", "a{", "a}", "a{/b", "a}{/b}", "{/a}}", "{}", "{id}"] {
            assert!(Template::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_pointer_finds_what_the_library_finds(names in prop::collection::vec("[a-c/~\"\u{e4} ]{0,3}", 1..4), value: i32) {
            let mut document = json!(value);
            for name in names.iter().rev() {
                document = json!({ name: document, "other": [1] });
            }
            let escaped = names.iter().map(|name| name.replace('~', "~0").replace('/', "~1"));
            let pointer = ["/".to_owned(), escaped.collect::<Vec<_>>().join("/")].concat();
            let expected = document.pointer(&pointer).map(ToString::to_string);
            prop_assert_eq!(found(&document, &pointer), expected);
        }

        #[test]
        fn no_text_breaks_the_readers(text in ".{0,30}") {
            let _ = Path::parse(&text);
            let _ = Template::parse(&text);
        }
    }
}
