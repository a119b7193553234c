//! Templates of readers' pages: the same language as those of documents (`MiniJinja`), but HTML.
//!
//! The built-in template is one that an operator could have written; another can take its place
//! (`edition.page_template`). Everything that others wrote is escaped by itself, addresses that are
//! not of the web are empty, and the content security policy of the page lets nothing run: a
//! careless template may look bad, but does no harm.
//!
//! What must stay true:
//!
//! - Rendering is pure, and it ends: a template has fuel for so many steps and room for so many
//!   bytes, as that of a document has.
//! - A name that does not exist is an error with its line. That is found at start-up, on samples in
//!   which everything is missing somewhere.

use std::io;

use almanack_core::edition::port::BadTemplate;
use minijinja::{
    AutoEscape, Environment, Error, ErrorKind, Output, State as Rendering, UndefinedBehavior,
    syntax::SyntaxConfig,
    value::{Serde, Value},
};
use serde::Serialize;

use super::sample;

/// The page of an edition.
const PAGE: &str = include_str!("page.html.jinja");
/// Its stories, which feeds contain as well; templates may include them.
const STORIES: &str = include_str!("stories.html.jinja");
/// What feeds contain of an edition.
const FEED: &str =
    "{% for line in overview %}\n<p>{{ line }}</p>\n{% endfor %}\n{% include 'stories.html' %}";
/// How feeds and templates name the stories.
const STORIES_NAME: &str = "stories.html";
/// Steps that a template may take, and bytes it may print: as much as that of a document.
const FUEL: u64 = 1_000_000;
const PRINTED_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The template of the pages of editions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageTemplate {
    text: String,
    is_built_in: bool,
}

impl Default for PageTemplate {
    /// The one that comes with Almanack.
    fn default() -> Self {
        Self {
            text: PAGE.to_owned(),
            is_built_in: true,
        }
    }
}

impl PageTemplate {
    /// A custom template, tried on samples.
    pub fn new(text: impl Into<String>) -> Result<Self, BadTemplate> {
        let template = Self {
            text: text.into(),
            is_built_in: false,
        };
        for page in sample::all() {
            template.print(&page)?;
        }
        Ok(template)
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether the content security policy can name its style by a hash.
    pub(super) fn is_built_in(&self) -> bool {
        self.is_built_in
    }

    pub(super) fn print(&self, page: &impl Serialize) -> Result<String, BadTemplate> {
        print(&self.text, page)
    }
}

/// An edition as a part of another page, for feeds.
pub(super) fn content(page: &impl Serialize) -> Result<String, BadTemplate> {
    print(FEED, page)
}

fn print(template: &str, page: &impl Serialize) -> Result<String, BadTemplate> {
    let environment = environment().map_err(|error| bad_template(&error))?;
    let parsed = environment.template_from_named_str("page.html", template);
    let parsed = parsed.map_err(|error| bad_template(&error))?;
    let mut paper = Paper::default();
    let printed = parsed.render_captured_to(Value::from(Serde(page)), &mut paper);
    printed.map(drop).map_err(|error| bad_template(&error))?;
    let text = String::from_utf8_lossy(&paper.0);
    Ok(format!("{}\n", text.trim_end()))
}

fn environment() -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()?;
    environment.set_syntax(syntax);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_formatter(escaped);
    environment.set_fuel(Some(FUEL));
    environment.set_debug(true);
    environment.add_template(STORIES_NAME, STORIES)?;
    Ok(environment)
}

/// The engine's own escape writes every slash of an address as a character reference.
fn escaped(
    out: &mut Output<'_>,
    rendering: &mut Rendering<'_, '_>,
    value: &Value,
) -> Result<(), Error> {
    match value.as_str() {
        Some(text) if !value.is_safe() && *rendering.auto_escape() == AutoEscape::Html => {
            let html = maud::html! { (text) };
            out.write_str(&html.0).map_err(Error::from)
        }
        _ => minijinja::escape_formatter(out, rendering, value),
    }
}

/// Line and reason. What else the engine knows are values, and those are not for messages.
fn bad_template(error: &Error) -> BadTemplate {
    let what = match error.kind() {
        ErrorKind::OutOfFuel => format!("takes more than {FUEL} steps"),
        ErrorKind::WriteFailure => format!("prints more than {PRINTED_BYTES_MAX} bytes"),
        kind => match error.detail() {
            Some(detail) => format!("{kind}: {detail}"),
            None => kind.to_string(),
        },
    };
    BadTemplate(match error.line() {
        Some(line) => format!("page template, line {line}: {what}"),
        None => format!("page template: {what}"),
    })
}

/// The output, with a limit.
#[derive(Default)]
struct Paper(Vec<u8>);

impl io::Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len().saturating_add(bytes.len()) > PRINTED_BYTES_MAX {
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ed_34_a_page_template_is_tried_before_it_is_used() {
        let own = PageTemplate::new("<h1>{{ title }}</h1>{% include 'stories.html' %}").unwrap();
        let page = own.print(&sample::all()[0]).unwrap();
        assert!(page.starts_with("<h1>HackerNews Daily</h1>"), "{page}");
        for (template, words) in [
            ("{{ nothing }}", "line 1: undefined value"),
            ("\n{% for x in", "line 2: syntax error"),
            (
                "{% for i in range(10000) %}{% for j in range(10000) %}{% endfor %}{% endfor %}",
                "steps",
            ),
            (
                "{% for i in range(9999) %}{{ 'x' * 999 }}{% endfor %}",
                "bytes",
            ),
            ("{{ stories[0].title }}", "line 1"),
            ("{% include 'secrets.html' %}", "template not found"),
        ] {
            let refused = PageTemplate::new(template).unwrap_err().to_string();
            assert!(refused.contains(words), "{template}: {refused}");
        }
    }

    #[test]
    fn what_others_wrote_is_escaped_in_every_template() {
        let own = PageTemplate::new("<p title=\"{{ title }}\">{{ title }}</p>").unwrap();
        let mut page = sample::all().remove(0);
        page.title = "<b>\"a/b\" & c</b>".to_owned();
        let text = "&lt;b&gt;&quot;a/b&quot; &amp; c&lt;/b&gt;";
        assert_eq!(
            own.print(&page).unwrap(),
            format!("<p title=\"{text}\">{text}</p>\n")
        );
    }
}
