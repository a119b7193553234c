//! JSON by paths (RFC 9535).
//!
//! `items` finds the entries: several values, or one array of them. The other paths start at an
//! entry. Paths come from people, so how much work one can ask for is bounded: its length, and one
//! `..`, since each more multiplies the steps by the depth.

use almanack_core::source::{
    check::{Document, Failure, FailureClass},
    entry::TITLE_BYTES_MAX,
    reading::JsonRules,
};
use serde_json::Value;
use serde_json_path::JsonPath;
use url::Url;

use super::{
    date,
    draft::{self, Against, Draft},
    markup::Markup,
    rules::{self, RulesError},
};

/// The rules, ready for use.
pub(crate) struct Paths<'a> {
    rules: &'a JsonRules,
    items: JsonPath,
    title: JsonPath,
    link: Option<JsonPath>,
    id: Option<JsonPath>,
    date: Option<JsonPath>,
    summary: Option<JsonPath>,
}

impl<'a> Paths<'a> {
    pub(crate) fn parse(rules: &'a JsonRules) -> Result<Self, RulesError> {
        let optional = |name, path: &Option<String>| {
            let path = path.as_deref();
            path.map(|path| parse_path(name, path)).transpose()
        };
        Ok(Self {
            rules,
            items: parse_path("items", &rules.items)?,
            title: parse_path("title", &rules.title)?,
            link: optional("link", &rules.link)?,
            id: optional("id", &rules.id)?,
            date: optional("date", &rules.date)?,
            summary: optional("summary", &rules.summary)?,
        })
    }

    pub(crate) fn read(
        &self,
        text: &str,
        base: &Url,
        against: &Against,
    ) -> Result<Document, Failure> {
        let document = parse(text)?;
        let items = self.find_items(&document)?;
        let drafts: Vec<Draft> = items.iter().map(|item| self.draft(item)).collect();
        self.check(&drafts)?;
        Ok(draft::document(None, drafts, base, against))
    }

    fn find_items<'v>(&self, document: &'v Value) -> Result<Vec<&'v Value>, Failure> {
        let found = self.items.query(document).all();
        match found.as_slice() {
            [Value::Array(items)] => Ok(items.iter().collect()),
            [] if self.finds_an_empty_array(document) => Ok(found),
            [] => Err(nothing(
                "items",
                &self.rules.items,
                "nothing in this document",
            )),
            _ => Ok(found),
        }
    }

    /// `$.list[*]` finds nothing in an empty list, and that is no mistake.
    fn finds_an_empty_array(&self, document: &Value) -> bool {
        let items = self.rules.items.trim();
        let list = items
            .strip_suffix("[*]")
            .or_else(|| items.strip_suffix(".*"));
        let Some(Ok(list)) = list.map(|list| parse_path("items", list)) else {
            return false;
        };
        let is_empty = |value: &&Value| value.as_array().is_some_and(Vec::is_empty);
        list.query(document).all().iter().any(is_empty)
    }

    fn draft(&self, item: &Value) -> Draft {
        let pick = |path: &Option<JsonPath>| first_text(path.as_ref()?, item);
        let date = pick(&self.date);
        Draft {
            id: pick(&self.id),
            link: pick(&self.link),
            title: first_text(&self.title, item)
                .map(|title| super::text::undecorated(&title, TITLE_BYTES_MAX))
                .unwrap_or_default(),
            published_at: date.and_then(|date| date::parse(&date)),
            summary: pick(&self.summary).map(Markup::Html),
            ..Draft::default()
        }
    }

    /// An entry is known by what these rules find. One that finds nothing anywhere is a mistake,
    /// and going on would make new entries of all the old ones.
    fn check(&self, drafts: &[Draft]) -> Result<(), Failure> {
        let rules = self.rules;
        let any = |has: fn(&Draft) -> bool| drafts.is_empty() || drafts.iter().any(has);
        let known_by = [
            ("id", rules.id.as_deref(), any(|draft| draft.id.is_some())),
            (
                "link",
                rules.link.as_deref(),
                any(|draft| draft.link.is_some()),
            ),
            (
                "title",
                Some(&*rules.title),
                any(|draft| !draft.title.is_empty()),
            ),
        ];
        if let Some((name, path)) = rules::unfound(known_by) {
            let what = format!("nothing in any of the {} items", drafts.len());
            return Err(nothing(name, path, &what));
        }
        Ok(())
    }
}

fn nothing(name: &str, path: &str, what: &str) -> Failure {
    let detail = format!("the path `{path}` for `{name}` finds {what}");
    Failure::new(FailureClass::Rules, detail)
}

/// A path; a bare name is one, too.
fn parse_path(name: &'static str, path: &str) -> Result<JsonPath, RulesError> {
    rules::check(name, path)?;
    let path = path.trim();
    if path.matches("..").count() > 1 {
        return Err(RulesError::TooWide { name });
    }
    let rooted = if path.starts_with('$') {
        path.to_owned()
    } else {
        format!("$.{path}")
    };
    JsonPath::parse(&rooted).map_err(|error| RulesError::Path {
        name,
        path: path.to_owned(),
        reason: error.message().to_owned(),
    })
}

/// Reads JSON that must not break off.
pub(crate) fn parse(text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text).map_err(|error| {
        let detail = if error.is_eof() {
            "the JSON breaks off before its end".to_owned()
        } else {
            format!(
                "this is not JSON at line {}, column {}",
                error.line(),
                error.column()
            )
        };
        Failure::new(FailureClass::Malformed, detail)
    })
}

fn first_text(path: &JsonPath, item: &Value) -> Option<String> {
    path.query(item).all().into_iter().find_map(text)
}

/// A value as text: ids and times are often numbers.
pub(crate) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
