//! The filter of a task list. It lives in the address, so it can be shared.

use almanack_core::store::{Kinds, TaskFilter};
use almanack_core::task::Tags;
use serde_json::{Map, Value};

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
    /// The filter for the store, by the clock of `zone`.
    pub(crate) fn wanted(&self, zone: &str) -> Result<TaskFilter> {
        let kind = filled(self.kind.as_deref()).map(Kind::parse);
        let status = filled(self.status.as_deref()).map(Status::parse);
        let tag: Vec<&str> = filled(self.tag.as_deref()).into_iter().collect();
        let tags = Tags::parse(&tag);
        Ok(TaskFilter {
            kind: kind.transpose()?,
            internal: (self.kinds() == Kinds::Business).then_some(false),
            status: status.transpose()?,
            subject_contains: text(self.q.as_deref())?,
            error: text(self.said.as_deref())?,
            tags: tags.map_err(|invalid| Problem::in_query(invalid.both()))?,
            from: instant(self.from.as_deref(), zone)?,
            to: instant(self.until.as_deref(), zone)?,
            ..TaskFilter::default()
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

    /// Whether it uses fields that are folded away otherwise.
    pub(crate) fn asks_more(&self) -> bool {
        let fields = [&self.said, &self.tag, &self.from, &self.until];
        fields.iter().any(|field| field.is_some())
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

/// A filter as flags of the command line, and as the API takes it.
pub(crate) fn words_of(filter: &TaskFilter) -> (Vec<String>, Map<String, Value>) {
    let ids: Vec<String> = filter.ids.iter().map(ToString::to_string).collect();
    let tags: Vec<&str> = filter.tags.iter().collect();
    let fields = [
        ("id", "task_id", json!(ids.join(","))),
        ("kind", "kind", json!(filter.kind)),
        ("status", "status", json!(filter.status)),
        (
            "contains",
            "subject_contains",
            json!(filter.subject_contains),
        ),
        ("error", "error", json!(filter.error)),
        ("tag", "tag", json!(tags.join(","))),
        ("due-from", "from", json!(filter.from)),
        ("due-to", "to", json!(filter.to)),
        ("no-internal", "internal", json!(filter.internal)),
    ];
    let (mut words, mut body) = (Vec::new(), Map::new());
    for (flag, name, value) in fields {
        match &value {
            Value::Null => continue,
            Value::String(text) if text.is_empty() => continue,
            Value::String(text) => words.extend([format!("--{flag}"), text.clone()]),
            _ => words.push(format!("--{flag}")),
        }
        body.insert(name.to_owned(), value);
    }
    (words, body)
}

fn filled(given: Option<&str>) -> Option<&str> {
    given.map(str::trim).filter(|text| !text.is_empty())
}

/// Of two instants that a clock shows alike, the earlier one.
fn instant(given: Option<&str>, zone: &str) -> Result<Option<Timestamp>> {
    let read = |clock| match moment::read(clock, zone) {
        Ok((Moment::One(at) | Moment::Skipped([at, _]) | Moment::Twice([at, _]), _)) => Ok(at),
        Err(unreadable) => Err(Problem::in_query(unreadable.both())),
    };
    filled(given).map(read).transpose()
}

/// No subject contains control characters, and PostgreSQL refuses to search for a NUL.
pub(crate) fn text(given: Option<&str>) -> Result<Option<String>> {
    let given = filled(given);
    if given.is_some_and(|text| text.contains(char::is_control)) {
        let detail = both!(
            "the search text must not contain control characters",
            "搜索文字不能含控制字符"
        );
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
            filter.wanted("Europe/Berlin")
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
        assert_eq!(found.subject_contains.as_deref(), Some("42"));
    }
}
