//! Every value of the settings that is never shown, to keep it out of what others print.

use almanack_core::secret::Secret;
use url::Url;

use super::{
    super::{reader::Reader, secret::only_host},
    Settings,
};

/// The secrets of a configuration.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hidden(Vec<Secret>);

impl Hidden {
    /// What the sections that were read before have hidden: this one is read last.
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let hidden = reader.effective.iter().filter_map(|it| it.hidden.as_ref());
        Self(hidden.flat_map(parts).collect())
    }
}

impl Settings {
    /// Every secret that the configuration holds.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = Secret> {
        let database = password(self.database.url.expose());
        self.hidden.0.iter().cloned().chain(database)
    }
}

/// A secret, and what of it is one by itself: an address's password, and each of two signing keys.
/// An address of which the host is all there is hides nothing.
fn parts(hidden: &Secret) -> Vec<Secret> {
    let text = hidden.expose().trim_matches('"');
    let whole = (only_host(text) != text).then(|| Secret::new(text));
    let keys = text
        .split_whitespace()
        .filter(|it| it.starts_with("whsec_"));
    let keys = keys.filter(|key| *key != text).map(Secret::new);
    whole
        .into_iter()
        .chain(password(text))
        .chain(keys)
        .collect()
}

fn password(address: &str) -> Option<Secret> {
    let url = Url::parse(address).ok()?;
    url.password().map(Secret::new)
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
        let known = settings.secrets().map(|it| it.expose().to_owned());
        let known: Vec<String> = known.collect();
        for secret in ["hunter2", "ghp_0123456789"] {
            assert!(known.contains(&secret.to_owned()), "{secret}");
        }
        assert!(!known.iter().any(|it| it.contains("api.github.com")));
    }
}
