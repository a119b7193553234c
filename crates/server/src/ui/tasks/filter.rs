//! The filter of a task list. It lives in the address, so it can be shared.

use almanack_core::store::TaskSearch;

use super::AMONG;
use crate::ui::prelude::*;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Filter {
    pub(crate) kind: Option<String>,
    pub(crate) status: Option<String>,
    /// Only subjects that contain this.
    pub(crate) q: Option<String>,
    /// Only tasks whose last result contains this.
    pub(crate) said: Option<String>,
}

impl Filter {
    /// The filter for the store.
    pub(crate) fn search(&self, before: Option<i64>, limit: usize) -> Result<TaskSearch> {
        let kind = self.kind.as_deref().map(|kind| Kind::parse(kind.trim()));
        let status = self.status.as_deref().map(Status::parse);
        Ok(TaskSearch {
            kind: kind.transpose()?,
            status: status.transpose()?,
            containing: text(self.q.as_deref())?,
            saying: text(self.said.as_deref())?,
            before: before.map(TaskId),
            among: AMONG,
            limit,
        })
    }

    /// Whether no filter is set.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
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

/// No subject contains control characters, and PostgreSQL refuses to search for a NUL.
pub(crate) fn text(given: Option<&str>) -> Result<Option<String>> {
    let given = given.map(str::trim).filter(|text| !text.is_empty());
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
            said: None,
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
    fn what_cannot_be_looked_for_is_refused() {
        let with = |field: fn(&mut Filter) -> &mut Option<String>, text: &str| {
            let mut filter = Filter::default();
            *field(&mut filter) = Some(text.to_owned());
            filter.search(None, 1)
        };
        assert!(with(|f| &mut f.kind, "no kind").is_err());
        assert!(with(|f| &mut f.status, "sleeping").is_err());
        assert!(with(|f| &mut f.q, "a\0b").is_err());
        let found = with(|f| &mut f.q, "  42 ").unwrap();
        assert_eq!(found.containing.as_deref(), Some("42"));
        assert_eq!(found.among, AMONG, "every search is bounded");
    }
}
