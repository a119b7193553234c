//! The JSON that describes a source.
//!
//! Separate from `core`'s definition: omitted fields are learned or chosen, and a change
//! distinguishes null from omitted.

use almanack_core::source::options::{Options, patch};
use almanack_core::source::policy::cadence::Cadence;
use almanack_core::source::{Definition, entry::canonical_address, reading::Reading};
use almanack_core::{both, lang::Say};
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
    /// Its address: http or https (also as `feed:`), without user name or password.
    #[schema(example = "https://example.com/feed.xml")]
    address: String,
    /// Display name. Default: the source's own title.
    #[schema(max_length = 500)]
    name: Option<String>,
    /// Category: folders separated by `/`; a folder's own `/` is written `\/`.
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
        let options = Options {
            from_file: false,
            ..self.options.unwrap_or_default()
        };
        let definition = Definition {
            name: self.name.unwrap_or_default(),
            address: canonical_address(&self.address),
            reading: self.reading.unwrap_or(Reading::Feed),
            category: self.category.unwrap_or_default(),
            policy: self.policy,
            cadence: self.cadence.as_deref().map(parse_cadence).transpose()?,
            options,
        };
        check_form(&definition)?;
        Ok(definition)
    }
}

/// Checks that need no source engine.
pub(crate) fn check_form(definition: &Definition) -> Result<()> {
    check_callback(Some(&definition.address), "address")?;
    definition.policy.as_deref().map_or(Ok(()), check_policy)?;
    check_reading(&definition.reading)
}

fn check_reading(reading: &Reading) -> Result<()> {
    let rules = serde_json::to_string(reading).map_or(0, |json| json.len());
    Problem::unless(rules <= READING_BYTES_MAX, "reading", || {
        both!(
            "reading has {rules} bytes; the limit is {READING_BYTES_MAX}",
            "reading 有 {rules} 字节；上限为 {READING_BYTES_MAX}"
        )
    })
}

fn check_policy(text: &str) -> Result<()> {
    Problem::unless(text.len() <= POLICY_BYTES_MAX, "policy", || {
        both!(
            "policy must have at most {POLICY_BYTES_MAX} bytes",
            "policy 最多 {POLICY_BYTES_MAX} 字节"
        )
    })
}

fn parse_cadence(text: &str) -> Result<Cadence> {
    let cadence = text.parse::<Cadence>();
    cadence.map_err(|unknown| Problem::invalid("cadence", unknown.both()))
}

/// What to change. Omitted fields are unchanged; null resets.
#[expect(clippy::option_option, reason = "three cases: omitted, null, a value")]
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangesBody {
    /// Another address. Entries, statistics and rhythm stay.
    #[schema(example = "https://example.com/feed.xml")]
    pub(crate) address: Option<String>,
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
    /// How it is read; null for a feed.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Reading>)]
    pub(crate) reading: Option<Option<Reading>>,
    /// Options to change, as a JSON Merge Patch (RFC 7396): omitted ones are unchanged, null
    /// resets, lists are replaced. Null resets all.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Options>)]
    pub(crate) options: Option<Option<patch::Patch>>,
}

/// Distinguishes null from omitted: a given field is `Some`, even if it is null.
#[expect(clippy::option_option, reason = "three cases: omitted, null, a value")]
fn given<'de, D, T>(value: D) -> Result<Option<Option<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(value).map(Some)
}

impl ChangesBody {
    /// The change, if every value is valid.
    pub(crate) fn into_changes(self) -> Result<Changes> {
        if let Some(Some(policy)) = &self.policy {
            check_policy(policy)?;
        }
        let address = self.address.as_deref().map(canonical_address);
        check_callback(address.as_deref(), "address")?;
        let reading = self.reading.map(Option::unwrap_or_default);
        reading.as_ref().map_or(Ok(()), check_reading)?;
        let cadence = self.cadence.map(|cadence| {
            let cadence = cadence.as_deref().map(parse_cadence);
            cadence.transpose()
        });
        let options = self.options.map(|options| match options {
            None => patch::Change::Whole(Box::default()),
            Some(patch) => patch::Change::Merged(patch),
        });
        Ok(Changes {
            address,
            name: self.name.map(Option::unwrap_or_default),
            category: self.category.map(Option::unwrap_or_default),
            policy: self.policy,
            cadence: cadence.transpose()?,
            reading,
            options,
        })
    }
}
