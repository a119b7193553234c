//! `[[subscription]]` in the file: each table's values, kept under the name that the table gives itself.

use almanack_core::happening::Name;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    super::key::{KeyPath, SUBSCRIPTIONS},
    Walk,
};

const EXPECTED: &str = "write `[[subscription]]` on a line of its own, then `name = …`";

impl Walk {
    /// All subscriptions.
    pub(super) fn subscriptions(&mut self, value: &Spanned<DeValue<'_>>) {
        let DeValue::Array(items) = value.get_ref() else {
            self.cover_all(value);
            let what = "`subscription` is a list of tables".to_owned();
            self.complain(what, value.span(), EXPECTED);
            return;
        };
        for item in items {
            match item.get_ref() {
                DeValue::Table(table) => self.subscription(table, item),
                _ => {
                    self.cover_all(item);
                    let what = "a subscription is a table".to_owned();
                    self.complain(what, item.span(), EXPECTED);
                }
            }
        }
    }

    fn subscription(&mut self, table: &DeTable<'_>, item: &Spanned<DeValue<'_>>) {
        let named = self.subscription_name(table, item);
        let others = table.iter().filter(|(key, _)| key.get_ref() != "name");
        let Some(name) = named else {
            others.for_each(|(_, value)| self.cover_all(value));
            return;
        };
        if table.len() == 1 {
            let what = format!("subscription `{name}` does not say where to tell");
            self.complain(what, item.span(), "give it a url");
        }
        for entry in others {
            self.value(SUBSCRIPTIONS, Some(&name), entry);
        }
    }

    /// The name of a subscription, if it can be kept under it.
    fn subscription_name(
        &mut self,
        table: &DeTable<'_>,
        item: &Spanned<DeValue<'_>>,
    ) -> Option<String> {
        let example = "for example name = \"search-index\"";
        let given = table.iter().find(|(key, _)| key.get_ref() == "name");
        let Some((_, given)) = given else {
            let what = "a subscription has no name".to_owned();
            self.complain(what, item.span(), example);
            return None;
        };
        let DeValue::String(name) = given.get_ref() else {
            let what = "a subscription's name is text".to_owned();
            self.complain(what, given.span(), example);
            return None;
        };
        if let Err(error) = Name::parse(name) {
            self.complain(error.to_string(), given.span(), example);
            return None;
        }
        let known = |path: &KeyPath| path.is_of(SUBSCRIPTIONS, name);
        if self.layer.keys().any(known) {
            let what = format!("another subscription is called `{name}` too");
            self.complain(what, given.span(), "give each a name of its own");
            return None;
        }
        Some(name.to_string())
    }
}
