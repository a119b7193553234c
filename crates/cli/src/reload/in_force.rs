//! The settings in force, and how they are shown.

use almanack_engine::reloadable::Reloadable;
use almanack_server::{Configured, Subscription};

use crate::{
    config::{
        self, Inputs, Loaded, Need, Settings,
        difference::{self, Difference},
        key,
        reader::Effective,
    },
    wiring,
};

/// The active settings of a process.
pub(crate) struct InForce {
    settings: Box<Settings>,
    effective: Vec<Effective>,
    /// The file that they were read from, if there was one.
    file: Option<String>,
    shown: Reloadable<Vec<Configured>>,
    subscriptions: Reloadable<Vec<Subscription>>,
}

impl InForce {
    /// The settings of the start.
    pub(crate) fn new(settings: &Settings, inputs: &Inputs) -> Self {
        let Loaded {
            effective, report, ..
        } = config::load(inputs, Need::Everything);
        Self {
            settings: Box::new(settings.clone()),
            file: report.source.map(|source| source.name),
            shown: Reloadable::new(shown(&effective)),
            subscriptions: Reloadable::new(wiring::subscriptions(settings)),
            effective,
        }
    }

    /// The active settings, as `almanack check` shows them: secrets are covered where they are
    /// read.
    pub(crate) fn shown(&self) -> Reloadable<Vec<Configured>> {
        self.shown.clone()
    }

    /// The event subscriptions.
    pub(crate) fn subscriptions(&self) -> Reloadable<Vec<Subscription>> {
        self.subscriptions.clone()
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The file that they were read from, if it is gone. A removed file does not reset a running
    /// node: it is more likely being replaced.
    pub(super) fn lost_file(&self, loaded: &Loaded) -> Option<&str> {
        let file = self.file.as_deref();
        file.filter(|_| loaded.report.source.is_none())
    }

    /// How they differ from what was read.
    pub(super) fn compare(&self, loaded: &Loaded) -> Difference {
        difference::compare(&self.effective, &loaded.effective)
    }

    /// Makes these the active settings, adopted from what was read.
    pub(super) fn adopt(&mut self, settings: Settings, loaded: &Loaded) {
        self.subscriptions.put(wiring::subscriptions(&settings));
        *self.settings = settings;
        let source = loaded.report.source.as_ref();
        self.file = source.map(|source| source.name.clone());
        self.effective = difference::in_force(&self.effective, &loaded.effective);
        self.shown.put(shown(&self.effective));
    }
}

fn shown(effective: &[Effective]) -> Vec<Configured> {
    let shown = effective.iter().map(|setting| {
        let key = key::described(&setting.key);
        Configured {
            key: setting.key.clone(),
            value: setting.value.clone(),
            origin: setting.origin.to_string(),
            words: key.map(|key| key.words).unwrap_or_default(),
            reloadable: key.is_some_and(|key| key.reloadable),
        }
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::config::key::Shown;

    /// Every key that holds a secret, by every variable that sets it, and both places of the
    /// database's password.
    #[test]
    fn what_pages_may_show_holds_no_secret() {
        const SECRET: &str = "hunter2hunter2";
        let secrets = key::KEYS.iter().filter(|key| key.shown() == Shown::Never);
        let variables = secrets.flat_map(|key| {
            let aliases = key.aliases.iter().map(|alias| (*alias).to_owned());
            let kind = (key.section == key::KINDS).then_some("ARTICLE_PUBLISH");
            aliases.chain([key.variable(kind)])
        });
        let mut environment: BTreeMap<String, String> =
            variables.map(|name| (name, SECRET.to_owned())).collect();
        let addresses = key::KEYS.iter().filter(|key| key.shown() == Shown::Host);
        for key in addresses {
            let kind = key::is_named(key.section).then_some("ARTICLE_PUBLISH");
            let address = format!("https://hooks.example.org/{SECRET}");
            environment.insert(key.variable(kind), address);
        }
        let url = format!("postgres://bob:{SECRET}@db/almanack?sslpassword={SECRET}");
        environment.insert("ALMANACK_DATABASE_URL".to_owned(), url);
        let inputs = Inputs {
            environment,
            ..Inputs::default()
        };
        let shown = shown(&config::load(&inputs, Need::Everything).effective);
        let value = |key: &str| {
            let found = shown.iter().find(|setting| setting.key == key);
            found.map(|setting| setting.value.as_str())
        };
        assert_eq!(value("tick.secret"), Some("***"));
        for key in [
            "alerts.webhook.url",
            "alerts.ntfy.url",
            "kinds.ARTICLE_PUBLISH.url",
        ] {
            assert_eq!(
                value(key),
                Some("\"https://hooks.example.org/***\""),
                "{key}"
            );
        }
        assert_eq!(
            value("database.url"),
            Some("\"postgres://bob:***@db/almanack?sslpassword=***\"")
        );
        for setting in &shown {
            assert!(
                !format!("{setting:?}").contains("hunter2"),
                "{}",
                setting.key
            );
        }
    }
}
