//! The public page about our requests, for people who found us in the log of their server.
//!
//! It answers what they want to know without asking us: who operates this, how often it asks, and
//! how to be left alone. Of what is checked it shows sums only; the hosts are nobody's business.

use std::sync::{Mutex, PoisonError};

use almanack_core::host_pace::Pace;
use almanack_core::source::courtesy::{Counts, Day};
use almanack_core::source::robots::AGENT;
use almanack_core::store::CourtesyQuery;

use crate::about::About;
use crate::ui::prelude::*;

/// How long a sum is shown: readers of a public page cost no more than one query in this time.
const KEPT_FOR: SignedDuration = SignedDuration::from_secs(60);

/// Today's sum, as last loaded.
#[derive(Default)]
pub(crate) struct Today(Mutex<Option<(Timestamp, Counts)>>);

impl Today {
    async fn counts(&self, state: &AppState, now: Timestamp) -> Result<Counts> {
        let known = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, counts)) = known
            && (SignedDuration::ZERO..KEPT_FOR).contains(&now.duration_since(at))
        {
            return Ok(counts);
        }
        let query = CourtesyQuery {
            from: Day::of(now),
            host: None,
            limit: 0,
        };
        let mut counts = Counts::default();
        for day in state.store.load_courtesy_days(&query).await? {
            counts.add(&day.counts);
        }
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, counts));
        Ok(counts)
    }
}

pub(crate) async fn show(
    Extension(today): Extension<Arc<Today>>,
    State(state): App,
    viewer: Viewer,
) -> Page {
    let lang = viewer.lang;
    let counts = today.counts(&state, viewer.now).await?;
    let body = html! {
        p { (lang.pick(
            "Almanack checks feeds and pages that its users have added, and keeps what is new.",
            "Almanack 检查用户添加的订阅源和网页，并保留新内容。")) }
        (section("operator", lang.pick("Who operates this", "由谁运营"), &operator(lang, &state.about)))
        (section("pace", lang.pick("How often it asks", "请求频率"), &pace(lang, &state)))
        (section("away", lang.pick("How to be left alone", "如何拒绝请求"), &ways(lang)))
        (section("today", lang.pick("Today, all hosts together", "今日合计（所有主机）"), &sums(lang, &counts)))
    };
    let title = lang.pick("About our requests", "关于我们的请求");
    Ok(page(&viewer, Place::Elsewhere, title, &body))
}

fn operator(lang: Lang, about: &About) -> Markup {
    html! {
        @match about.contact.as_deref() {
            Some(contact) if contact.contains("://") => p { (outside(contact, contact)) },
            Some(contact) => p { (contact) },
            None => p { (lang.pick(
                "The operator has given no contact. The address of this page belongs to them.",
                "运营者未提供联系方式；本页面的地址属于运营者。")) },
        }
    }
}

fn pace(lang: Lang, state: &AppState) -> Markup {
    let Pace {
        at_once,
        requests,
        per,
    } = state.about.pace;
    let per = length(lang, per);
    let floor = length(lang, state.sources.fleet.settings().floor);
    html! { ul {
        li { (say!(lang; "Each address at most once in {floor}, and less often if it publishes rarely.",
            "同一地址最多每 {floor} 请求一次；更新较少的地址间隔更长。")) }
        li { (say!(lang; "One host: at most {at_once} at a time, {requests} within {per}.",
            "同一主机：并发最多 {at_once} 个，{per}内最多 {requests} 个。")) }
        li { (lang.pick(
            "Unchanged documents are not sent again (ETag, Last-Modified); answers may be compressed.",
            "未修改的文档不重复传输（ETag、Last-Modified），应答可以压缩。")) }
        li { (lang.pick(
            "Cache-Control, Expires, ttl, skipHours, skipDays and Retry-After are respected.",
            "遵守 Cache-Control、Expires、ttl、skipHours、skipDays 和 Retry-After。")) }
    } }
}

fn ways(lang: Lang) -> Markup {
    html! { ul {
        li { (say!(lang; "Pages: a group for {AGENT} in robots.txt is respected, and so is Crawl-delay.",
            "网页：遵守 robots.txt 中针对 {AGENT} 的规则以及 Crawl-delay。")) }
        li { (lang.pick(
            "For a while: answer 429 with Retry-After; the whole host is left alone until then.",
            "暂时：返回 429 和 Retry-After，在此之前不再请求整个主机。")) }
        li { (lang.pick("For good: answer 410 Gone.", "永久：返回 410 Gone。")) }
        li { (lang.pick("Otherwise, write to the operator.", "其他情况请联系运营者。")) }
    } }
}

fn sums(lang: Lang, counts: &Counts) -> Markup {
    facts! { lang;
        "Requests", "请求" { (counts.requests) }
        "Not modified (304)", "未修改（304）" { (counts.unchanged) }
        "Limits met (429, 503)", "遇到限流（429、503）" { (counts.limited) }
    }
}
