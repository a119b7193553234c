//! Parses values: one function per shape.

use std::{net::SocketAddr, ops::RangeInclusive};

use almanack_core::address;
use jiff::SignedDuration;
use url::Url;

use super::{
    layer::Raw,
    report::{Place, Problem},
    secret::{has_password, without_password},
};
use crate::{suggest, when};

/// The result of reading a value.
pub(crate) type Read<T> = Result<T, Problem>;

/// The text, if it fits; otherwise what is wrong with it.
pub(crate) fn fitting(
    text: &str,
    fits: bool,
    what: impl Into<String>,
    hint: impl Into<String>,
) -> Read<String> {
    if fits {
        return Ok(text.to_owned());
    }
    Err(Problem::new(what, hint))
}

/// What to write instead of an unknown name.
pub(crate) fn known(given: &str, names: &[&str]) -> String {
    if let Some(near) = suggest::nearest(given, names.iter().copied()) {
        return format!("did you mean `{near}`?");
    }
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("use one of {}", quoted.join(", "))
}

fn mismatch(expected: &str, raw: &Raw, example: &str) -> Problem {
    Problem::new(
        format!("expected {expected}, found {}", raw.name()),
        format!("for example {example}"),
    )
}

/// The text, or that something else was expected.
fn text_or<'a>(raw: &'a Raw, expected: &str, example: &str) -> Read<&'a str> {
    let text = raw.as_text();
    text.ok_or_else(|| mismatch(expected, raw, example))
}

/// Text that is not empty.
pub(crate) fn text(raw: &Raw) -> Read<String> {
    match raw.as_text() {
        Some("") => Err(Problem::new(
            "expected text, found nothing",
            "remove the key instead",
        )),
        Some(text) => Ok(text.to_owned()),
        None => Err(mismatch("text", raw, "\"some text\"; put text in quotes")),
    }
}

/// A duration within bounds.
pub(crate) fn duration(
    bounds: RangeInclusive<SignedDuration>,
) -> impl Fn(&Raw) -> Read<SignedDuration> {
    move |raw| {
        if let Raw::Number(number) = raw {
            let hint = format!("did you mean \"{number}s\"?");
            return Err(Problem::new(
                "expected a duration, found a number without a unit",
                hint,
            ));
        }
        let text = text_or(raw, "a duration", "\"30s\"")?;
        let found = when::parse_duration(text)
            .map_err(|unclear| Problem::new(unclear.what, unclear.hint))?;
        if bounds.contains(&found) {
            return Ok(found);
        }
        let (least, most) = (
            when::show_duration(*bounds.start()),
            when::show_duration(*bounds.end()),
        );
        Err(Problem::new(
            format!("`{text}` is out of range"),
            format!("write {least} to {most}"),
        ))
    }
}

/// A whole number within bounds.
pub(crate) fn count<T>(bounds: RangeInclusive<T>) -> impl Fn(&Raw) -> Read<T>
where
    T: TryFrom<i64> + PartialOrd + std::fmt::Display,
{
    move |raw| {
        let number = match raw {
            Raw::Number(number) => *number,
            Raw::Bare(text) => text.trim().parse().map_err(|_| {
                Problem::new(format!("`{text}` is not a whole number"), "for example 64")
            })?,
            Raw::Text(text) if text.parse::<i64>().is_ok() => {
                let hint = format!("remove the quotes: {text}");
                return Err(Problem::new("expected a number, found text", hint));
            }
            other => return Err(mismatch("a whole number", other, "64")),
        };
        T::try_from(number)
            .ok()
            .filter(|count| bounds.contains(count))
            .ok_or_else(|| {
                let hint = format!("write {} to {}", bounds.start(), bounds.end());
                Problem::new(format!("{number} is out of range"), hint)
            })
    }
}

/// `true` or `false`.
pub(crate) fn truth(raw: &Raw) -> Read<bool> {
    match raw {
        Raw::Truth(truth) => Ok(*truth),
        Raw::Bare(text) if text == "true" => Ok(true),
        Raw::Bare(text) if text == "false" => Ok(false),
        other => Err(Problem::new(
            format!("expected true or false, found {}", other.name()),
            "write true or false, without quotes",
        )),
    }
}

/// One of a few words that mean something.
pub(crate) fn choice<T: Copy>(words: &'static [(&'static str, T)]) -> impl Fn(&Raw) -> Read<T> {
    move |raw| {
        let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
        Ok(words[word(raw, &names)?].1)
    }
}

/// Which of a few words it is.
pub(crate) fn word(raw: &Raw, words: &[&str]) -> Read<usize> {
    let listed: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    let listed = listed.join(" or ");
    let text = text_or(raw, "text", &listed)?;
    if let Some(found) = words.iter().position(|word| *word == text) {
        return Ok(found);
    }
    let hint = suggest::nearest(text, words.iter().copied()).map_or_else(
        || format!("write {listed}"),
        |near| format!("did you mean \"{near}\"?"),
    );
    Err(Problem::new(
        format!("`{text}` is not one of {listed}"),
        hint,
    ))
}

/// Several texts: a list in the file, separated by commas elsewhere.
pub(crate) fn texts<T>(item: impl Fn(&str) -> Read<T>) -> impl Fn(&Raw) -> Read<Vec<T>> {
    move |raw| match raw {
        Raw::Bare(text) => text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(&item)
            .collect(),
        Raw::List(items) => {
            let each = items.iter().map(|(raw, span)| {
                let text = text_or(raw, "text", "\"text\"");
                let at_item = |problem| Problem {
                    place: Some(Place::File { span: span.clone() }),
                    ..problem
                };
                text.and_then(&item).map_err(at_item)
            });
            each.collect()
        }
        other => Err(mismatch("a list", other, "[\"one\", \"two\"]")),
    }
}

/// An address to listen on.
pub(crate) fn socket(raw: &Raw) -> Read<SocketAddr> {
    let text = text_or(raw, "an address", "\"127.0.0.1:8080\"")?;
    text.parse().map_err(|_| {
        let hint = match text.rsplit_once(':') {
            Some((host, port))
                if port.parse::<u16>().is_ok() && matches!(host, "" | "localhost") =>
            {
                format!("did you mean \"127.0.0.1:{port}\"?")
            }
            Some((host, _)) if host.parse::<std::net::IpAddr>().is_ok() => {
                "a port is 0 to 65535".to_owned()
            }
            _ => "write address and port, like \"127.0.0.1:8080\" or \"[::1]:8080\"".to_owned(),
        };
        Problem::new(format!("`{text}` is not an address to listen on"), hint)
    })
}

/// A host name as a browser sends it, with or without a port.
pub(crate) fn host(text: &str) -> Read<String> {
    let fits = !text.is_empty() && !text.contains(|c: char| c == '/' || c.is_whitespace());
    let hint = "write only the name, without http:// and path, like \"almanack.example.org\"";
    let text = text.to_ascii_lowercase();
    fitting(&text, fits, format!("`{text}` is not a host name"), hint)
}

/// An http(s) address that can be called.
pub(crate) fn web_address(raw: &Raw) -> Read<Url> {
    let example = "\"https://articles.example.org/publish\"";
    let text = text_or(raw, "an address", example)?;
    let shown = without_password(text);
    let url = Url::parse(text).map_err(|error| {
        Problem::new(
            format!("`{shown}` is not an address: {error}"),
            format!("for example {example}"),
        )
    })?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        let what = format!("`{shown}` is not a web address");
        return Err(Problem::new(what, "start it with http:// or https://"));
    }
    if has_password(text) || !url.username().is_empty() {
        let hint = "remove them; receivers verify the caller by the signature";
        return Err(Problem::new(
            "an address must not contain a user name or a password",
            hint,
        ));
    }
    address::check(&url).map_err(|refusal| Problem::error(refusal.to_string(), None))?;
    Ok(url)
}
