//! What people set about one source beyond its address and its rules.
//!
//! Everything here is optional and empty by default, so a source without options is stored and
//! shown as `{}`. INVARIANT: no secret is in here, only references to secrets (`env:NAME`,
//! `file:PATH`): options are shown in the API, stored and backed up.

pub mod form;
pub mod patch;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{clock::Evidence, hub::Hub};

/// Options of a source.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = SourceOptions))]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// How it is requested.
    #[serde(skip_serializing_if = "Fetch::is_empty")]
    pub fetch: Fetch,
    /// Which of its entries are kept, one rule each: `block title contains sponsored`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<String>,
    /// Texts that make a failure of a response, although its status is 200.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub error_texts: Vec<String>,
    /// Whether the whole text of its new entries is fetched from their links.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub full_text: bool,
    /// The page that people read it at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// Whether the configuration file defines it, so that only the file can change it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub from_file: bool,
}

/// How a source is requested.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = SourceFetch))]
#[serde(default, deny_unknown_fields)]
pub struct Fetch {
    /// Further headers; a value is a text or a reference to a secret (`env:NAME`, `file:PATH`).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Bearer token: a reference to a secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bearer: Option<String>,
    /// User name for basic authentication.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Its password: a reference to a secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    /// Proxy to request it through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// User-Agent, instead of the node's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
    /// Whether `robots.txt` is respected. Default: for pages, not for feeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub robots: Option<bool>,
}

impl Fetch {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What was noticed about how a publisher works. Never set by people.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Publisher {
    /// How far its times are ahead of when its entries really appear, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_ahead_s: Option<i32>,
    /// What its checks say about that.
    #[serde(skip_serializing_if = "Evidence::is_empty")]
    pub clock: Evidence,
    /// Whether its ids identify nothing, so that links do.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ids_useless: bool,
    /// How often most of its ids have changed without its entries having changed.
    #[serde(skip_serializing_if = "is_zero")]
    pub ids_changed: u32,
    /// How many entries its document shows beyond those that are read.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u32,
    /// The hub that pushes it, and how far that is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hub: Option<Hub>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests;
