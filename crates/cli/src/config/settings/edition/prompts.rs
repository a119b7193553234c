//! `[edition.prompts]`: the prompts that a model gets, in the operator's words (ED-36).

use std::collections::BTreeMap;

use almanack_adapters::model;
use almanack_core::edition::prompts::{BadPrompt, Kind, Prompts};

use super::super::prelude::*;

const SECTION: &str = PromptKeys::NAME;
sections! { PromptKeys }

settings! {
    /// The prompts that models get; `almanack edition prompts` shows the prompts in force.
    struct PromptKeys in "edition.prompts" {
        /// Prompt for titles, with `{format}` and `{data}` in it, and `{language}` if you like.
        /// 标题的提示词，须含 `{format}` 和 `{data}`，可含 `{language}`。
        titles: Option<Worded> = worded().unset("(built in)");
        /// Prompt for summaries of pages, with `{data}`, and `{language}` and `{chars}` if you like.
        /// 网页摘要的提示词，须含 `{data}`，可含 `{language}` 和 `{chars}`。
        summary: Option<Worded> = worded().unset("(built in)");
        /// Prompt for summaries of comments, with the placeholders of `summary`.
        /// 评论摘要的提示词，占位符同 `summary`。
        comments: Option<Worded> = worded().unset("(built in)");
        /// Prompt for the overview, with the placeholders of `summary`.
        /// 导语的提示词，占位符同 `summary`。
        overview: Option<Worded> = worded().unset("(built in)");
        /// Prompt of the content filter, with `{format}` and `{data}`, and `{refused}` for the level's words.
        /// 内容过滤的提示词，须含 `{format}` 和 `{data}`，可用 `{refused}` 引用所选级别的说明。
        filter: Option<Worded> = worded().unset("(built in)");
    }
}

/// A prompt as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Worded(String);

impl Show for Worded {
    /// In one line, all of it: a changed prompt is a changed setting.
    fn show(&self) -> String {
        format!("{:?}", self.0)
    }
}

fn worded() -> Form<Worded> {
    text_as(|text| Ok(Worded(text.to_owned())))
}

/// The prompts of an edition. Those of nobody are reported: without a model nothing is asked.
pub(super) fn read(reader: &mut Reader<'_>, has_model: bool) -> Prompts {
    let keys = PromptKeys::read(reader);
    let given = [
        (Kind::Titles, "titles", keys.titles),
        (Kind::Summary, "summary", keys.summary),
        (Kind::Comments, "comments", keys.comments),
        (Kind::Overview, "overview", keys.overview),
        (Kind::Filter, "filter", keys.filter),
    ];
    let mut own = BTreeMap::new();
    for (kind, name, worded) in given {
        let (Some(Worded(text)), path) = (worded, KeyPath::plain(SECTION, name)) else {
            continue;
        };
        if !has_model {
            let hint = "set edition.model.provider; without a model nothing is asked";
            reader.warn(format!("{path} has no effect"), path.clone(), hint);
        }
        match kind.check(&text) {
            Ok(()) => drop(own.insert(kind, text)),
            Err(bad) => refuse(reader, kind, &path, &bad),
        }
    }
    model::prompts(&own)
}

fn refuse(reader: &mut Reader<'_>, kind: Kind, path: &KeyPath, bad: &BadPrompt) {
    let (must, may) = kind.placeholders();
    let place = match bad {
        BadPrompt::Unknown(name) => place_of(reader, path, &format!("{{{name}}}")),
        BadPrompt::Missing(_) | BadPrompt::Long => None,
    };
    let written = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| format!("{{{name}}}")).collect();
        names.join(" and ")
    };
    let hint = match bad {
        BadPrompt::Long => {
            "the text it is about is sent after it, and is not part of it".to_owned()
        }
        _ => format!("it needs {}, and may have {}", written(must), written(may)),
    };
    let problem = Problem::new(bad.to_string(), hint);
    reader.complain::<()>(path, Problem { place, ..problem });
}

/// Where in a value of the file a text is.
fn place_of(reader: &Reader<'_>, path: &KeyPath, text: &str) -> Option<Place> {
    let Some(Place::File { span }) = reader.place(path) else {
        return None;
    };
    let value = reader.source.as_ref()?.text().get(span.clone())?;
    let start = span.start + value.find(text)?;
    let span = start..start + text.len();
    Some(Place::File { span })
}
