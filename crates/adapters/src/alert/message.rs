//! A message as all channels share it: text for people, and the same as data for programs.

use almanack_core::{
    alert::{Severity, port::Notice},
    secret::Secret,
};
use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Language, ReviewLinks};

/// The longest id of a message, in bytes: it is sent as a header.
const ID_BYTES_MAX: usize = 150;

#[derive(Debug, Clone)]
pub(super) struct Message {
    /// Permanent id; fits into a header.
    pub(super) id: String,
    /// A few words.
    pub(super) title: String,
    pub(super) text: String,
    /// The same with links by which its readers may decide.
    pub(super) private_text: Secret,
    /// The highest severity of its alerts; `None` if all of them are resolved.
    pub(super) severity: Option<Severity>,
    pub(super) body: Value,
    /// The first alert as name and value, for programs that read environment variables.
    pub(super) facts: Vec<(&'static str, String)>,
}

impl Message {
    /// Several notices in one message; `None` without notices.
    pub(super) fn of_alerts(
        notices: &[&Notice],
        language: Language,
        links: Option<&ReviewLinks>,
    ) -> Option<Self> {
        let first = notices.first()?;
        let alerts: Vec<Value> = notices.iter().map(|notice| described(notice)).collect();
        let keys: Vec<String> = notices.iter().map(|notice| key(notice)).collect();
        let bad = notices.iter().filter(|notice| notice.alert.is_open());
        Some(Self {
            id: id(&keys),
            title: language.title(notices),
            text: language.text(notices),
            private_text: Secret::new(&language.private_text(notices, links)),
            severity: bad.map(|notice| notice.alert.severity).max(),
            body: json!({ "type": "alerts", "alerts": alerts }),
            facts: vec![
                ("ALMANACK_ALERT_NEWS", first.news.as_str().to_owned()),
                ("ALMANACK_ALERT_RULE", first.alert.key.rule.to_string()),
                ("ALMANACK_ALERT_ABOUT", first.alert.key.about.to_string()),
                (
                    "ALMANACK_ALERT_SEVERITY",
                    first.alert.severity.as_str().to_owned(),
                ),
                ("ALMANACK_ALERT_COUNT", notices.len().to_string()),
            ],
        })
    }

    /// A test message.
    pub(super) fn test(language: Language, now: Timestamp) -> Self {
        let (title, text) = language.test();
        Self {
            id: format!("almanack-alert-test-{}", now.as_microsecond()),
            title: title.to_owned(),
            text: text.to_owned(),
            private_text: Secret::new(text),
            severity: None,
            body: json!({ "type": "alert.test", "text": text, "at": now }),
            facts: vec![("ALMANACK_ALERT_NEWS", "test".to_owned())],
        }
    }
}

fn described(notice: &Notice) -> Value {
    let alert = &notice.alert;
    json!({
        "type": format!("alert.{}", notice.news.as_str()),
        "key": key(notice),
        "rule": alert.key.rule.as_str(),
        "about": alert.key.about.to_string(),
        "severity": alert.severity.as_str(),
        "detail": alert.detail,
        "opened_at": alert.opened_at,
        "closed_at": alert.closed_at,
    })
}

fn key(notice: &Notice) -> String {
    header(&format!(
        "almanack-alert-{}",
        notice.alert.message_key(notice.news)
    ))
}

/// The id of one notice is its key, that of several combines their keys.
fn id(keys: &[String]) -> String {
    match keys {
        [one] if one.len() <= ID_BYTES_MAX => one.clone(),
        many => {
            let digest: [u8; 32] = Sha256::digest(many.join("\n").as_bytes()).into();
            let first = digest.first_chunk().copied().unwrap_or_default();
            format!("almanack-alerts-{:032x}", u128::from_be_bytes(first))
        }
    }
}

/// Makes any name fit into a header.
fn header(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_graphic() { c } else { '_' };
    text.chars().map(plain).collect()
}
