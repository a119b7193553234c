//! `[outbound]`: where requests may go, and who stands behind them.

use almanack_core::address::{IpNet, parse_net};

use super::super::{
    key::KeyPath,
    layer::Raw,
    reader::{Reader, Show},
    value::{self, Complaint, Read},
};

/// Longest contact.
const CONTACT_BYTES_MAX: usize = 200;

impl Show for IpNet {
    fn show(&self) -> String {
        format!("\"{self}\"")
    }
}

/// `[outbound]`
#[derive(Debug, Clone)]
pub(crate) struct Outbound {
    /// Networks that callbacks and webhooks may lead into besides public ones.
    pub(crate) allow: Vec<IpNet>,
    /// Who to write to about our requests.
    pub(crate) contact: Option<String>,
}

impl Outbound {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let key = |name| KeyPath::plain("outbound", name);
        Self {
            allow: reader.value(&key("allow"), Vec::new(), value::texts(net)),
            contact: reader.optional(&key("contact"), "(none)", contact),
        }
    }
}

/// A network, or one address.
pub(super) fn net(text: &str) -> Read<IpNet> {
    parse_net(text).ok_or_else(|| {
        let hint = "write a network or one address: \"10.0.0.0/8\", \"192.168.1.7\", \"fd00::/8\"; names are \
                    judged by what they resolve to";
        Complaint::new(format!("`{text}` is not a network"), hint)
    })
}

/// It becomes part of a header that everybody we ask can read.
fn contact(raw: &Raw) -> Read<String> {
    let text = value::text(raw)?;
    let shaped = |c: char| c.is_ascii_graphic() && !matches!(c, '(' | ')' | '\\');
    if text.len() <= CONTACT_BYTES_MAX && text.chars().all(shaped) {
        return Ok(text);
    }
    let hint = "an address of the web or of a mailbox, like \"https://news.example.org/about\"";
    Err(Complaint::new(
        "a contact has at most 200 characters, no blanks and no parentheses",
        hint,
    ))
}
