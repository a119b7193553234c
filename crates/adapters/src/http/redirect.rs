//! Redirects: where the trail leads, and when it has gone far enough.
//!
//! Followed by hand, because every hop is a new, untrusted address. A trail of permanent redirects
//! only (301, 308) is reported, so that the caller may remember the new address; one that leaves
//! https on its way is followed, but never remembered: a feed that was private on the wire does not
//! become readable to others because of one answer.

use std::collections::BTreeSet;

use almanack_core::address::Origin;
use reqwest::header::{HeaderMap, LOCATION};
use url::Url;

use super::Error;

/// What an answer says about where to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// This is the answer.
    Stay,
    /// Ask again there, with everything.
    SameOrigin,
    /// Ask again there, without secrets.
    OtherOrigin,
}

/// The hops so far.
pub(super) struct Trail {
    here: Url,
    seen: BTreeSet<Url>,
    permanent: bool,
    hops_max: usize,
}

impl Trail {
    pub(super) fn new(start: Url, hops_max: usize) -> Self {
        let here = without_fragment(start);
        Self {
            seen: BTreeSet::from([here.clone()]),
            here,
            permanent: true,
            hops_max,
        }
    }

    pub(super) fn here(&self) -> &Url {
        &self.here
    }

    /// How many redirects have been followed.
    pub(super) fn hops(&self) -> usize {
        self.seen.len() - 1
    }

    /// Takes the step that an answer asks for.
    pub(super) fn step(&mut self, status: u16, headers: &HeaderMap) -> Result<Step, Error> {
        let redirect = matches!(status, 301 | 302 | 303 | 307 | 308);
        if !redirect || self.hops_max == 0 {
            return Ok(Step::Stay);
        }
        let next = self.location(headers)?;
        if self.hops() == self.hops_max {
            return Err(Error::TooManyRedirects { max: self.hops_max });
        }
        if !self.seen.insert(next.clone()) {
            return Err(Error::RedirectLoop);
        }
        let downgrade = self.here.scheme() == "https" && next.scheme() == "http";
        self.permanent &= matches!(status, 301 | 308) && !downgrade;
        let same = Origin::of(&next) == Origin::of(&self.here);
        self.here = next;
        Ok(if same {
            Step::SameOrigin
        } else {
            Step::OtherOrigin
        })
    }

    fn location(&self, headers: &HeaderMap) -> Result<Url, Error> {
        let location = headers.get(LOCATION).ok_or(Error::BadRedirect)?;
        // Some servers write a name's bytes unescaped.
        let location = std::str::from_utf8(location.as_bytes()).map_err(|_| Error::BadRedirect)?;
        let next = self
            .here
            .join(location.trim())
            .map_err(|_| Error::BadRedirect)?;
        Ok(without_fragment(next))
    }

    /// Where the trail ended, and that same address if every hop on the way was permanent.
    pub(super) fn end(self) -> (Url, Option<Url>) {
        let moved = self.permanent && self.hops() > 0;
        let moved_to = moved.then(|| self.here.clone());
        (self.here, moved_to)
    }
}

fn without_fragment(mut url: Url) -> Url {
    url.set_fragment(None);
    url
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    fn trail(hops: &[(u16, &str)]) -> Trail {
        let mut trail = Trail::new(Url::parse("https://a.test/feed#top").unwrap(), 5);
        for (status, location) in hops {
            let location = HeaderValue::from_str(location).unwrap();
            let headers = HeaderMap::from_iter([(LOCATION, location)]);
            trail.step(*status, &headers).unwrap();
        }
        trail
    }

    #[test]
    fn ss_14_a_step_down_from_https_is_followed_and_never_remembered() {
        for (hops, here, moved) in [
            (&[][..], "https://a.test/feed", false),
            (&[(301, "https://b.test/")], "https://b.test/", true),
            (&[(301, "http://a.test/feed")], "http://a.test/feed", false),
            (
                &[(308, "http://b.test/x"), (301, "https://b.test/y")],
                "https://b.test/y",
                false,
            ),
        ] {
            let (address, moved_to) = trail(hops).end();
            assert_eq!(address.as_str(), here);
            assert_eq!(moved_to.is_some(), moved, "{hops:?}");
        }
    }

    #[test]
    fn ss_14_another_scheme_or_port_is_another_origin() {
        for (location, expected) in [
            ("/other", Step::SameOrigin),
            ("https://a.test:443/other", Step::SameOrigin),
            ("http://a.test/other", Step::OtherOrigin),
            ("https://a.test:8443/", Step::OtherOrigin),
            ("//b.test/", Step::OtherOrigin),
        ] {
            let location = HeaderValue::from_str(location).unwrap();
            let headers = HeaderMap::from_iter([(LOCATION, location.clone())]);
            let step = trail(&[]).step(302, &headers).unwrap();
            assert_eq!(step, expected, "{location:?}");
        }
    }
}
