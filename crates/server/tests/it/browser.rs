//! A browser as the dashboard meets it: it asks for pages, fills in forms that it found there, and
//! follows nothing by itself.

use axum::http::Method;
use scraper::{Html, Selector};

use crate::harness::{Answer, World, with};

const FORM: &str = "application/x-www-form-urlencoded";

impl Answer {
    /// The page, which must be one.
    pub(crate) fn page(&self) -> Html {
        let kind = self.header("content-type").unwrap_or_default();
        assert!(kind.starts_with("text/html"), "{kind}: {}", self.body);
        Html::parse_document(&self.body)
    }

    /// The words of what a selector finds.
    pub(crate) fn texts(&self, selector: &str) -> Vec<String> {
        let selector = Selector::parse(selector).unwrap();
        let page = self.page();
        let found = page.select(&selector);
        found
            .map(|element| {
                let words = element.text().flat_map(str::split_whitespace);
                words.collect::<Vec<_>>().join(" ")
            })
            .collect()
    }

    /// An attribute of what a selector finds.
    pub(crate) fn attributes(&self, selector: &str, name: &str) -> Vec<String> {
        let selector = Selector::parse(selector).unwrap();
        let page = self.page();
        let found = page.select(&selector);
        found
            .filter_map(|element| element.attr(name).map(str::to_owned))
            .collect()
    }

    /// Where a form that was carried out leads.
    pub(crate) fn leads_to(&self) -> &str {
        assert_eq!(self.status, 303, "{}", self.body);
        self.header("location").unwrap()
    }
}

impl World {
    /// A page in English.
    pub(crate) async fn look(&self, path: &str) -> Answer {
        self.get(path).await
    }

    /// A page in Chinese.
    pub(crate) async fn look_in_chinese(&self, path: &str) -> Answer {
        let headers = [("accept-language", "zh-CN")];
        self.send(with(Method::GET, path, "", &headers)).await
    }

    /// Sends a form with the key that pages have.
    pub(crate) async fn fill(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let page = self.look("/ui").await;
        let keys = page.attributes("input[name=form_key]", "value");
        let key = keys.first().expect("a page has a form").clone();
        self.fill_with(&key, path, fields).await
    }

    /// Sends a form with a key of one's own.
    pub(crate) async fn fill_with(&self, key: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        let body = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("form_key", key)
            .extend_pairs(fields)
            .finish();
        self.send(with(Method::POST, path, &body, &[("content-type", FORM)]))
            .await
    }
}

/// What must be true of every page: one first heading, no step left out between headings, names for
/// everything that is filled in, nothing inline.
pub(crate) fn check_page(answer: &Answer) {
    let page = answer.page();
    let all = |selector: &str| {
        let selector = Selector::parse(selector).unwrap();
        page.select(&selector).collect::<Vec<_>>().len()
    };
    assert_eq!(all("h1"), 1, "{}", answer.body);
    assert_eq!(all("[style], [onclick], style, script:not([src])"), 0);
    let headings = Selector::parse("main h1, main h2, main h3, main h4").unwrap();
    let mut level = 0;
    for heading in page.select(&headings) {
        let next: u32 = heading.value().name()[1..].parse().unwrap();
        assert!(next <= level + 1, "h{next} after h{level}");
        level = next;
    }
    let fields =
        Selector::parse("main input:not([type=hidden]), main select, main textarea").unwrap();
    for field in page.select(&fields) {
        let inside = field.ancestors().any(|above| {
            let element = above.value().as_element();
            element.is_some_and(|element| element.name() == "label")
        });
        let id = field.attr("id").unwrap_or("none");
        let named = inside || all(&format!("label[for='{id}']")) == 1;
        assert!(named, "no label: {}", field.html());
    }
    let mut ids: Vec<&str> = Vec::new();
    let with_id = Selector::parse("[id]").unwrap();
    for element in page.select(&with_id) {
        let id = element.attr("id").unwrap();
        assert!(!ids.contains(&id), "twice on the page: {id}");
        ids.push(id);
    }
}
