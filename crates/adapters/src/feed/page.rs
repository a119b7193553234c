//! A page by CSS selectors.

use almanack_core::source::{
    check::{Document, Failure, FailureClass},
    entry::ENTRIES_MAX,
    reading::HtmlRules,
};
use jiff::Timestamp;
use scraper::{ElementRef, Html, Node, Selector};
use url::Url;

use super::{
    advertised, date,
    draft::{self, Against, Draft},
    html,
    markup::Markup,
    rules::{self, RulesError},
};

/// Most that all items together may hold, counted in nodes and stretches of text. Items beside each
/// other hold no more than their page; of items inside each other every one holds all that are in
/// it.
const LOAD_MAX: usize = 2_000_000;
/// Text and attributes that weigh as much as a node, in bytes.
const STRETCH_BYTES: usize = 64;

/// The rules, ready for use.
pub(crate) struct Selectors<'a> {
    rules: &'a HtmlRules,
    item: Selector,
    title: Selector,
    link: Option<Selector>,
    date: Option<Selector>,
    summary: Option<Selector>,
}

impl<'a> Selectors<'a> {
    pub(crate) fn parse(rules: &'a HtmlRules) -> Result<Self, RulesError> {
        let optional = |name, selector: &Option<String>| {
            let selector = selector.as_deref();
            selector
                .map(|selector| parse_selector(name, selector))
                .transpose()
        };
        Ok(Self {
            rules,
            item: parse_selector("item", &rules.item)?,
            title: parse_selector("title", &rules.title)?,
            link: optional("link", &rules.link)?,
            date: optional("date", &rules.date)?,
            summary: optional("summary", &rules.summary)?,
        })
    }

    pub(crate) fn read(
        &self,
        text: &str,
        base: &Url,
        against: &Against,
    ) -> Result<Document, Failure> {
        let page = parse(text)?;
        let base = advertised::base_of(&page, base);
        let mut matches = page.select(&self.item);
        let items: Vec<ElementRef<'_>> = matches.by_ref().take(ENTRIES_MAX).collect();
        let left_out = matches.count();
        self.weigh(&items)?;
        let drafts: Vec<Draft> = items.iter().map(|item| self.draft(*item)).collect();
        let title = advertised::title_of(&page);
        self.check(&drafts, title.as_deref())?;
        let mut document = draft::document(title, drafts, &base, against);
        document.left_out += left_out;
        Ok(document)
    }

    /// Refuses items whose processing would cost far more than their page.
    fn weigh(&self, items: &[ElementRef<'_>]) -> Result<(), Failure> {
        let mut left = LOAD_MAX;
        let nodes = items.iter().flat_map(|item| item.descendants());
        for node in nodes {
            left = left.checked_sub(load(node.value())).ok_or_else(|| {
                let detail = format!(
                    "the selector `{}` for `item` matches elements inside each other, too many to look through",
                    self.rules.item
                );
                Failure::new(FailureClass::Rules, detail)
            })?;
        }
        Ok(())
    }

    fn draft(&self, item: ElementRef<'_>) -> Draft {
        let found = |selector: &Option<Selector>| first(item, selector.as_ref()?);
        let link = match &self.link {
            Some(selector) => first(item, selector),
            None => Some(item),
        };
        Draft {
            title: first(item, &self.title).map(words).unwrap_or_default(),
            link: link.and_then(|element| attribute_within(element, "href")),
            published_at: found(&self.date).and_then(time),
            summary: found(&self.summary).map(|element| Markup::Html(element.inner_html())),
            ..Draft::default()
        }
    }

    /// An entry is known by its link or title. A rule for one that finds nothing anywhere is a
    /// mistake, or the page has changed.
    fn check(&self, drafts: &[Draft], title: Option<&str>) -> Result<(), Failure> {
        let rules = self.rules;
        if drafts.is_empty() {
            let page = match title {
                Some(title) => format!("the page “{title}”"),
                None => "the page".to_owned(),
            };
            let detail = format!(
                "the selector `{}` for `item` matches nothing on {page}",
                rules.item
            );
            return Err(Failure::new(FailureClass::Rules, detail));
        }
        let any = |has: fn(&Draft) -> bool| drafts.iter().any(has);
        let known_by = [
            (
                "title",
                Some(&*rules.title),
                any(|draft| !draft.title.is_empty()),
            ),
            (
                "link",
                rules.link.as_deref(),
                any(|draft| draft.link.is_some()),
            ),
        ];
        if let Some((name, selector)) = rules::unfound(known_by) {
            let detail = format!(
                "the selector `{}` for `item` matches {}, but `{selector}` for `{name}` finds nothing in any of them",
                rules.item,
                drafts.len(),
            );
            return Err(Failure::new(FailureClass::Rules, detail));
        }
        Ok(())
    }
}

fn parse_selector(name: &'static str, selector: &str) -> Result<Selector, RulesError> {
    rules::check(name, selector)?;
    Selector::parse(selector).map_err(|error| RulesError::Selector {
        name,
        selector: selector.to_owned(),
        reason: reason(&error.to_string()),
    })
}

/// The parser's errors in words for the author of the selector.
fn reason(error: &str) -> String {
    const MEANINGS: [(&str, &str); 5] = [
        ("EmptySelector", "it is empty"),
        ("ClassNeedsIdent", "a name must follow the dot"),
        (
            "DanglingCombinator",
            "something is missing behind its last sign",
        ),
        (
            "UnsupportedPseudoClassOrElement",
            "this pseudo-class is not known here",
        ),
        ("EOL", "it ends too early"),
    ];
    let mut meanings = MEANINGS.iter();
    let meaning = meanings.find(|(word, _)| error.contains(word));
    meaning
        .map_or("it breaks the rules of CSS", |(_, meaning)| meaning)
        .to_owned()
}

fn load(node: &Node) -> usize {
    let bytes = match node {
        Node::Text(text) => text.len(),
        Node::Comment(comment) => comment.len(),
        Node::Element(element) => element.attrs().map(|(_, value)| value.len()).sum(),
        _ => 0,
    };
    1 + bytes / STRETCH_BYTES
}

/// Reads a page within reason.
pub(crate) fn parse(text: &str) -> Result<Html, Failure> {
    html::parse(text)
        .map_err(|excess| Failure::new(FailureClass::Malformed, format!("the page {excess}")))
}

/// What a selector finds first, the item itself among it: an item may be its own link.
fn first<'a>(item: ElementRef<'a>, selector: &Selector) -> Option<ElementRef<'a>> {
    let itself = selector.matches(&item).then_some(item);
    itself.or_else(|| item.select(selector).next())
}

fn words(element: ElementRef<'_>) -> String {
    let words: Vec<&str> = element.text().collect();
    super::text::one_line(&words.join(" "))
}

/// An attribute at or inside an element.
fn attribute_within(element: ElementRef<'_>, name: &str) -> Option<String> {
    let mut elements = element.descendants().filter_map(ElementRef::wrap);
    let value = elements.find_map(|element| element.value().attr(name))?;
    Some(value.to_owned())
}

fn time(element: ElementRef<'_>) -> Option<Timestamp> {
    let machine = attribute_within(element, "datetime");
    let machine = machine.and_then(|datetime| date::parse(&datetime));
    machine.or_else(|| date::parse(&words(element)))
}

#[cfg(test)]
mod tests;
