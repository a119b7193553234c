//! The JSON that describes a source.
//!
//! Separate from `core`'s definition: omitted fields are learned or chosen, and a change
//! distinguishes null from omitted.

use almanack_core::{
    source::Definition, source::options::Options, source::policy::cadence::Cadence,
    source::reading::Reading,
};
use almanack_engine::sources::Changes;
use serde::Deserializer;

use crate::prelude::*;
use crate::tasks::body::check_callback;

/// Longest rules of a custom source, in bytes as JSON.
const READING_BYTES_MAX: usize = 4 * 1024;
/// Longest policy, in bytes; no schedule is longer.
const POLICY_BYTES_MAX: usize = 300;

/// A source to add.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourceBody {
    /// Its address: http or https, without user name or password.
    #[schema(example = "https://example.com/feed.xml")]
    address: String,
    /// Display name. Default: the source's own title.
    #[schema(max_length = 500)]
    name: Option<String>,
    /// Category: folders separated by `/`.
    #[schema(max_length = 500, example = "News/Local")]
    category: Option<String>,
    /// Policy: adaptive, classic, fixed:1h or a schedule. Default: the node's.
    #[schema(example = "fixed:1h")]
    policy: Option<String>,
    /// Fixed cadence, P0 (every 15 minutes) to P6 (daily); with P7 it is added paused. Default:
    /// learned.
    #[schema(example = "P2")]
    cadence: Option<String>,
    /// How it is read. Default: as a feed.
    reading: Option<Reading>,
    /// How it is requested, which entries are kept, and more. Default: none.
    options: Option<Options>,
}

impl SourceBody {
    /// A feed with defaults for everything else.
    pub(crate) fn feed(address: String, name: Option<String>, category: Option<String>) -> Self {
        Self {
            address,
            name,
            category,
            policy: None,
            cadence: None,
            reading: None,
            options: None,
        }
    }

    /// The definition, if every value is valid.
    pub(crate) fn into_definition(self) -> Result<Definition> {
        let definition = Definition {
            name: self.name.unwrap_or_default(),
            address: self.address,
            reading: self.reading.unwrap_or(Reading::Feed),
            category: self.category.unwrap_or_default(),
            policy: self.policy,
            cadence: self.cadence.as_deref().map(parse_cadence).transpose()?,
            options: self.options.unwrap_or_default(),
        };
        check_form(&definition)?;
        Ok(definition)
    }
}

/// Checks that need no source engine.
pub(super) fn check_form(definition: &Definition) -> Result<()> {
    check_callback(Some(&definition.address), "address")?;
    definition.policy.as_deref().map_or(Ok(()), check_policy)?;
    let rules = serde_json::to_string(&definition.reading).map_or(0, |json| json.len());
    Problem::unless(rules <= READING_BYTES_MAX, "reading", || {
        format!("reading has {rules} bytes; the limit is {READING_BYTES_MAX}")
    })
}

fn check_policy(text: &str) -> Result<()> {
    Problem::unless(text.len() <= POLICY_BYTES_MAX, "policy", || {
        format!("policy must have at most {POLICY_BYTES_MAX} bytes")
    })
}

fn parse_cadence(text: &str) -> Result<Cadence> {
    let cadence = text.parse::<Cadence>();
    cadence.map_err(|unknown| Problem::invalid("cadence", unknown.to_string()))
}

/// What to change. Omitted fields are unchanged; null resets.
#[expect(clippy::option_option, reason = "three cases: omitted, null, a text")]
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangesBody {
    /// Display name; null for the source's own title.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, max_length = 500)]
    pub(crate) name: Option<Option<String>>,
    /// Category; null for the top level.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, max_length = 500)]
    pub(crate) category: Option<Option<String>>,
    /// Policy; null for the node's.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, example = "classic")]
    pub(crate) policy: Option<Option<String>>,
    /// Fixed cadence, P0 to P7 (not checked); null to learn it.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, example = "P2")]
    pub(crate) cadence: Option<Option<String>>,
}

/// Distinguishes null from omitted: a given field is `Some`, even if it is null.
#[expect(clippy::option_option, reason = "three cases: omitted, null, a text")]
fn given<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(value).map(Some)
}

impl ChangesBody {
    /// The change, if every value is valid.
    pub(crate) fn into_changes(self) -> Result<Changes> {
        if let Some(Some(policy)) = &self.policy {
            check_policy(policy)?;
        }
        let cadence = self.cadence.map(|cadence| {
            let cadence = cadence.as_deref().map(parse_cadence);
            cadence.transpose()
        });
        Ok(Changes {
            name: self.name.map(Option::unwrap_or_default),
            category: self.category.map(Option::unwrap_or_default),
            policy: self.policy,
            cadence: cadence.transpose()?,
        })
    }
}
