//! Secrets that sources, schedules and tasks name, read where they are kept at the moment of a request.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use almanack_core::secret::{Secret, Secrets, Unavailable};
use async_trait::async_trait;

use crate::config::{Settings, secret::Reference, settings::Released};

/// Largest secret: what a header can hold.
const BYTES_MAX: u64 = 8 * 1024;

/// Reads secrets that a setting releases, from the environment and from files.
pub(crate) struct ReleasedSecrets {
    /// The setting, for people.
    key: &'static str,
    released: Vec<Released>,
    environment: Arc<BTreeMap<String, String>>,
}

impl ReleasedSecrets {
    pub(crate) fn for_sources(settings: &Settings, environment: &BTreeMap<String, String>) -> Self {
        Self {
            key: "sources.secrets",
            released: settings.sources.secrets.clone(),
            environment: Arc::new(environment.clone()),
        }
    }

    pub(crate) fn for_callbacks(
        settings: &Settings,
        environment: &BTreeMap<String, String>,
    ) -> Self {
        Self {
            key: "callback.secrets",
            released: settings.callback.secrets.clone(),
            environment: Arc::new(environment.clone()),
        }
    }

    pub(crate) fn for_schedules(
        settings: &Settings,
        environment: &BTreeMap<String, String>,
    ) -> Self {
        Self {
            key: "schedules.secrets",
            released: settings.schedules.secrets.clone(),
            environment: Arc::new(environment.clone()),
        }
    }
}

#[async_trait]
impl Secrets for ReleasedSecrets {
    async fn read(&self, reference: &str, host: &str) -> Result<Secret, Unavailable> {
        let is_released = |it: &Released| it.fits(reference, host);
        let parsed = Reference::parse(reference).filter(|_| self.released.iter().any(is_released));
        let Some(parsed) = parsed else {
            let why = format!("it is not released for {host}; add it to {}", self.key);
            return Err(Unavailable { why });
        };
        let environment = Arc::clone(&self.environment);
        // A file may be on a disk that does not answer.
        let read = tokio::task::spawn_blocking(move || resolve(&parsed, &environment));
        read.await.unwrap_or_else(|_| {
            let why = "reading it was interrupted".to_owned();
            Err(Unavailable { why })
        })
    }
}

fn resolve(
    reference: &Reference,
    environment: &BTreeMap<String, String>,
) -> Result<Secret, Unavailable> {
    let unavailable = |why: String| Unavailable { why };
    if let Reference::File(path) = reference {
        let about = std::fs::metadata(path).map_err(|error| unavailable(error.to_string()))?;
        if !about.is_file() || about.len() > BYTES_MAX {
            let why = format!("it is not a file of at most {BYTES_MAX} bytes");
            return Err(unavailable(why));
        }
    }
    let read = reference.resolve(environment, Path::new("/"));
    read.map_err(|error| unavailable(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Inputs, Need};

    fn secrets(released: &str) -> ReleasedSecrets {
        let flag = ["--set", "sources.secrets", released].map(str::to_owned);
        let inputs = Inputs {
            flags: vec![flag.into()],
            ..Inputs::default()
        };
        let settings = config::load(&inputs, Need::Everything).settings.unwrap();
        let pairs = [
            ("NEWS", "hunter2"),
            ("DATABASE_PASSWORD", "hunter3"),
            ("EMPTY", ""),
        ];
        let environment = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        ReleasedSecrets::for_sources(&settings, &environment.into())
    }

    #[tokio::test]
    async fn ss_26_only_released_secrets_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(path("key"), "hunter4\n").unwrap();
        std::fs::write(path("large"), "x".repeat(9_000)).unwrap();
        let released = format!("env:NEWS@news.test,env:EMPTY,env:GONE,file:{}", path("*"));
        let secrets = secrets(&released);
        for (reference, host, expected) in [
            ("env:NEWS", "news.test", Ok("hunter2")),
            ("env:NEWS", "evil.test", Err("sources.secrets")),
            ("env:DATABASE_PASSWORD", "news.test", Err("sources.secrets")),
            ("env:EMPTY", "news.test", Err("is empty")),
            ("env:GONE", "news.test", Err("is not set")),
            (&format!("file:{}", path("key")), "news.test", Ok("hunter4")),
            (
                &format!("file:{}", path("none")),
                "news.test",
                Err("No such file"),
            ),
            (
                &format!("file:{}", path("large")),
                "news.test",
                Err("at most 8192 bytes"),
            ),
            ("file:/etc/hostname", "news.test", Err("sources.secrets")),
            ("hunter2", "news.test", Err("sources.secrets")),
        ] {
            let read = secrets.read(reference, host).await;
            let read = read
                .as_ref()
                .map(Secret::expose)
                .map_err(|it| it.why.as_str());
            match (read, expected) {
                (Ok(read), Ok(expected)) => assert_eq!(read, expected, "{reference}"),
                (Err(why), Err(part)) => assert!(why.contains(part), "{reference}: {why}"),
                (read, _) => panic!("{reference}: {read:?}"),
            }
        }
    }
}
