//! What a parser says, in sentences: which field is wrong, what was expected, what was found.
//!
//! serde speaks English, names types as Rust does (`struct PutBody`, `i64`) and counts columns. A
//! client knows objects, arrays and numbers, and looks for a field by its name. serde's messages
//! are text, so they are taken apart here; one that is not known stays as it is. What a message
//! quotes from the request is never changed.
//!
//! Types of ours that read themselves refuse a value in both languages ([`refuse`]).

use std::fmt::Display;

use serde::de;

use super::{Say, Sentence};
use crate::both;

/// Where a message of serde's JSON reader names the place.
const PLACE: &str = " at line ";
const EXPECTED: &str = ", expected ";

/// Refuses a value that is being read, in both languages: [`of_value`] separates them, and so
/// does [`in_english`] for whoever shows serde's message as it is.
pub fn refuse<E: de::Error>(why: &impl Say) -> E {
    E::custom(why.both().to_stored())
}

/// serde's message without the Chinese text that [`refuse`] adds.
pub fn in_english(message: &impl Display) -> String {
    Sentence::from_stored(&message.to_string()).to_string()
}

/// What is wrong with a JSON document, at a path like `callback.url`; `.` is the whole.
pub fn of_json(path: &str, error: &serde_json::Error) -> Sentence {
    if error.is_data() {
        return of_value(path, &unplaced(error));
    }
    both!("not JSON: ", "不是 JSON：").joined(&of_syntax(error))
}

/// What is wrong with the text of a JSON document, and where.
pub fn of_syntax(error: &serde_json::Error) -> Sentence {
    let (line, column) = (error.line(), error.column());
    let what = unplaced(error);
    let (what, what_zh) = syntax(&what);
    if column == 0 {
        return Sentence::new(what, what_zh);
    }
    if line == 1 {
        return both!("{what} (column {column})", "{what_zh}（第 {column} 列）");
    }
    both!(
        "{what} (line {line}, column {column})",
        "{what_zh}（第 {line} 行第 {column} 列）"
    )
}

/// The message without its place.
fn unplaced(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rsplit_once(PLACE) {
        Some((what, _)) => what.to_owned(),
        None => message,
    }
}

fn syntax(what: &str) -> (&str, &str) {
    match what {
        it if it.starts_with("EOF") => ("it ends too early", "内容不完整"),
        "trailing characters" => ("more follows after its end", "结尾之后还有内容"),
        "trailing comma" => ("a comma too many", "多了一个逗号"),
        "key must be a string" => ("a key must be in double quotes", "键必须用双引号括起"),
        "recursion limit exceeded" => ("nested too deeply", "嵌套过深"),
        it if it.starts_with("control character") => (
            "a control character in a string must be escaped",
            "字符串中的控制字符必须转义",
        ),
        it if it.contains("escape") || it.contains("surrogate") || it.contains("unicode") => {
            ("invalid escape in a string", "字符串中的转义无效")
        }
        it if it.contains("number") => ("invalid number", "数字无效"),
        it if it.starts_with("expected") => ("unexpected character", "意外的字符"),
        it => (it, it),
    }
}

/// What is wrong with a value at a path, by serde's message.
pub fn of_value(path: &str, what: &str) -> Sentence {
    if let Some(name) = quoted(what, "missing field ") {
        let field = below(path, name);
        return both!("`{field}` is missing", "缺少 `{field}`");
    }
    if let Some(name) = quoted(what, "duplicate field ") {
        let field = below(path, name);
        return both!("duplicate field `{field}`", "字段 `{field}` 重复");
    }
    let sentence = if let Some((name, known)) = unknown(what, "unknown field ") {
        let field = below(path, name);
        return both!("unknown field `{field}`", "未知的字段 `{field}`").joined(&known);
    } else if let Some((value, known)) = unknown(what, "unknown variant ") {
        both!("unknown value `{value}`", "未知的值 `{value}`").joined(&known)
    } else {
        mismatch(what).unwrap_or_else(|| Sentence::from_stored(what))
    };
    match path {
        "." => sentence,
        path => both!("`{path}`: ", "`{path}`：").joined(&sentence),
    }
}

/// What is wrong with a query or a form, by serde's message; a path may precede it.
pub fn of_query(message: &str) -> Sentence {
    let is_name = |text: &&str| {
        text.bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
    };
    let split = message.split_once(": ").filter(|(path, _)| is_name(path));
    let (path, what) = split.unwrap_or((".", message));
    if let Some((name, known)) = unknown(what, "unknown field ") {
        return both!("unknown parameter `{name}`", "未知的参数 `{name}`").joined(&known);
    }
    if let Some(name) = quoted(what, "duplicate field ") {
        return both!("parameter given twice: `{name}`", "参数重复：`{name}`");
    }
    let rule = match what {
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            both!("must be a whole number", "必须是整数")
        }
        "number too large to fit in target type" => both!("is too large a number", "数字过大"),
        "number too small to fit in target type" => both!("is too small a number", "数字过小"),
        "invalid float literal" => both!("must be a number", "必须是数字"),
        it if it.starts_with("provided string was not") => {
            both!("must be true or false", "必须是 true 或 false")
        }
        _ => return of_value(path, what),
    };
    let name = match path {
        "." => both!("a parameter ", "参数"),
        path => both!("`{path}` ", "`{path}` "),
    };
    name.joined(&rule)
}

/// The name behind the beginning of a message.
fn quoted<'a>(what: &'a str, begin: &str) -> Option<&'a str> {
    what.strip_prefix(begin)?
        .strip_prefix('`')?
        .strip_suffix('`')
}

/// The unknown name, and which are known.
fn unknown<'a>(what: &'a str, begin: &str) -> Option<(&'a str, Sentence)> {
    let rest = what.strip_prefix(begin)?.strip_prefix('`')?;
    let Some((name, known)) = rest.rsplit_once("`, expected ") else {
        let (name, _) = rest.rsplit_once("`, there are no ")?;
        return Some((name, both!("; none is known", "；不接受任何名称")));
    };
    let known = known.strip_prefix("one of ").unwrap_or(known);
    let listed = known.replace("` or `", "`, `");
    let listed_zh = listed.replace("`, `", "`、`");
    Some((name, both!("; known: {listed}", "；可用：{listed_zh}")))
}

/// A value of another type or out of range.
fn mismatch(what: &str) -> Option<Sentence> {
    let (found, expected) = what.rsplit_once(EXPECTED)?;
    let is_large = found.starts_with("invalid value");
    let expected = match expected {
        "i64" if is_large => Known::Pair(
            "a whole number up to 9223372036854775807",
            "不大于 9223372036854775807 的整数",
        ),
        other => type_named(other),
    };
    let found = found.split_once(": ").map(|(_, found)| value_named(found));
    let (en, zh) = (expected.english(), expected.chinese());
    Some(match found {
        None => both!("expected {en}", "应为{zh}"),
        Some((found, found_zh)) => {
            both!("expected {en}, found {found}", "应为{zh}，实为{found_zh}")
        }
    })
}

/// A text that may have a Chinese one.
enum Known<'a> {
    Pair(&'a str, &'a str),
    English(&'a str),
}

impl Known<'_> {
    fn english(&self) -> &str {
        match self {
            Self::Pair(it, _) | Self::English(it) => it,
        }
    }

    fn chinese(&self) -> String {
        match self {
            Self::Pair(_, it) => (*it).to_owned(),
            Self::English(it) => format!(" {it} "),
        }
    }
}

/// A type by its JSON name.
fn type_named(rust: &str) -> Known<'_> {
    match rust {
        "i8" | "i16" | "i32" | "i64" | "isize" => Known::Pair("a whole number", "整数"),
        "u8" | "u16" | "u32" | "u64" | "usize" => {
            Known::Pair("a whole number, 0 or more", "不小于 0 的整数")
        }
        "f32" | "f64" => Known::Pair("a number", "数字"),
        "a boolean" => Known::Pair("true or false", " true 或 false"),
        "a string" | "a borrowed string" | "variant identifier" => {
            Known::Pair("a string", "字符串")
        }
        "string or map" => Known::Pair("a string or a JSON object", "字符串或 JSON 对象"),
        "a sequence" => Known::Pair("a JSON array", " JSON 数组"),
        "a map" => Known::Pair("a JSON object", " JSON 对象"),
        it if [
            "struct ",
            "internally tagged enum ",
            "adjacently tagged enum ",
        ]
        .iter()
        .any(|begin| it.starts_with(begin)) =>
        {
            Known::Pair("a JSON object", " JSON 对象")
        }
        it => Known::English(it),
    }
}

/// A value that was found, by its JSON name.
fn value_named(found: &str) -> (String, String) {
    let same = |it: &str| (it.to_owned(), format!(" {it}"));
    let both = |en: &str, zh: &str| (en.to_owned(), zh.to_owned());
    match found {
        "null" | "unit value" => same("null"),
        "sequence" => both("an array", "数组"),
        "map" => both("an object", "对象"),
        _ => match found.split_once(' ') {
            Some(("string", text)) => (format!("the string {text}"), format!("字符串 {text}")),
            Some(("integer" | "float", number)) => numbered(number),
            Some(("floating", rest)) => numbered(rest.trim_start_matches("point ")),
            Some(("boolean", truth)) => same(truth),
            _ => same(found),
        },
    }
}

fn numbered(number: &str) -> (String, String) {
    (format!("the number {number}"), format!("数字 {number}"))
}

/// A field's path.
fn below(path: &str, name: &str) -> String {
    match path {
        "." => name.to_owned(),
        // Of an unknown field, the path is known to its end.
        path if path == name || path.ends_with(&format!(".{name}")) => path.to_owned(),
        path => format!("{path}.{name}"),
    }
}

#[cfg(test)]
mod tests;
