//! The JSON in which somebody says what a source is.
//!
//! Own types beside `core`'s definition: what is left out here is learned or chosen, and a change tells null from
//! nothing.

use almanack_core::{
    source::Definition, source::policy::cadence::Cadence, source::reading::Reading,
};
use almanack_engine::sources::Changes;
use serde::Deserializer;

use crate::prelude::*;
use crate::tasks::body::check_callback;

/// Longest rules of a custom source, in bytes as JSON.
const READING_BYTES_MAX: usize = 4 * 1024;
/// Longest policy, in bytes; a schedule that is longer than this is none.
const POLICY_BYTES_MAX: usize = 300;

/// A source to be added.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourceBody {
    /// Where it is looked at: http or https, without user name or password.
    #[schema(example = "https://example.com/feed.xml")]
    address: String,
    /// What people call it; what it calls itself when nobody says otherwise.
    #[schema(max_length = 500)]
    name: Option<String>,
    /// Where people put it: folders, joined by `/`.
    #[schema(max_length = 500, example = "News/Local")]
    category: Option<String>,
    /// Its own policy: adaptive, classic, fixed:1h or a schedule; the node's when nobody says otherwise.
    #[schema(example = "fixed:1h")]
    policy: Option<String>,
    /// Its cadence by hand: P0 (every 15 minutes) to P6 (daily), a fixed interval; with P7 it is added paused.
    #[schema(example = "P2")]
    cadence: Option<String>,
    /// How it is read; as a feed when nobody says otherwise.
    reading: Option<Reading>,
}

impl SourceBody {
    /// A feed; everything else is the node's to choose.
    pub(crate) fn feed(address: String, name: Option<String>, category: Option<String>) -> Self {
        Self {
            address,
            name,
            category,
            policy: None,
            cadence: None,
            reading: None,
        }
    }

    /// What is to be added, if every value keeps its rule.
    pub(crate) fn into_definition(self) -> Result<Definition> {
        let definition = Definition {
            name: self.name.unwrap_or_default(),
            address: self.address,
            reading: self.reading.unwrap_or(Reading::Feed),
            category: self.category.unwrap_or_default(),
            policy: self.policy,
            cadence: self.cadence.as_deref().map(parse_cadence).transpose()?,
        };
        check_form(&definition)?;
        Ok(definition)
    }
}

/// What can be said of a definition without anybody who looks at sources.
pub(super) fn check_form(definition: &Definition) -> Result<()> {
    check_callback(Some(&definition.address), "address")?;
    definition.policy.as_deref().map_or(Ok(()), check_policy)?;
    let rules = serde_json::to_string(&definition.reading).map_or(0, |json| json.len());
    if rules > READING_BYTES_MAX {
        let detail = format!("reading has {rules} bytes; the limit is {READING_BYTES_MAX}");
        return Err(Problem::new(Code::InvalidValue, detail).at("reading"));
    }
    Ok(())
}

fn check_policy(text: &str) -> Result<()> {
    if text.len() <= POLICY_BYTES_MAX {
        return Ok(());
    }
    let detail = format!("policy must have at most {POLICY_BYTES_MAX} bytes");
    Err(Problem::new(Code::InvalidValue, detail).at("policy"))
}

fn parse_cadence(text: &str) -> Result<Cadence> {
    text.parse().map_err(
        |unknown: almanack_core::source::policy::cadence::UnknownCadence| {
            Problem::new(Code::InvalidValue, unknown.to_string()).at("cadence")
        },
    )
}

/// What to change. What is left out stays; null takes back.
#[expect(clippy::option_option, reason = "three cases: left out, null, a text")]
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangesBody {
    /// What people call it; null for what it calls itself.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, max_length = 500)]
    name: Option<Option<String>>,
    /// Where people put it; null for the top.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, max_length = 500)]
    category: Option<Option<String>>,
    /// Its own policy; null for the node's.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, example = "classic")]
    policy: Option<Option<String>>,
    /// Its cadence by hand, P0 to P7 (not checked); null to learn it.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, example = "P2")]
    cadence: Option<Option<String>>,
}

/// Tells null from nothing: what is given is `Some`, even if it is null.
#[expect(clippy::option_option, reason = "three cases: left out, null, a text")]
fn given<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(value).map(Some)
}

impl ChangesBody {
    /// Everything said anew: what is `None` is taken back.
    pub(crate) fn anew(
        name: Option<String>,
        category: Option<String>,
        policy: Option<String>,
        cadence: Option<String>,
    ) -> Self {
        Self {
            name: Some(name),
            category: Some(category),
            policy: Some(policy),
            cadence: Some(cadence),
        }
    }

    /// What to change, if every value keeps its rule.
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
