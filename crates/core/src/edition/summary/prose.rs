//! What of a page is prose: sentences that somebody wrote about something.
//!
//! Articles come with code, tables, menus and what every page of a site says at its end; some
//! readers return them as Markdown. All of that is recognised line by line, by signs that prose
//! seldom has. A line that is taken for prose by mistake is one bad sentence in a summary; a line of
//! prose that is left out is one sentence less to choose from. So in doubt a line is left out.

use super::is_cjk;

/// Parts that no sentence has, but code.
const CODE: [&str; 19] = [
    "=>", "->", "::", "();", ");", "==", "!=", "&&", "||", "</", "/>", "{{", "}}", "+=", "<-",
    "[]", "{}", "%s", "\\n",
];
/// How lines of code, of shells and of logs begin.
const CODE_FIRST: [&str; 21] = [
    "$ ", "# ", "#!", "#include", "//", "/*", "*/", "--", "@", "import ", "from ", "const ",
    "let ", "var ", "def ", "fn ", "func ", "class ", "return ", "sudo ", "git ",
];
/// Of those, the beginnings that sentences share: they count only without the end of a sentence.
const ALSO_WORDS: [&str; 8] = [
    "from ", "import ", "let ", "class ", "return ", "# ", "git ", "@",
];
/// What pages say around their articles, in small letters.
const BOILERPLATE: [&str; 46] = [
    "skip to content",
    "skip to main",
    "sign in",
    "log in",
    "sign up",
    "subscribe",
    "newsletter",
    "cookie",
    "privacy policy",
    "terms of service",
    "terms of use",
    "all rights reserved",
    "©",
    "copyright",
    "share this",
    "share on",
    "follow us",
    "follow me",
    "read more",
    "read next",
    "continue reading",
    "click here",
    "advertisement",
    "sponsored",
    "related articles",
    "related posts",
    "min read",
    "minute read",
    "leave a comment",
    "comments are closed",
    "table of contents",
    "back to top",
    "enable javascript",
    "your browser",
    "powered by",
    "last updated",
    "edit this page",
    "view on github",
    "open in app",
    "点击查看",
    "阅读原文",
    "版权所有",
    "转载请注明",
    "关注我们",
    "扫码",
    "登录",
];
/// Longer lines than these have something else to say beside such words, in characters.
const BOILERPLATE_CHARS_MAX: usize = 160;
/// What counts as a short line: in words, and in characters of a script without spaces.
const BOILERPLATE_WORDS_MAX: usize = 8;
const BOILERPLATE_CJK_MAX: usize = 16;
/// What stands between the items of a menu, how many items make one, and how long each may be.
const SEPARATORS: [&str; 7] = [" | ", " · ", " » ", " › ", " > ", " • ", " / "];
const ITEMS_MIN: usize = 3;
const ITEM_WORDS_MAX: usize = 4;
/// Signs that are frequent in code and rare in sentences.
const SIGNS: &str = "{}[]<>=|\\_$#*^~`;@+";
/// Where more of a line than this are such signs, in hundredths, it is not prose.
const SIGNS_SHARE_MAX: usize = 6;

/// The prose of a text, a paragraph as before; all of it where nothing is.
pub(super) fn only(text: &str) -> String {
    let mut kept = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        let line = line.trim_end();
        if is_fence(line) {
            fenced = !fenced;
            continue;
        }
        if !fenced {
            let plain = unmarked(line);
            let blank = plain.is_empty();
            // Something that was left out ends a paragraph, too.
            kept.push(if blank || !is_prose(&plain) {
                String::new()
            } else {
                plain
            });
        }
    }
    let prose = kept.join("\n");
    let has_letters = |text: &str| text.chars().any(char::is_alphanumeric);
    if has_letters(&prose) {
        return prose;
    }
    // Nothing but a fence, perhaps: then it is what there is.
    text.to_owned()
}

/// Whether a line is of sentences rather than of code, navigation or boilerplate.
pub fn is_prose(line: &str) -> bool {
    let line = line.trim();
    !(is_code(line) || is_navigation(line) || is_boilerplate(line) || is_address(line))
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

fn is_code(line: &str) -> bool {
    let ends = line.ends_with(['{', '}', ';', '\\', '=']) && !line.ends_with("&nbsp;");
    let sentence = line.ends_with(['.', '!', '?', '。', '！', '？', '”', '"', ')']);
    let begins = CODE_FIRST
        .iter()
        .any(|first| line.starts_with(first) && !(sentence && ALSO_WORDS.contains(first)));
    ends || begins || CODE.iter().any(|part| line.contains(part)) || is_signs(line)
}

fn is_signs(line: &str) -> bool {
    let signs = line.chars().filter(|c| SIGNS.contains(*c)).count();
    signs > 1 && signs * 100 > line.chars().count() * SIGNS_SHARE_MAX
}

/// Crumbs and menus: several short items between separators, and tables.
fn is_navigation(line: &str) -> bool {
    let short = |item: &&str| item.split_whitespace().count() <= ITEM_WORDS_MAX;
    let is_menu = |by: &&str| {
        let items = line.split(*by).map(str::trim);
        let items: Vec<&str> = items.filter(|item| !item.is_empty()).collect();
        items.len() >= ITEMS_MIN && items.iter().all(short)
    };
    line.starts_with('|') || SEPARATORS.iter().any(is_menu)
}

fn is_boilerplate(line: &str) -> bool {
    if line.chars().count() > BOILERPLATE_CHARS_MAX {
        return false;
    }
    let lower = line.to_lowercase();
    // Words of an alphabet count where they begin a line or stand in a short one.
    let words = lower.split_whitespace().count();
    BOILERPLATE.iter().any(|said| {
        let short = if said.chars().any(is_cjk) {
            lower.chars().count() <= BOILERPLATE_CJK_MAX
        } else {
            words <= BOILERPLATE_WORDS_MAX
        };
        lower.starts_with(said) || short && lower.contains(said)
    })
}

fn is_address(line: &str) -> bool {
    let web = line.starts_with("http://") || line.starts_with("https://");
    web && !line.contains(char::is_whitespace)
}

/// A line without the marks of Markdown: a heading's, a list's, emphasis, links as their texts.
fn unmarked(line: &str) -> String {
    let line = line.trim();
    if line.starts_with("![") || line.starts_with('#') && line.contains("# ") {
        return String::new();
    }
    let line = line.strip_prefix("> ").unwrap_or(line);
    let bullet = ["- ", "* ", "+ ", "• "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark));
    without_links(bullet.unwrap_or(line))
        .replace("**", "")
        .replace('`', "")
}

/// `[text](address)` becomes `text`.
fn without_links(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('[') {
        let found = after
            .split_once("](")
            .and_then(|(text, tail)| Some((text, tail.split_once(')')?.1)));
        plain.push_str(before);
        let Some((text, tail)) = found.filter(|(text, _)| !text.contains('[')) else {
            plain.push('[');
            rest = after;
            continue;
        };
        plain.push_str(text);
        rest = tail;
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ed_36_code_navigation_and_boilerplate_are_no_prose() {
        for line in [
            "let x = compute(y);",
            "fn main() {",
            "}",
            "if (a && b) { return; }",
            "$ cargo install ripgrep",
            "#include <stdio.h>",
            "SELECT * FROM t WHERE a_id == b_id",
            "<div class=\"x\"></div>",
            "from collections import deque",
            "docker run -p 80:80 --name=x_y my_image:1 --env=a_b",
            "Home | Blog | About | Contact",
            "News › World › Europe",
            "| a | b | c |",
            "Skip to content",
            "Sign in to continue",
            "Subscribe to our newsletter for weekly updates",
            "© 2026 Example Inc. All rights reserved.",
            "We use cookies to improve this site.",
            "5 min read",
            "阅读原文",
            "https://example.org/a/b",
        ] {
            assert!(!is_prose(line), "{line}");
        }
    }

    #[test]
    fn ed_36_sentences_are_prose_even_about_code() {
        for line in [
            "The compiler now inlines calls across crates, which saves a third of the time.",
            "From now on every release is signed.",
            "Let us look at what the numbers say.",
            "Return addresses are kept on a second stack.",
            "C++ and C# programs benefit as well (by 10% to 20%).",
            "The function `read_line` returns an error instead of a string.",
            "Either/or is a choice; this is not.",
            "They measured 3 > 2 in most of the cases they looked at.",
            "The newsletter of the company, which half of its staff writes, was stopped in May after eleven years.",
            "数据库引擎变快了；原因是新的编译器。",
            "",
        ] {
            assert!(is_prose(line), "{line}");
        }
    }

    #[test]
    fn ed_36_what_is_left_of_markdown_are_its_sentences() {
        let page = "# A heading\n\n![a picture](x.png)\n\nThe [engine](https://x.example/y) is **fast** now.\n\n\
                    ```rust\nThe code says something else entirely here.\n```\n\n- It was rewritten in a week.\n";
        let kept: Vec<String> = only(page)
            .lines()
            .filter(|it| !it.is_empty())
            .map(str::to_owned)
            .collect();
        assert_eq!(
            kept,
            ["The engine is fast now.", "It was rewritten in a week."]
        );
        assert_eq!(only("```\nx y z\n```"), "```\nx y z\n```", "all there is");
        assert_eq!(without_links("a [b](c) [d] [e](f"), "a b [d] [e](f");
    }
}
