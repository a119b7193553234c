//! Rules that cannot be read. They are refused before a source is stored, so that a typing error
//! shows at once, not at the next check.

/// Longest selector or path, in bytes.
const RULE_BYTES_MAX: usize = 300;

/// What holds for every rule: it is quoted in sentences, so it is short and can be shown.
pub(crate) fn check(name: &'static str, rule: &str) -> Result<(), RulesError> {
    if rule.len() > RULE_BYTES_MAX {
        return Err(RulesError::TooLong { name });
    }
    if rule.contains(char::is_control) {
        return Err(RulesError::Control { name });
    }
    Ok(())
}

/// The first rule of these, by name, that is set and found nothing.
pub(crate) fn unfound<'a>(
    known_by: impl IntoIterator<Item = (&'static str, Option<&'a str>, bool)>,
) -> Option<(&'static str, &'a str)> {
    let mut unfound = known_by.into_iter().filter(|(_, _, is_found)| !is_found);
    unfound.find_map(|(name, rule, _)| Some((name, rule?)))
}

/// Why a rule cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RulesError {
    /// Not a CSS selector.
    #[error("`{name}`: `{selector}` is not a CSS selector we can read: {reason}")]
    Selector {
        name: &'static str,
        selector: String,
        /// What the parser says.
        reason: String,
    },
    #[error("`{name}`: `{path}` is not a JSON path (RFC 9535): {reason}")]
    Path {
        name: &'static str,
        path: String,
        /// What the parser says.
        reason: String,
    },
    /// Too long.
    #[error("`{name}` is longer than {RULE_BYTES_MAX} bytes")]
    TooLong { name: &'static str },
    /// It could not be shown in a message.
    #[error("`{name}` holds a control character; write it in one line")]
    Control { name: &'static str },
    /// Would look through everything several times over.
    #[error("`{name}` uses `..` more than once; name the way to it instead")]
    TooWide { name: &'static str },
    /// A filter that every page passes.
    #[error("`{name}` is empty; leave it out, or say what it must be")]
    Empty { name: &'static str },
}
