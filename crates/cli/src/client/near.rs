//! "Did you mean …?" for the names of things: schedules, monitors, calendars, kinds, editions.
//!
//! Only after a refusal that says that there is no such thing, one page of what there is gets
//! listed, and the nearest name is put before the hint. A list that cannot be had changes nothing
//! about the failure.

use std::collections::BTreeSet;

use almanack_core::reserved;

use super::{Call, Client, Refusal};
use crate::{failure::Failure, suggest};

/// Names looked through at most: a hint is not worth more than one page.
const NAMES_MAX: usize = 500;

/// What of one sort there is.
struct Listed {
    /// The path of the list, and the field of the body that holds its items.
    list: &'static str,
    /// The field of an item that holds its name.
    name: &'static str,
    /// Whether the list has pages.
    paged: bool,
}

/// Where the names are that a problem of this code is about.
fn listed(code: &str) -> Option<Listed> {
    let (list, name, paged) = match code {
        "no_such_schedule" => ("schedules", "name", true),
        "no_such_monitor" => ("monitors", "name", true),
        "no_such_calendar" => ("calendars", "name", false),
        "no_such_kind" => ("kinds", "kind", false),
        "no_such_edition" => ("editions", "name", true),
        _ => return None,
    };
    Some(Listed { list, name, paged })
}

impl Client {
    /// The failure for people, with the name that was probably meant.
    pub(crate) async fn failure(&self, refusal: &Refusal) -> Failure {
        let failure = refusal.failure();
        match self.meant(refusal).await {
            Some(near) => failure.suggesting(&near),
            None => failure,
        }
    }

    /// The known kind nearest to this one, unless it is known itself.
    pub(crate) async fn near_kind(&self, given: &str) -> Option<String> {
        self.near_of("no_such_kind", given).await
    }

    /// The known name of an edition nearest to this one, unless it is known itself.
    pub(crate) async fn near_edition(&self, given: &str) -> Option<String> {
        self.near_of("no_such_edition", given).await
    }

    async fn near_of(&self, code: &str, given: &str) -> Option<String> {
        let known = self.names(&listed(code)?).await;
        (!known.contains(given)).then(|| near(given, &known))?
    }

    async fn meant(&self, refusal: &Refusal) -> Option<String> {
        let listed = listed(refusal.code())?;
        let given = refusal.quoted()?;
        let known = self.names(&listed).await;
        // `nightly` is no monitor, but the schedule of another sort has that name.
        near(given, &known).filter(|near| near != given)
    }

    async fn names(&self, listed: &Listed) -> BTreeSet<String> {
        let limit = listed.paged.then_some(NAMES_MAX);
        let call = Call::get(&[listed.list]).query("limit", limit);
        let answer = self.try_call(call).await;
        let items = answer.ok().and_then(Result::ok).map(|it| it.value());
        let items = items.as_ref().and_then(|body| body[listed.list].as_array());
        let names = items.into_iter().flatten();
        let names = names.filter_map(|item| item[listed.name].as_str());
        let mut names: BTreeSet<String> = names.map(str::to_owned).collect();
        match listed.list {
            "kinds" => names.extend(reserved::KINDS.map(str::to_owned)),
            // One that is configured may have been made on no day yet.
            "editions" => {
                let made = self.settings().into_iter();
                let made = made.flat_map(|settings| settings.editions.all());
                names.extend(made.map(|(name, _)| name.to_string()));
            }
            _ => {}
        }
        names
    }
}

fn near(given: &str, known: &BTreeSet<String>) -> Option<String> {
    suggest::nearest(given, known.iter().map(String::as_str)).map(str::to_owned)
}
