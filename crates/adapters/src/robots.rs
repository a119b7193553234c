//! `robots.txt`, fetched and remembered (RFC 9309).
//!
//! A site's file is fetched once a day at most, through the one HTTP client, within the same visit
//! as the page it is needed for: the host's pace does not notice it. What it means is decided in
//! [`almanack_core::source::robots`]; here is what its absence means:
//!
//! | answer | means |
//! | --- | --- |
//! | 2xx | its rules, for a day |
//! | 4xx | no rules: everything is allowed, for a day |
//! | 429, 5xx, none | everything is forbidden until it can be read, but for a week at most; rules that were read earlier stay |
//!
//! The memory is bounded in files and in bytes; the file read longest ago goes first.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use almanack_core::source::robots::Rules;
use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use url::Url;

use crate::{
    http::{Client, Counting, Denied, Error, HostAdmission, Limits, Proxy, Request},
    locked,
};

/// How long a file is believed.
const FRESH_FOR: SignedDuration = SignedDuration::from_hours(24);
/// When a file that could not be read is tried again.
const AGAIN_AFTER: SignedDuration = SignedDuration::from_mins(10);
/// How long a file that cannot be read keeps us away. The RFC suggests a month; the node forgets
/// when it restarts, and an operator who wants us away has the rules themselves.
const AWAY_MAX: SignedDuration = SignedDuration::from_hours(7 * 24);
/// Largest file that is received; less of it is read.
const BODY_BYTES_MAX: usize = 2 * 1024 * 1024;
/// How many redirects are followed: as many as the RFC asks for.
const REDIRECTS_MAX: usize = 5;
/// Files remembered.
const FILES_MAX: usize = 10_000;
/// Bytes of rules remembered.
const RULES_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The files of sites. Clones share what they remember.
#[derive(Debug, Clone)]
pub struct Robots {
    client: Client,
    limits: Limits,
    files: Arc<Mutex<Files>>,
}

/// How a file is requested, like the page that it is about.
#[derive(Clone)]
pub struct RobotsVisit {
    /// The visit that the page belongs to.
    pub admission: Arc<dyn HostAdmission>,
    pub counting: Option<Counting>,
    pub proxy: Option<Proxy>,
    pub now: Timestamp,
}

impl Robots {
    /// Remembers no file yet.
    pub fn new(client: Client, limits: Limits) -> Self {
        let limits = Limits {
            body_bytes: BODY_BYTES_MAX,
            ..limits
        };
        Self {
            client,
            limits,
            files: Arc::default(),
        }
    }

    /// Whether the site of an address allows us to request it.
    pub async fn allows(&self, url: &Url, visit: &RobotsVisit) -> Result<(), Denied> {
        let Some(site) = site_of(url) else {
            return Ok(());
        };
        let known = locked(&self.files).fresh(&site, visit.now);
        let file = match known {
            Some(file) => file,
            None => self.fetch(&site, url, visit).await?,
        };
        match &file.rules {
            Ok(rules) => match rules.forbids(&path_of(url)) {
                Some(rule) => Err(forbidden(rule)),
                None => Ok(()),
            },
            Err(_) if visit.now.duration_since(file.away_since) >= AWAY_MAX => Ok(()),
            Err(why) => Err(unreadable(why)),
        }
    }

    /// Seconds that the site of an address wants between two requests, by its remembered file.
    pub fn delay_s(&self, url: &Url) -> Option<u32> {
        let files = locked(&self.files);
        let file = files.by_site.get(&site_of(url)?)?;
        file.rules.as_ref().ok()?.delay_s
    }

    async fn fetch(&self, site: &str, url: &Url, visit: &RobotsVisit) -> Result<File, Denied> {
        let Ok(address) = url.join("/robots.txt") else {
            return Ok(File::read(Rules::default(), visit.now));
        };
        let mut request = Request::get(address)
            .limits(self.limits)
            .following(REDIRECTS_MAX)
            .through(Arc::clone(&visit.admission));
        request.counting.clone_from(&visit.counting);
        request.proxy.clone_from(&visit.proxy);
        let file = match self.client.send(request).await {
            Err(Error::Busy { until }) => return Err(Denied::Busy { until }),
            Err(error) => self.unread(site, error.to_string(), visit.now),
            Ok(response) => match response.head.status {
                200..=299 => File::read(Rules::parse(&response.body), visit.now),
                status @ (429 | 500..) => self.unread(site, format!("HTTP {status}"), visit.now),
                _ => File::read(Rules::default(), visit.now),
            },
        };
        locked(&self.files).keep(site, file.clone());
        Ok(file)
    }

    /// A file that could not be read: the rules of an earlier one stay.
    fn unread(&self, site: &str, why: String, now: Timestamp) -> File {
        let files = locked(&self.files);
        let earlier = files.by_site.get(site);
        let away_since = earlier.filter(|file| file.rules.is_err());
        File {
            rules: match earlier.map(|file| &file.rules) {
                Some(Ok(rules)) => Ok(Arc::clone(rules)),
                _ => Err(why.into()),
            },
            away_since: away_since.map_or(now, |file| file.away_since),
            fetched_at: now,
            fresh_until: later(now, AGAIN_AFTER),
        }
    }
}

/// A page's visit: its host's pace, and what its site's file says, at every hop.
pub(crate) struct PageVisit {
    pub(crate) robots: Robots,
    pub(crate) visit: RobotsVisit,
}

#[async_trait]
impl HostAdmission for PageVisit {
    async fn pass(&self, url: &Url) -> Result<(), Denied> {
        self.visit.admission.pass(url).await?;
        self.robots.allows(url, &self.visit).await
    }
}

/// A site's file as it was last read.
#[derive(Debug, Clone)]
struct File {
    /// Its rules, or why there are none.
    rules: Result<Arc<Rules>, Arc<str>>,
    /// Since when it could not be read, if it could not.
    away_since: Timestamp,
    fetched_at: Timestamp,
    fresh_until: Timestamp,
}

impl File {
    fn read(rules: Rules, now: Timestamp) -> Self {
        Self {
            rules: Ok(Arc::new(rules)),
            away_since: now,
            fetched_at: now,
            fresh_until: later(now, FRESH_FOR),
        }
    }

    fn cost(&self) -> usize {
        self.rules.as_ref().map_or(0, |rules| rules.cost())
    }
}

#[derive(Debug, Default)]
struct Files {
    by_site: BTreeMap<String, File>,
    bytes: usize,
}

impl Files {
    fn fresh(&self, site: &str, now: Timestamp) -> Option<File> {
        let file = self.by_site.get(site)?;
        // A clock that was set back must not make a file last longer.
        let is_fresh = (file.fetched_at..file.fresh_until).contains(&now);
        is_fresh.then(|| file.clone())
    }

    fn keep(&mut self, site: &str, file: File) {
        self.remove(site);
        while self.by_site.len() >= FILES_MAX || self.bytes + file.cost() > RULES_BYTES_MAX {
            let oldest = self.by_site.iter().min_by_key(|(_, file)| file.fetched_at);
            let Some(site) = oldest.map(|(site, _)| site.clone()) else {
                break;
            };
            self.remove(&site);
        }
        self.bytes += file.cost();
        self.by_site.insert(site.to_owned(), file);
    }

    fn remove(&mut self, site: &str) {
        if let Some(gone) = self.by_site.remove(site) {
            self.bytes -= gone.cost();
        }
    }
}

/// Where the file of an address is: its scheme, host and port.
fn site_of(url: &Url) -> Option<String> {
    let origin = url.origin();
    origin.is_tuple().then(|| origin.ascii_serialization())
}

fn path_of(url: &Url) -> String {
    match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    }
}

fn forbidden(rule: &str) -> Denied {
    Denied::Robots {
        is_forbidden: true,
        why: format!(
            "robots.txt of the site does not allow this page (Disallow: {rule}); ask its operator, \
             or turn robots off for this source"
        ),
    }
}

fn unreadable(why: &str) -> Denied {
    Denied::Robots {
        is_forbidden: false,
        why: format!(
            "robots.txt of the site could not be read ({why}), so its pages are not requested; if \
             the operator agrees, turn robots off for this source"
        ),
    }
}

fn later(at: Timestamp, wait: SignedDuration) -> Timestamp {
    at.saturating_add(wait).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests;
