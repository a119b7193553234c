//! What was typed into the form that edits a source.

use almanack_core::source::options::{Fetch, Options, patch};
use almanack_core::source::reading::{HtmlRules, JsonRules, Reading, SitemapRules};
use almanack_engine::sources::Changes;

use crate::sources::body::ChangesBody;
use crate::ui::prelude::*;

/// Everything that was set about a source, as it is typed. Empty fields are reset.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Edit {
    pub(super) address: Option<String>,
    pub(super) name: Option<String>,
    pub(super) category: Option<String>,
    pub(super) policy: Option<String>,
    pub(super) cadence: Option<String>,
    /// How it is read. Every form has it; without it, rules and options stay.
    pub(super) how: Option<String>,
    pub(super) item: Option<String>,
    pub(super) title: Option<String>,
    pub(super) link: Option<String>,
    pub(super) date: Option<String>,
    pub(super) summary: Option<String>,
    pub(super) id: Option<String>,
    pub(super) containing: Option<String>,
    /// One `Name: value` a line.
    pub(super) headers: Option<String>,
    pub(super) bearer: Option<String>,
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    pub(super) proxy: Option<String>,
    pub(super) user_agent: Option<String>,
    pub(super) robots: Option<String>,
    /// One rule a line.
    pub(super) filters: Option<String>,
    /// One text a line.
    pub(super) error_texts: Option<String>,
    pub(super) full_text: Option<String>,
    pub(super) site: Option<String>,
    /// `check` only previews.
    pub(super) act: Option<String>,
}

impl Edit {
    pub(super) fn of(source: &Source) -> Self {
        let said = &source.definition;
        let Options {
            fetch,
            filters,
            error_texts,
            full_text,
            site,
            from_file: _,
        } = said.options.clone();
        let headers = fetch.headers.iter();
        let headers = headers.map(|(name, value)| format!("{name}: {value}"));
        Self {
            address: Some(said.address.clone()),
            name: Some(said.name.clone()),
            category: Some(said.category.clone()),
            policy: said.policy.clone(),
            cadence: said.cadence.map(|cadence| cadence.as_str().to_owned()),
            headers: Some(headers.collect::<Vec<_>>().join("\n")),
            bearer: fetch.bearer,
            user: fetch.user,
            password: fetch.password,
            proxy: fetch.proxy,
            user_agent: fetch.user_agent,
            robots: fetch
                .robots
                .map(|on| if on { "on" } else { "off" }.to_owned()),
            filters: Some(filters.join("\n")),
            error_texts: Some(error_texts.join("\n")),
            full_text: full_text.then(|| "on".to_owned()),
            site,
            ..Self::rules(&said.reading)
        }
    }

    fn rules(reading: &Reading) -> Self {
        let how = |how: &str| Some(how.to_owned());
        match reading.clone() {
            Reading::Feed => Self {
                how: how("feed"),
                ..Self::default()
            },
            Reading::Html(rules) => Self {
                how: how("html"),
                item: Some(rules.item),
                title: Some(rules.title),
                link: rules.link,
                date: rules.date,
                summary: rules.summary,
                ..Self::default()
            },
            Reading::Json(rules) => Self {
                how: how("json"),
                item: Some(rules.items),
                title: Some(rules.title),
                link: rules.link,
                date: rules.date,
                summary: rules.summary,
                id: rules.id,
                ..Self::default()
            },
            Reading::Sitemap(rules) => Self {
                how: how("sitemap"),
                containing: rules.containing,
                ..Self::default()
            },
        }
    }

    /// The changes, if every value is valid.
    pub(super) fn changes(self) -> Result<Changes> {
        let reading = self.reading()?;
        let options = reading.is_some().then(|| self.options()).transpose()?;
        let body = ChangesBody {
            address: self.address,
            name: Some(self.name),
            category: Some(self.category),
            policy: Some(self.policy),
            cadence: Some(self.cadence),
            reading: reading.map(Some),
            options: None,
        };
        Ok(Changes {
            options: options.map(|it| patch::Change::Whole(Box::new(it))),
            ..body.into_changes()?
        })
    }

    fn reading(&self) -> Result<Option<Reading>> {
        let Some(how) = self.how.as_deref() else {
            return Ok(None);
        };
        let needed = |value: &Option<String>, name| {
            let detail = both!(
                "reading {how} needs a rule for the {name} of an entry",
                "按 {how} 读取时，需要条目 {name} 的规则"
            );
            value.clone().ok_or_else(|| Problem::invalid(name, detail))
        };
        Ok(Some(match how {
            "html" => Reading::Html(HtmlRules {
                item: needed(&self.item, "item")?,
                title: needed(&self.title, "title")?,
                link: self.link.clone(),
                date: self.date.clone(),
                summary: self.summary.clone(),
            }),
            "json" => Reading::Json(JsonRules {
                items: needed(&self.item, "item")?,
                title: needed(&self.title, "title")?,
                link: self.link.clone(),
                id: self.id.clone(),
                date: self.date.clone(),
                summary: self.summary.clone(),
            }),
            "sitemap" => Reading::Sitemap(SitemapRules {
                containing: self.containing.clone(),
            }),
            _ => Reading::Feed,
        }))
    }

    fn options(&self) -> Result<Options> {
        let header = |line: &str| {
            let detail = both!(
                "write one header a line, as Name: value",
                "每行写一个请求头，格式为 Name: value"
            );
            let (name, value) = line
                .split_once(':')
                .ok_or_else(|| Problem::invalid("options.fetch.headers", detail))?;
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        };
        let headers = lines(self.headers.as_deref());
        Ok(Options {
            fetch: Fetch {
                headers: headers.iter().map(|it| header(it)).collect::<Result<_>>()?,
                bearer: self.bearer.clone(),
                user: self.user.clone(),
                password: self.password.clone(),
                proxy: self.proxy.clone(),
                user_agent: self.user_agent.clone(),
                robots: self.robots.as_deref().map(|robots| robots == "on"),
            },
            filters: lines(self.filters.as_deref()),
            error_texts: lines(self.error_texts.as_deref()),
            full_text: self.full_text.is_some(),
            site: self.site.clone(),
            from_file: false,
        })
    }
}

fn lines(text: Option<&str>) -> Vec<String> {
    let lines = text.unwrap_or_default().lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}
