//! The filter of a task list. It lives in the address, so it can be shared.

use almanack_core::store::{Kinds, TaskSearch};
use almanack_core::task::parse_tag;

use super::AMONG;
use crate::ui::moment::{self, Moment};
use crate::ui::prelude::*;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Filter {
    pub(crate) kind: Option<String>,
    pub(crate) status: Option<String>,
    /// Only subjects that contain this.
    pub(crate) q: Option<String>,
    /// Only tasks whose last result contains this.
    pub(crate) said: Option<String>,
    pub(crate) tag: Option<String>,
    /// Only tasks whose time is this or later, by the viewer's clock.
    pub(crate) from: Option<String>,
    /// Only tasks whose time is earlier.
    pub(crate) until: Option<String>,
    /// Whether internal tasks are shown, too. A filter by kind shows any kind.
    pub(crate) internal: Option<String>,
}

impl Filter {
    /// The filter for the store.
    pub(crate) fn search(
        &self,
        zone: &str,
        before: Option<i64>,
        limit: usize,
    ) -> Result<TaskSearch> {
        let kind = self.kind.as_deref().map(|kind| Kind::parse(kind.trim()));
        let status = self.status.as_deref().map(Status::parse);
        Ok(TaskSearch {
            kind: kind.transpose()?,
            kinds: self.kinds(),
            status: status.transpose()?,
            containing: text(self.q.as_deref())?,
            saying: text(self.said.as_deref())?,
            tag: filled(self.tag.as_deref()).map(parse_tag).transpose()?,
            from: instant(self.from.as_deref(), zone)?,
            to: instant(self.until.as_deref(), zone)?,
            before: before.map(TaskId),
            among: AMONG,
            limit,
        })
    }

    /// The kinds that are looked for.
    pub(crate) fn kinds(&self) -> Kinds {
        if filled(self.kind.as_deref()).is_some() || self.internal.is_some() {
            Kinds::All
        } else {
            Kinds::Business
        }
    }

    /// Whether nothing narrows the list.
    pub(crate) fn is_empty(&self) -> bool {
        *self == self.widest()
    }

    /// All tasks, with or without internal ones as before.
    pub(crate) fn widest(&self) -> Self {
        Self {
            internal: self.internal.clone(),
            ..Self::default()
        }
    }

    /// The same list with internal tasks, or without them.
    pub(crate) fn turned(&self) -> Self {
        let shown = self.internal.is_some();
        Self {
            internal: (!shown).then(|| "1".to_owned()),
            ..self.clone()
        }
    }

    /// The list's address with this filter, and further fields.
    pub(crate) fn address(&self, path: &str, further: &[(&str, &str)]) -> String {
        let mut query = pairs(self);
        query.extend(pairs(further));
        address(path, query)
    }

    /// The same with another status, or with any.
    pub(crate) fn with_status(&self, status: Option<Status>) -> Self {
        Self {
            status: status.map(|status| status.as_str().to_owned()),
            ..self.clone()
        }
    }

    /// Whether it is for this status.
    pub(crate) fn is_for(&self, status: Option<Status>) -> bool {
        let given = self.status.as_deref().map(Status::parse).transpose();
        given.is_ok_and(|given| given == status)
    }
}

fn filled(given: Option<&str>) -> Option<&str> {
    given.map(str::trim).filter(|text| !text.is_empty())
}

/// Of two instants that a clock shows alike, the earlier one.
fn instant(given: Option<&str>, zone: &str) -> Result<Option<Timestamp>> {
    let read = |clock| match moment::read(clock, zone) {
        Ok((Moment::One(at) | Moment::Skipped([at, _]) | Moment::Twice([at, _]), _)) => Ok(at),
        Err(unreadable) => {
            let detail = unreadable.words(Lang::English);
            Err(Problem::new(Code::InvalidQuery, detail))
        }
    };
    filled(given).map(read).transpose()
}

/// No subject contains control characters, and PostgreSQL refuses to search for a NUL.
pub(crate) fn text(given: Option<&str>) -> Result<Option<String>> {
    let given = filled(given);
    if given.is_some_and(|text| text.contains(char::is_control)) {
        let detail = "the search text must not contain control characters";
        return Err(Problem::new(Code::InvalidQuery, detail));
    }
    Ok(given.map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_reads_as_it_is_written() {
        let filter = Filter {
            kind: Some("ARTICLE_PUBLISH".into()),
            status: Some("FAIL".into()),
            q: Some("a b&c".into()),
            ..Filter::default()
        };
        let address = filter.address("/ui/tasks", &[("before", "7")]);
        assert_eq!(
            address,
            "/ui/tasks?kind=ARTICLE_PUBLISH&status=FAIL&q=a+b%26c&before=7"
        );
        let query = address.split_once('?').unwrap().1;
        assert_eq!(serde_html_form::from_str::<Filter>(query).unwrap(), filter);
        assert!(filter.is_for(Some(Status::Fail)) && !filter.is_for(None));
        assert!(filter.with_status(None).is_for(None));
    }

    #[test]
    fn internal_tasks_are_found_where_they_are_asked_for() {
        let all = Filter::default();
        assert_eq!(all.kinds(), Kinds::Business);
        assert!(all.turned().is_empty(), "it narrows nothing");
        assert_eq!(all.turned().kinds(), Kinds::All);
        assert_eq!(all.turned().turned(), all);
        let kind = Some("DISPATCH".to_owned());
        assert_eq!(Filter { kind, ..all }.kinds(), Kinds::All);
    }

    #[test]
    fn what_cannot_be_looked_for_is_refused() {
        let with = |field: fn(&mut Filter) -> &mut Option<String>, text: &str| {
            let mut filter = Filter::default();
            *field(&mut filter) = Some(text.to_owned());
            filter.search("Europe/Berlin", None, 1)
        };
        assert!(with(|f| &mut f.kind, "no kind").is_err());
        assert!(with(|f| &mut f.status, "sleeping").is_err());
        assert!(with(|f| &mut f.q, "a\0b").is_err());
        assert!(with(|f| &mut f.tag, "two words").is_err());
        assert!(with(|f| &mut f.from, "soon").is_err());
        let from = with(|f| &mut f.from, "2026-01-05T08:00").unwrap().from;
        assert_eq!(
            from,
            "2026-01-05T07:00:00Z".parse().ok(),
            "by the viewer's clock"
        );
        assert_eq!(
            with(|f| &mut f.until, " ").unwrap().to,
            None,
            "an empty field"
        );
        let found = with(|f| &mut f.q, "  42 ").unwrap();
        assert_eq!(found.containing.as_deref(), Some("42"));
        assert_eq!(found.among, AMONG, "every search is bounded");
    }
}
