//! `[[subscription]]` in the file: each table's values, stored under its `name`.

use std::ops::Range;

use almanack_core::event::outgoing::Name;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{super::key::SUBSCRIPTIONS, Walk, cover};

const EXPECTED: &str = "write `[[subscription]]` on its own line, then `name = …`";

impl Walk {
    /// All subscriptions.
    pub(super) fn subscriptions(&mut self, value: &Spanned<DeValue<'_>>) {
        let DeValue::Array(items) = value.get_ref() else {
            return self.refuse(value, "`subscription` is a list of tables", EXPECTED);
        };
        for item in items {
            match item.get_ref() {
                DeValue::Table(table) => self.subscription(table, item),
                _ => self.refuse(item, "a subscription is a table", EXPECTED),
            }
        }
    }

    fn subscription(&mut self, table: &DeTable<'_>, item: &Spanned<DeValue<'_>>) {
        let others = table.iter().filter(|(key, _)| key.get_ref() != "name");
        let name = match self.subscription_name(table, item) {
            Ok(name) => name,
            Err((what, span, hint)) => {
                others.for_each(|(_, value)| cover(&mut self.covered, value));
                return self.complain(what, span, hint);
            }
        };
        if table.len() == 1 {
            let what = format!("subscription `{name}` has no destination");
            self.complain(what, item.span(), "set its url");
        }
        others.for_each(|entry| self.value(SUBSCRIPTIONS, Some(&name), entry));
    }

    /// The name of a subscription, or why it cannot be kept under it, where, and what to do.
    fn subscription_name(
        &self,
        table: &DeTable<'_>,
        item: &Spanned<DeValue<'_>>,
    ) -> Result<String, (String, Range<usize>, &'static str)> {
        let refused = |what: &str, place: &Spanned<DeValue<'_>>| {
            let example = "for example name = \"search-index\"";
            (what.to_owned(), place.span(), example)
        };
        let given = table.iter().find(|(key, _)| key.get_ref() == "name");
        let (_, given) = given.ok_or_else(|| refused("a subscription has no name", item))?;
        let DeValue::String(name) = given.get_ref() else {
            return Err(refused("a subscription's name is text", given));
        };
        Name::parse(name).map_err(|error| refused(&error.to_string(), given))?;
        if self
            .layer
            .keys()
            .any(|path| path.is_of(SUBSCRIPTIONS, name))
        {
            let what = format!("an earlier subscription has the name `{name}`");
            return Err((what, given.span(), "give each a different name"));
        }
        Ok(name.to_string())
    }
}
