//! The renderer: renders editions from a template that operators can replace (`MiniJinja`).
//!
//! The built-in template makes the Markdown of the founding documents, in the edition's language.
//! Untrusted text goes through filters: a title stays one line, a summary stays paragraphs, and
//! nothing in them is taken for markup, front matter or a template of the site that shows it.
//!
//! What must stay true:
//!
//! - Rendering is pure: the same template and inputs give the same bytes. No filter, function or
//!   value knows the time, chance or the machine.
//! - It ends: a template has fuel for so many steps and room for so many bytes.
//! - A name that does not exist is an error with its line, never an empty text.
//! - The output ends with exactly one line break, whatever the template's last lines are.

mod context;
mod filter;

use std::io;

use almanack_core::edition::{
    document::Inputs,
    port::{BadTemplate, Renderer},
};
use minijinja::{
    AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior,
    syntax::SyntaxConfig,
    value::{Serde, Value},
};
use sha2::{Digest, Sha256};

use self::context::{Context, sample};

/// The default template.
const BUILT_IN: &str = include_str!("renderer/edition.md.jinja");
/// Steps a template may take. The largest edition takes about 10,000.
const FUEL: u64 = 1_000_000;
/// Bytes it may print.
const PRINTED_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A renderer with its template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    text: String,
}

impl Template {
    /// The template that comes with Almanack.
    pub fn built_in() -> Self {
        let text = BUILT_IN.to_owned();
        Self { text }
    }

    /// A custom template, tried on samples: with everything there can be, with nothing, in several
    /// languages.
    pub fn new(text: impl Into<String>) -> Result<Self, BadTemplate> {
        let template = Self { text: text.into() };
        for inputs in sample::all() {
            template.print(&template.text, &inputs)?;
        }
        Ok(template)
    }
}

impl Renderer for Template {
    fn template(&self) -> &str {
        &self.text
    }

    fn print(&self, template: &str, inputs: &Inputs) -> Result<String, BadTemplate> {
        let environment = environment().map_err(|error| bad_template(&error))?;
        let parsed = environment.template_from_named_str("template", template);
        let parsed = parsed.map_err(|error| bad_template(&error))?;
        let mut page = Page::default();
        let context = Value::from(Serde(Context::of(inputs)));
        let printed = parsed.render_captured_to(context, &mut page);
        printed.map(drop).map_err(|error| bad_template(&error))?;
        let text = String::from_utf8_lossy(&page.0);
        Ok(format!("{}\n", text.trim_end()))
    }

    fn digest(&self, bytes: &[u8]) -> String {
        format!("{:x}", Sha256::digest(bytes))
    }
}

/// Where templates are rendered: nothing but our own filters beside the language's own.
fn environment() -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()?;
    environment.set_syntax(syntax);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_fuel(Some(FUEL));
    environment.set_debug(true);
    environment.add_filter("escape_markdown", |text: &str| filter::line(text));
    environment.add_filter("paragraphs", |text: &str| filter::paragraphs(text));
    environment.add_filter("quoted", |text: &str| filter::quoted(text));
    environment.add_filter("link", |url: &str| filter::link(url));
    environment.add_filter("yaml", |text: &str| filter::yaml(text));
    Ok(environment)
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
        Some(line) => format!("template, line {line}: {what}"),
        None => format!("template: {what}"),
    })
}

/// The output, with a limit.
#[derive(Default)]
struct Page(Vec<u8>);

impl io::Write for Page {
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
mod tests;
