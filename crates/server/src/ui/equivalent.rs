//! What a page does or shows as a command line and as a curl call, to copy.

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
    pub(crate) fn command(words: &[&str]) -> Self {
        Self::call("", "").cli(words)
    }

    /// With this JSON body.
    pub(crate) fn body(mut self, body: &Value) -> Self {
        self.body = Some(body.to_string());
        self
    }

    /// With the arguments of the command line after `almanack`; they are quoted here.
    pub(crate) fn cli(mut self, words: &[&str]) -> Self {
        let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
        self.cli = Some(format!("almanack {}", words.join(" ")));
        self
    }

    /// The command that lists such rows, filtered by flags with the fields' names.
    pub(crate) fn listing(
        self,
        what: &str,
        narrowed: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let given = narrowed.into_iter();
        let flags = given.flat_map(|(name, value)| [format!("--{name}"), value]);
        let flags: Vec<String> = flags.collect();
        let words = [what, "list"].into_iter();
        self.cli(
            &words
                .chain(flags.iter().map(String::as_str))
                .collect::<Vec<_>>(),
        )
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
        let lang = viewer.lang;
        let curl = (!self.method.is_empty()).then(|| self.curl(viewer));
        html! {
            details class="equivalent" {
                summary { (lang.pick("CLI and curl", "命令行与 curl")) }
                @for command in self.cli.iter().chain(&curl) {
                    div class="command" {
                        pre tabindex="0" { code { (command) } }
                        button type="button" class="copy" data-copy=(command) hidden { (lang.pick("Copy", "复制")) }
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
