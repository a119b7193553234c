//! What a page does or shows as a command line and as a curl call, to copy.

use std::fmt::Display;

use serde_json::Value;

use crate::ui::prelude::*;

/// An equivalent without a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Equivalent {
    cli: Option<String>,
    method: &'static str,
    path: String,
    body: Option<String>,
}

impl Equivalent {
    /// A call of the API.
    pub(crate) fn call(method: &'static str, path: impl Into<String>) -> Self {
        Self {
            cli: None,
            method,
            path: path.into(),
            body: None,
        }
    }

    /// A command line alone, for what the API does not offer.
    pub(crate) fn command(words: impl IntoIterator<Item: AsRef<str>>) -> Self {
        Self::call("", "").cli(words)
    }

    /// An action on one thing: `almanack NOUN ACT ID`, and the call of the same name.
    pub(crate) fn act(method: &'static str, noun: &str, id: impl Display, act: &str) -> Self {
        let call = Self::call(method, format!("/api/v1/{noun}s/{id}/{act}"));
        call.cli([noun, act, &id.to_string()])
    }

    /// With this JSON body.
    pub(crate) fn body(mut self, body: &Value) -> Self {
        self.body = Some(body.to_string());
        self
    }

    /// With the arguments of the command line after `almanack`; they are quoted here.
    pub(crate) fn cli(mut self, words: impl IntoIterator<Item: AsRef<str>>) -> Self {
        let words = words.into_iter().map(|word| quote(word.as_ref()));
        let words: Vec<String> = words.collect();
        self.cli = Some(format!("almanack {}", words.join(" ")));
        self
    }

    /// The command that lists such rows, filtered by flags with the fields' names.
    pub(crate) fn listing(
        self,
        what: &str,
        narrowed: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let mut words = vec![what.to_owned(), "list".to_owned()];
        for (name, value) in narrowed {
            words.extend([format!("--{name}"), value]);
        }
        self.cli(words)
    }

    /// The call as a curl command.
    pub(crate) fn curl(&self, viewer: &Viewer) -> String {
        let url = quote(&format!("{}{}", viewer.base, self.path));
        let mut command = match self.method {
            "GET" => format!("curl {url}"),
            method => format!("curl -X {method} {url}"),
        };
        if viewer.signed_in {
            command.push_str(" -H \"Authorization: Bearer $ALMANACK_TOKEN\"");
        }
        if let Some(body) = &self.body {
            command.push_str(" -H 'Content-Type: application/json' -d ");
            command.push_str(&quote(body));
        }
        command
    }

    /// Both, folded.
    pub(crate) fn show(&self, viewer: &Viewer) -> Markup {
        let curl = (!self.method.is_empty()).then(|| self.curl(viewer));
        html! {
            details class="equivalent" {
                summary { (viewer.lang.pick("CLI and curl", "命令行与 curl")) }
                @for command in self.cli.iter().chain(&curl) {
                    div class="command" {
                        pre tabindex="0" { code { (command) } }
                        button type="button" class="copy" data-copy=(command) hidden { (viewer.lang.pick("Copy", "复制")) }
                    }
                }
            }
        }
    }
}

/// Quotes an argument for a shell.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        for (word, quoted) in [
            ("article:42", "article:42"),
            ("", "''"),
            ("two words", "'two words'"),
            ("it's", r"'it'\''s'"),
            ("$(rm -rf /)", "'$(rm -rf /)'"),
        ] {
            assert_eq!(quote(word), quoted);
        }
    }
}
