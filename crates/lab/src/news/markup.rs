//! The site's own HTML: entities even for slashes and apostrophes, `<p>` between paragraphs only.

use crate::{chance::Chance, feeds::document::replaced};

/// `&` last, so that nothing is unescaped twice.
const ENTITIES: [(char, &str); 6] = [
    ('<', "&lt;"),
    ('>', "&gt;"),
    ('"', "&quot;"),
    ('\'', "&#x27;"),
    ('/', "&#x2F;"),
    ('&', "&amp;"),
];

/// Escapes as the site does.
pub(super) fn escape(text: &str) -> String {
    replaced(text, &ENTITIES)
}

/// Paragraphs of plain text, as HTML.
pub(super) fn text(paragraphs: &[String]) -> String {
    let escaped: Vec<String> = paragraphs.iter().map(|it| escape(it)).collect();
    escaped.join("<p>")
}

/// A comment as HTML and as plain text: sometimes with a link, emphasis or code.
pub(super) fn comment(remarks: &[String], chance: &mut Chance) -> (String, String) {
    let mut html: Vec<String> = remarks.iter().map(|it| escape(it)).collect();
    let mut plain = remarks.to_vec();
    match chance.below(10) {
        0 | 1 => {
            let address = format!("https://example.org/notes/{}?a=1&b=2", chance.below(900));
            let shown = escape(&address);
            html.push(format!("<a href=\"{shown}\" rel=\"nofollow\">{shown}</a>"));
            plain.push(address);
        }
        2 => {
            html.push("<i>It&#x27;s the waiting.</i>".to_owned());
            plain.push("It's the waiting.".to_owned());
        }
        3 => {
            html.push("<pre><code>  if a &lt; b &amp;&amp; c { wait() }\n</code></pre>".to_owned());
            plain.push("if a < b && c { wait() }".to_owned());
        }
        _ => {}
    }
    (html.join("<p>"), plain.join("\n\n"))
}

/// The plain text of the site's HTML, a blank line between paragraphs.
pub(super) fn plain(html: &str) -> String {
    let paragraphs = html.split("<p>").map(|it| unescape(&without_tags(it)));
    let paragraphs: Vec<String> = paragraphs.map(|it| it.trim().to_owned()).collect();
    paragraphs.join("\n\n").trim().to_owned()
}

/// The paragraphs of the site's HTML as plain text.
pub(super) fn paragraphs(html: &str) -> Vec<String> {
    plain(html).split("\n\n").map(str::to_owned).collect()
}

fn without_tags(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        rest = tag.split_once('>').map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    text
}

/// What [`escape`] made.
fn unescape(text: &str) -> String {
    let mut text = text.to_owned();
    for (letter, entity) in ENTITIES {
        text = text.replace(entity, &letter.to_string());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_what_a_comment_was_made_from() {
        for seed in 0..200 {
            let mut chance = Chance::new(seed);
            let remarks = crate::news::prose::remarks(&mut chance);
            let (html, text) = comment(&remarks, &mut chance);
            assert_eq!(plain(&html), text, "{html}");
        }
        assert_eq!(plain("&amp;lt;"), "&lt;");
        assert_eq!(plain("<p></p>"), "");
    }

    #[test]
    fn slashes_and_apostrophes_become_entities_too() {
        assert_eq!(
            escape("it's <a/> & \"b\""),
            "it&#x27;s &lt;a&#x2F;&gt; &amp; &quot;b&quot;"
        );
    }
}
