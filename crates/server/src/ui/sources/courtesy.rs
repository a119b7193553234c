//! The courtesy report as a page (SS-26).

use almanack_core::source::courtesy::{Counts, RequestedWaits};

use crate::sources::courtesy::{ReportQuery, ReportView, Shared, report};
use crate::ui::prelude::*;

/// Where it is.
pub(super) const PATH: &str = "/ui/sources/courtesy";

pub(crate) async fn show(Sought(state, viewer, query): Sought<ReportQuery>) -> Page {
    let lang = viewer.lang;
    let report = report(&state, &query).await?;
    let body = html! {
        p { (intro(lang)) }
        p { a href=(crate::about::ABOUT_PATH) { (lang.pick("What site operators see", "站点运营者看到的页面")) } }
        (form(lang, &query))
        (live("report", &html! {
            (section! { lang; "total", "In total", "合计"; (total(lang, &report)) })
            (section! { lang; "hosts", "By host", "按主机"; (hosts(lang, &report)) })
            (section! { lang; "days", "By day (UTC)", "按日（UTC）"; (days(lang, &report)) })
        }))
        (equivalent(&query).show(&viewer))
    };
    let title = lang.pick("Courtesy report", "礼貌报告");
    Ok(page(&viewer, Place::Sources, title, &body))
}

fn intro(lang: Lang) -> &'static str {
    lang.pick(
        "What this installation asks of other hosts, how much of it not-modified answers save, and \
         whether what publishers ask for is kept.",
        "本系统向其他主机发出的请求、未修改应答节省的流量，以及是否遵守发布者的要求。",
    )
}

fn form(lang: Lang, query: &ReportQuery) -> Markup {
    let days = query.days.map(|days| days.to_string());
    html! {
        form class="fields" action=(PATH) method="get" {
            (Field::search("host", lang.pick("Host", "主机"), query.host.as_deref()))
            (Field::text("days", lang.pick("Days, 1 to 90", "天数，1 至 90"), days.as_deref()).example("7"))
            button type="submit" { (lang.pick("Show", "显示")) }
        }
    }
}

fn equivalent(query: &ReportQuery) -> Equivalent {
    let mut words = vec!["source".to_owned(), "courtesy".to_owned()];
    for (name, value) in pairs(query) {
        words.extend([format!("--{name}"), value]);
    }
    Equivalent::call("GET", address("/api/v1/sources/courtesy", query)).cli(words)
}

fn total(lang: Lang, report: &ReportView) -> Markup {
    let Shared {
        counts,
        unchanged_share,
    } = &report.total;
    facts! { lang;
        "Days", "日期" { (report.from) " – " (report.until) }
        "Requests", "请求" { (counts.requests) }
        "Received", "接收" { (bytes(counts.bytes)) }
        "Not modified (304)", "未修改（304）" { (share(lang, *unchanged_share)) }
        "Limits met (429, 503)", "遇到限流（429、503）" { (counts.limited) }
        "Failed", "失败" { (counts.failed) }
        "Checks deferred", "推迟的检查" { (counts.waited) }
        "Requests of publishers kept", "遵守发布者要求" { (kept(lang, counts)) }
    }
}

fn hosts(lang: Lang, report: &ReportView) -> Markup {
    let of_host = |host: &str| address(PATH, [("host", host)]);
    let rows = table! { lang; "Requests by host, the most first", "各主机的请求，最多的在前";
        or "No requests in these days.", "这些天没有请求。";
        for (Shared { counts: it, unchanged_share } in &report.hosts) tr(data-row)
        "Host", "主机" { th scope="row" class="name" { a href=(of_host(&it.host)) data-open { (it.host) } } }
        "Requests", "请求" { td class="number" { (it.counts.requests) } }
        "Received", "接收" { td class="number" { (bytes(it.counts.bytes)) } }
        "Not modified", "未修改" { td { (share(lang, *unchanged_share)) } }
        "Limits", "限流" { td class="number" { (it.counts.limited) } }
        "Failed", "失败" { td class="number" { (it.counts.failed) } }
        "Deferred", "推迟" { td class="number" { (it.counts.waited) } }
        "Asked for", "发布者要求" { td { (requested(lang, &it.counts.requested)) } }
        "Kept", "已遵守" { td { (kept(lang, &it.counts)) } }
    };
    html! {
        (rows)
        @if report.more {
            p class="hint" { (lang.pick("Only the hosts with the most requests are shown.", "只显示请求最多的主机。")) }
        }
    }
}

fn days(lang: Lang, report: &ReportView) -> Markup {
    table! { lang; "Requests by day, the newest first", "每日请求，最新的在前";
        or "No requests in these days.", "这些天没有请求。";
        for (Shared { counts: it, unchanged_share } in &report.days) tr(data-row)
        "Day", "日期" { th scope="row" { (it.day) } }
        "Requests", "请求" { td class="number" { (it.counts.requests) } }
        "Received", "接收" { td class="number" { (bytes(it.counts.bytes)) } }
        "Not modified", "未修改" { td { (share(lang, *unchanged_share)) } }
        "Limits", "限流" { td class="number" { (it.counts.limited) } }
        "Failed", "失败" { td class="number" { (it.counts.failed) } }
        "Deferred", "推迟" { td class="number" { (it.counts.waited) } }
        "Kept", "已遵守" { td { (kept(lang, &it.counts)) } }
    }
}

/// A share with a small bar; the number says the same.
fn share(lang: Lang, percent: f64) -> Markup {
    let label = lang.pick("Share of not-modified answers", "未修改应答的占比");
    html! { meter min="0" max="100" value=(percent) aria-label=(label) {} " " (format!("{percent:.1} %")) }
}

fn kept(lang: Lang, counts: &Counts) -> Markup {
    let (kept, asked) = (counts.kept, counts.asked);
    html! {
        @if asked == 0 { (dash()) }
        @else { (say!(lang, "{kept} of {asked}", "{kept} / {asked}")) }
    }
}

/// What publishers asked for, the longest of each.
fn requested(lang: Lang, requested: &RequestedWaits) -> Markup {
    let wait = |seconds: u32| length(lang, SignedDuration::from_secs(seconds.into()));
    let asked = [
        ("Cache-Control", requested.cache_s.map(wait)),
        ("ttl", requested.interval_s.map(wait)),
        (
            "skipHours",
            requested.skips.then(|| lang.pick("yes", "有").to_owned()),
        ),
        ("Retry-After", requested.retry_after_s.map(wait)),
    ];
    let asked = asked
        .into_iter()
        .filter_map(|(name, wait)| Some((name, wait?)));
    let asked: Vec<String> = asked.map(|(name, wait)| format!("{name} {wait}")).collect();
    or_dash((!asked.is_empty()).then(|| asked.join(", ")))
}

/// A size for people.
pub(crate) fn bytes(bytes: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    #[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
    let mut size = bytes as f64;
    let mut unit = 0;
    while size >= 1_000.0 && unit + 1 < units.len() {
        size /= 1_000.0;
        unit += 1;
    }
    if unit == 0 {
        return format!("{bytes} B");
    }
    format!("{size:.1} {}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_for_people() {
        let sizes = [0, 999, 1_000, 123_456, 7_890_000_000];
        let shown = sizes.map(bytes);
        assert_eq!(shown, ["0 B", "999 B", "1.0 kB", "123.5 kB", "7.9 GB"]);
    }
}
