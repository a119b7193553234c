//! Every value of the settings that is never shown, to keep it out of what others print.

use almanack_core::secret::Secret;
use url::Url;

use super::super::{reader::Reader, secret::only_host};

/// The secrets of a configuration.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hidden(Vec<Secret>);

impl Hidden {
    /// What the sections that were read before have hidden: this one is read last.
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let hidden = reader.effective.iter().filter_map(|it| it.hidden.as_ref());
        Self(hidden.flat_map(parts).collect())
    }

    pub(crate) fn secrets(&self) -> impl Iterator<Item = Secret> {
        self.0.iter().cloned()
    }
}

/// A secret, and what of an address is one: its password, without the rest of it, too. An address
/// of which the host is all there is hides nothing.
fn parts(hidden: &Secret) -> Vec<Secret> {
    let text = hidden.expose().trim_matches('"');
    let password = Url::parse(text).ok();
    let password = password.and_then(|url| url.password().map(Secret::new));
    let whole = (only_host(text) != text).then(|| Secret::new(text));
    whole.into_iter().chain(password).collect()
}

#[cfg(test)]
mod tests {
    use crate::config::{self, Inputs, Need};

    #[test]
    fn dp_20_secrets_of_the_settings_are_known() {
        let flags = [
            ("database.url", "postgres://me:hunter2@db.test/almanack"),
            ("github.token", "env:PAT"),
            ("github.api_url", "https://api.github.com"),
        ];
        let flags = flags.map(|(key, value)| ("--set".into(), key.into(), value.into()));
        let environment = [("PAT".to_owned(), "ghp_0123456789".to_owned())];
        let inputs = Inputs {
            flags: flags.to_vec(),
            environment: environment.into(),
            ..Inputs::default()
        };
        let settings = config::load(&inputs, Need::Everything).settings.unwrap();
        let known: Vec<String> = settings
            .hidden
            .secrets()
            .map(|it| it.expose().to_owned())
            .collect();
        for secret in ["hunter2", "ghp_0123456789"] {
            assert!(known.contains(&secret.to_owned()), "{secret}");
        }
        assert!(!known.iter().any(|it| it.contains("api.github.com")));
    }
}
