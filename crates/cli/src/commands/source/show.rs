//! `almanack source show`: everything about one source on one screen.

use almanack_core::source::reading::Reading;

use super::{PUBLISHED, called, clock_off, load};
use crate::{commands::prelude::*, when::Relative};

const ENTRIES_MAX: usize = 10;

const HEAD: &[Column] = &[
    column("source", "/source_id", plain),
    column("address", "/address", plain),
    column("read as", "/reading", |reading, _| {
        let read = serde_json::from_value::<Reading>(reading.clone());
        let words = read.map_or_else(|_| reading.to_string(), |it| it.to_string());
        words.into()
    }),
    column("state", "", standing),
    column("needs attention", "/attention", bad),
    column("category", "/category", plain),
    column("policy", "/policy", |policy, _| {
        format!("{} (its own)", text(policy)).into()
    }),
    column("options", "/options", options),
    column("publishes", "", publishes),
    column("newest entry", "/last_article_at", moment),
    column("last check", "", last_check),
    column("failed", "", |it, _| {
        let times = match it["fail_count"].as_u64() {
            Some(1) => "once".to_owned(),
            times => format!("{} times in a row", times.unwrap_or_default()),
        };
        let error = it["last_error"].as_str();
        Cell::new(error.map_or_else(String::new, |error| format!("{times}: {error}")))
    }),
    column("waits until", "/backoff_until", moment),
    column("moves", "/moving", |it, _| {
        let (address, times) = (text(&it["address"]), &it["times"]);
        format!("to {address} (redirected {times} times)").into()
    }),
    column("clock", "/clock_ahead_s", |it, _| {
        let off = it.as_i64().map(clock_off);
        Cell::new(off.map_or_else(String::new, |off| {
            format!("{off}; new entries are corrected")
        }))
    }),
    column("push", "/hub", push),
    column("added", "/created_at", at),
    column("next check", "", next),
];

const ENTRIES: &[Column] = &[
    column("SEEN", "/seen_at", at),
    PUBLISHED,
    column("NEWEST ENTRIES", "/title", plain),
];

pub(super) async fn run(client: &Client, given: &SourceArguments, output: &mut Output) -> Done {
    let source = load(client, &given.id).await?;
    if output.is_reported(&source.answer)? {
        return Ok(Exit::Ok);
    }
    let (mut whole, now) = (source.now.clone(), source.answer.now);
    let subject = format!("source:{}", source.id);
    let task = client
        .find(Call::get(&["tasks", "SOURCE_CHECK", &subject]))
        .await?;
    whole["task"] = task.map_or(Value::Null, |task| task.value());
    output.line(&called(&whole))?;
    output.page(HEAD, &whole, now)?;
    show_looks(items(&whole["recent"]), now, output)?;
    let call = source.get("entries").query("limit", Some(ENTRIES_MAX));
    let entries = client.call(call).await?.value();
    output.section(ENTRIES, items(&entries["entries"]), now)?;
    Ok(Exit::Ok)
}

fn standing(source: &Value, _: Timestamp) -> Cell {
    let (paused, ended) = (&source["paused"], &source["ended"]);
    Cell::new(match source["state"].as_str().unwrap_or_default() {
        "paused" => {
            let note = paused["note"].as_str().map(|note| format!(": {note}"));
            let (since, note) = (instant_of(&paused["since"]), note.unwrap_or_default());
            format!("paused since {since}{note}")
        }
        "ended" => {
            let (since, reason) = (instant_of(&ended["since"]), text(&ended["reason"]));
            format!("ended at {since}: {reason}")
        }
        state => state.to_owned(),
    })
}

/// What was set besides, one part after the other. References to secrets are shown, never secrets.
fn options(options: &Value, _: Timestamp) -> Cell {
    let fetch = &options["fetch"];
    let headers = fetch["headers"].as_object().into_iter().flatten();
    let mut parts: Vec<String> = headers
        .map(|(name, value)| format!("header {name}: {}", text(value)))
        .collect();
    let texts = [
        ("bearer", &fetch["bearer"]),
        ("user", &fetch["user"]),
        ("password", &fetch["password"]),
        ("proxy", &fetch["proxy"]),
        ("user agent", &fetch["user_agent"]),
        ("robots.txt", &fetch["robots"]),
        ("full text", &options["full_text"]),
        ("site", &options["site"]),
        ("from the configuration file", &options["from_file"]),
    ];
    let texts = texts.into_iter().filter(|(_, value)| !value.is_null());
    parts.extend(texts.map(|(name, value)| match value.as_bool() {
        Some(true) => name.to_owned(),
        Some(false) => format!("no {name}"),
        None => format!("{name} {}", text(value)),
    }));
    for (name, lines) in [("rule", "filters"), ("failure text", "error_texts")] {
        let lines = items(&options[lines]).iter();
        parts.extend(lines.map(|line| format!("{name} `{}`", text(line))));
    }
    parts.join("; ").into()
}

/// How often and when, in the classic words.
fn publishes(source: &Value, _: Timestamp) -> Cell {
    let by_hand = source["cadence_by_hand"].as_str();
    let known = source["frequency_type"]
        .as_str()
        .zip(source["cadence"].as_str());
    let Some((frequency, cadence)) = known else {
        let set = by_hand.map(|cadence| format!("; cadence {cadence} by hand"));
        return Cell::new(format!("not known yet{}", set.unwrap_or_default()));
    };
    let by_hand = if by_hand.is_some() { " by hand" } else { "" };
    let (mean, spread) = (&source["avg_publish_hour"], &source["std_publish_hour"]);
    let hour = match (mean.as_f64(), spread.as_f64()) {
        (Some(mean), Some(spread)) => format!(", around {} UTC ± {spread:.1} h", clock(mean)),
        _ => String::new(),
    };
    Cell::new(format!("{frequency}, cadence {cadence}{by_hand}{hour}"))
}

/// An hour of the day as a clock shows it.
fn clock(hour: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an hour of the day is small and not negative"
    )]
    let minutes = (hour * 60.0).round() as u32 % 1_440;
    format!("{:02}:{:02}", minutes / 60, minutes % 60)
}

fn last_check(source: &Value, now: Timestamp) -> Cell {
    let Some(at) = time(&source["last_check_at"]) else {
        return Cell::new("never");
    };
    let (checks, hits) = (&source["check_count"], &source["hit_count"]);
    let rate = source["hit_rate"].as_f64().unwrap_or_default();
    Cell::new(format!(
        "{}; {checks} so far, {hits} found something ({rate:.0} %)",
        moment_of(at, now)
    ))
}

/// How far the subscription at its hub is.
fn push(hub: &Value, now: Timestamp) -> Cell {
    let moment = |name: &str, words: &str| {
        let at = time(&hub[name]).map(|at| format!("{words} {}", moment_of(at, now)));
        at.unwrap_or_default()
    };
    let refused = hub["refused"].as_str().map(|why| format!(": {why}"));
    Cell::new(format!(
        "{}{}{}{} ({})",
        text(&hub["state"]),
        moment("leased_until", ", lease until"),
        moment("pushed_at", "; last push"),
        refused.unwrap_or_default(),
        text(&hub["hub"])
    ))
}

/// The next check; the task knows best.
fn next(source: &Value, now: Timestamp) -> Cell {
    let task = &source["task"];
    let why = source["reason"].as_str().map(|why| format!("; {why}"));
    let live = task["live"] == true;
    Cell::new(match source["state"].as_str().unwrap_or_default() {
        "active" if live && task["status"] == "RUNNING" => "running now".to_owned(),
        "active" if live => {
            let at = time(&task["execute_at"]).unwrap_or(now);
            format!("{}{}", moment_of(at, now), why.unwrap_or_default())
        }
        "active" => "soon: a node will schedule it again".to_owned(),
        "paused" => "after you resume it".to_owned(),
        _ => "never, unless you resume it".to_owned(),
    })
}

/// The last checks as a strip, a mark each, newest on the right.
fn show_looks(looks: &[Value], now: Timestamp, output: &mut Output) -> Result<()> {
    let Some(at) = looks.last().and_then(|first| time(&first["at"])) else {
        return Ok(());
    };
    output.line("")?;
    let mut strip = String::new();
    for look in looks.iter().rev() {
        let (mark, ink) = match look["outcome"].as_str().unwrap_or_default() {
            "new" => ("+", Ink::Good),
            "nothing" => ("·", Ink::Plain),
            "unchanged" => ("-", Ink::Faint),
            _ => ("!", Ink::Bad),
        };
        strip += &output.paint(ink, mark);
    }
    let range = match looks.len() {
        1 => "the last check".to_owned(),
        many => format!("the last {many} checks, since"),
    };
    output.line(&format!("{strip}  {range} {}", Relative { at, now }))?;
    let legend = "+ new entries  · nothing new  - not modified  ! failed";
    output.line(&output.paint(Ink::Faint, legend))
}
