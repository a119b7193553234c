//! How a source is read, from flags or from a file of rules.

use almanack_core::source::reading::{HtmlRules, JsonRules, Reading, SitemapRules};

use crate::commands::prelude::*;

/// What the flags of each format are.
const FORMATS: [(&str, &[&str]); 4] = [
    ("feed", &[]),
    (
        "html",
        &["--item", "--title", "--link", "--date", "--summary"],
    ),
    (
        "json",
        &["--item", "--title", "--link", "--date", "--summary", "--id"],
    ),
    ("sitemap", &["--containing"]),
];

pub(super) fn reading(given: &RuleArguments) -> Result<Reading, Failure> {
    if let Some(file) = &given.rules {
        return from_file(file);
    }
    let format = given.format.as_deref().unwrap_or("feed");
    check_flags(given, format)?;
    let required =
        |flag: &str, value: &Option<String>| value.clone().ok_or_else(|| missing(format, flag));
    Ok(match format {
        "html" => Reading::Html(HtmlRules {
            item: required("--item", &given.item)?,
            title: required("--title", &given.title)?,
            link: given.link.clone(),
            date: given.date.clone(),
            summary: given.summary.clone(),
        }),
        "json" => Reading::Json(JsonRules {
            items: required("--item", &given.item)?,
            title: required("--title", &given.title)?,
            link: given.link.clone(),
            id: given.id.clone(),
            date: given.date.clone(),
            summary: given.summary.clone(),
        }),
        "sitemap" => Reading::Sitemap(SitemapRules {
            containing: given.containing.clone(),
        }),
        _ => Reading::Feed,
    })
}

/// Refuses a flag that would have no effect.
fn check_flags(given: &RuleArguments, format: &str) -> Result<(), Failure> {
    let flags = [
        ("--item", &given.item),
        ("--title", &given.title),
        ("--link", &given.link),
        ("--date", &given.date),
        ("--summary", &given.summary),
        ("--id", &given.id),
        ("--containing", &given.containing),
    ];
    let used = FORMATS.iter().find(|(name, _)| *name == format);
    let used = used.map_or(&[][..], |(_, flags)| flags);
    let mut written = flags.iter().filter(|(_, value)| value.is_some());
    let Some((flag, _)) = written.find(|(flag, _)| !used.contains(flag)) else {
        return Ok(());
    };
    let fitting = FORMATS.iter().filter(|(_, flags)| flags.contains(flag));
    let fitting: Vec<String> = fitting.map(|(name, _)| format!("--as {name}")).collect();
    let what = format!("{flag} does not apply to a {format}");
    Err(Failure::usage(what).hint(format!("it is for {}", fitting.join(" or "))))
}

fn missing(format: &str, flag: &str) -> Failure {
    let example = match format {
        "json" => "--item '$.posts[*]' --title '$.title'",
        _ => "--item article --title h2",
    };
    Failure::usage(format!("--as {format} needs {flag}"))
        .hint(format!("for example --as {format} {example}"))
}

fn from_file(file: &str) -> Result<Reading, Failure> {
    let text = read_text(file, "rules")?;
    serde_json::from_str(&text).map_err(|error| {
        let what = format!("--rules: {}", almanack_server::words::of_json(&error.to_string()));
        Failure::usage(what).hint(
            "for example {\"how\":\"html\",\"item\":\"article\",\"title\":\"h2\"}; how is html, json or sitemap",
        )
    })
}
