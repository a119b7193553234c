//! Requests and answers.

use std::{fmt, sync::Arc, time::Duration};

use almanack_core::budget::Budget;
use reqwest::{
    Method,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use url::Url;

use super::{
    Counting, Error, HostAdmission, Phase, Proxy,
    body::{self, Deadline},
};

/// How much one exchange may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// From the first hop to the last byte.
    pub total: Duration,
    /// Between two pieces of a body: a server that sends a byte now and then is not waited for.
    pub idle: Duration,
    /// Of a body, after decompression.
    pub body_bytes: usize,
}

impl Limits {
    /// One bound for all of it, and for each piece.
    pub const fn within(timeout: Duration, body_bytes: usize) -> Self {
        Self {
            total: timeout,
            idle: timeout,
            body_bytes,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            total: Duration::from_secs(30),
            idle: Duration::from_secs(10),
            body_bytes: 10 * 1024 * 1024,
        }
    }
}

/// Whether redirects are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redirects {
    /// A redirect is the answer.
    Never,
    /// Up to so many, of requests that only look (GET, HEAD).
    UpTo(usize),
}

/// One request. `Debug` shows the method only: address and headers may hold secrets.
#[derive(Clone)]
pub struct Request {
    pub method: Method,
    pub address: String,
    /// The headers.
    pub headers: HeaderMap,
    pub body: Option<Vec<u8>>,
    /// How much it may take.
    pub limits: Limits,
    /// Whether redirects are followed.
    pub redirects: Redirects,
    pub budget: Option<Arc<Budget>>,
    /// Decides about every host before it is called.
    pub host_admission: Option<Arc<dyn HostAdmission>>,
    /// Counts what is asked of hosts.
    pub counting: Option<Counting>,
    /// What it is sent through, if not straight to its host.
    pub proxy: Option<Proxy>,
}

impl Request {
    /// A request without body, with the usual limits, that follows no redirect.
    pub fn new(method: Method, address: impl Into<String>) -> Self {
        Self {
            method,
            address: address.into(),
            headers: HeaderMap::new(),
            body: None,
            limits: Limits::default(),
            redirects: Redirects::Never,
            budget: None,
            host_admission: None,
            counting: None,
            proxy: None,
        }
    }

    /// Looks at an address.
    pub fn get(address: impl Into<String>) -> Self {
        Self::new(Method::GET, address)
    }

    /// Asks for the head of what a GET would return.
    pub fn head(address: impl Into<String>) -> Self {
        Self::new(Method::HEAD, address)
    }

    /// Sends JSON to an address.
    pub fn post_json(address: impl Into<String>, body: Vec<u8>) -> Self {
        let mut request = Self::new(Method::POST, address).header(CONTENT_TYPE, "application/json");
        request.body = Some(body);
        request
    }

    /// Adds a header. A value that no header can hold is left out: it could only come from
    /// unchecked text, and the receiver misses a hint, not the request.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name, value);
        }
        self
    }

    /// Takes at most this much.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Follows up to so many redirects.
    #[must_use]
    pub fn following(mut self, hops_max: usize) -> Self {
        self.redirects = Redirects::UpTo(hops_max);
        self
    }

    /// Counts against this request budget, hop by hop.
    #[must_use]
    pub fn paid_by(mut self, budget: Arc<Budget>) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Calls only hosts that `host_admission` allows.
    #[must_use]
    pub fn through(mut self, host_admission: Arc<dyn HostAdmission>) -> Self {
        self.host_admission = Some(host_admission);
        self
    }

    /// Counts what is asked of hosts, hop by hop.
    #[must_use]
    pub fn counted(mut self, counting: Counting) -> Self {
        self.counting = Some(counting);
        self
    }

    pub(super) fn redirects_to_follow(&self) -> usize {
        match self.redirects {
            Redirects::UpTo(max) if matches!(self.method, Method::GET | Method::HEAD) => max,
            _ => 0,
        }
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Request({})", self.method)
    }
}

/// What an answer says before its body.
#[derive(Clone)]
pub struct Head {
    /// Its status, whatever it is.
    pub status: u16,
    pub headers: HeaderMap,
    /// The address that answered, after all redirects, without fragment.
    pub address: Url,
    /// The same address, if there were redirects and all of them were permanent (301, 308).
    pub moved_to: Option<Url>,
}

impl Head {
    /// A header as text; `None` if it is missing or not readable.
    pub fn header(&self, name: &HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Head({})", self.status)
    }
}

#[derive(Clone)]
pub struct Response {
    /// What it says before its body.
    pub head: Head,
    /// Its body, decompressed and complete.
    pub body: Vec<u8>,
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Response({}, {} bytes)",
            self.head.status,
            self.body.len()
        )
    }
}

/// An answer whose body has not been read.
pub struct Answer {
    /// What it says before its body.
    pub head: Head,
    response: reqwest::Response,
    limits: Limits,
    deadline: Deadline,
    counting: Option<Counting>,
}

impl Answer {
    pub(super) fn new(
        head: Head,
        response: reqwest::Response,
        request: Request,
        deadline: Deadline,
    ) -> Self {
        Self {
            head,
            response,
            limits: request.limits,
            deadline,
            counting: request.counting,
        }
    }

    /// The body, decompressed and complete. A second call finds nothing left.
    pub async fn read(&mut self) -> Result<Vec<u8>, Error> {
        let mut taken_bytes = 0;
        let reading = body::read(&mut self.response, self.limits, &mut taken_bytes);
        let read = self.deadline.bound(Phase::Whole, reading).await.flatten();
        if let Some(counting) = &self.counting {
            counting.body(&self.head.address, taken_bytes, read.is_err());
        }
        read
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Answer({})", self.head.status)
    }
}
