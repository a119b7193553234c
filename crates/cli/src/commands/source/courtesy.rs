//! `almanack source courtesy`: what was asked of hosts, and whether publishers' requests were kept.

use crate::commands::prelude::*;

/// The counts of a host, of a day or of everything.
const TOTAL: &[Column] = &[
    column("days, UTC", "", |it, _| {
        format!("{} to {}", text(&it["from"]), text(&it["until"])).into()
    }),
    column("requests", "/total/requests", plain),
    column("received", "/total/bytes", size),
    column("not modified", "/total/unchanged_share", share),
    column("limits met", "/total/limited", plain),
    column("failed", "/total/failed", plain),
    column("checks deferred", "/total/waited", plain),
    column("publishers' requests kept", "/total", kept),
];

/// A table of counts: what they are of, and what is known of publishers' requests.
fn counts<const N: usize>(of: Column, requests: [Column; N]) -> Vec<Column> {
    let counted = [
        of,
        column("REQUESTS", "/requests", plain),
        column("RECEIVED", "/bytes", size),
        column("304", "/unchanged_share", share),
        column("LIMITS", "/limited", plain),
        column("FAILED", "/failed", plain),
        column("DEFERRED", "/waited", plain),
    ];
    counted.into_iter().chain(requests).collect()
}

pub(super) async fn run(client: &Client, given: &CourtesyArguments, output: &mut Output) -> Done {
    let call = Call::get(&["sources", "courtesy"])
        .query("host", given.host.as_deref())
        .query("days", Some(given.days));
    let answer = client.call(call).await?;
    output.show(&answer, |output, report| {
        let now = answer.now;
        if items(&report["days"]).is_empty() {
            output.note("no requests in these days\n");
            return Ok(());
        }
        output.page(TOTAL, &report, now)?;
        let (asked, kept) = (column("ASKED FOR", "", requested), || {
            column("KEPT", "", kept)
        });
        let hosts = counts(column("HOST", "/host", plain), [asked, kept()]);
        output.section(&hosts, items(&report["hosts"]), now)?;
        let days = counts(column("DAY", "/day", plain), [kept()]);
        output.section(&days, items(&report["days"]), now)
    })
}

fn share(percent: &Value, _: Timestamp) -> Cell {
    format!("{:.1} %", percent.as_f64().unwrap_or_default()).into()
}

/// A size with one digit.
fn size(bytes: &Value, _: Timestamp) -> Cell {
    let bytes = bytes.as_f64().unwrap_or_default();
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let unit = units.into_iter().find(|(unit, _)| bytes >= *unit);
    let shown = unit.map(|(unit, name)| format!("{:.1} {name}", bytes / unit));
    shown.unwrap_or_else(|| format!("{bytes:.0} B")).into()
}

/// `12 of 12`; nothing where nothing was asked.
fn kept(counts: &Value, _: Timestamp) -> Cell {
    match counts["asked"].as_u64() {
        Some(asked @ 1..) => format!("{} of {asked}", counts["kept"]).into(),
        _ => Cell::new("-"),
    }
}

/// What publishers asked for, the longest of each.
fn requested(counts: &Value, _: Timestamp) -> Cell {
    let named = [
        ("Cache-Control", "cache_s"),
        ("ttl", "interval_s"),
        ("Retry-After", "retry_after_s"),
    ];
    let wait = |(name, key): (&str, &str)| {
        let seconds = counts[key].as_i64()?;
        let wait = when::show_duration(SignedDuration::from_secs(seconds));
        Some(format!("{name} {wait}"))
    };
    let mut asked: Vec<String> = named.into_iter().filter_map(wait).collect();
    if counts["skips"] == true {
        asked.push("skipHours".to_owned());
    }
    Cell::new(if asked.is_empty() {
        "-".to_owned()
    } else {
        asked.join(", ")
    })
}
