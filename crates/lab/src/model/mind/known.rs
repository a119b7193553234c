//! What the model knows: the stories of the simulated news site, and what readers remark on them.

use super::fitting;
use crate::{
    feeds::language::Language,
    news::catalogue::{Printed, first_sentence, retold, summarised_in, titled},
};

/// Most remarks that a summary of a discussion retells.
const REMARKS_MAX: usize = 3;
/// Stories that an overview names; of the first two it says more.
const NAMED_MAX: usize = 5;

/// A known title in a language.
pub(super) fn title(title: &str, language: Language) -> Option<String> {
    titled(title).map(|it| it.title(language))
}

/// A summary of a list of known stories, of a known story, or of a discussion.
pub(super) fn summary(text: &str, language: Language, chars_max: usize) -> Option<String> {
    if let Some(overview) = overview(text, language, chars_max) {
        return Some(overview);
    }
    if let Some(story) = summarised_in(text) {
        let summary = story.summary.of(language);
        let first = first_sentence(summary);
        let rest = summary.strip_prefix(first).unwrap_or_default().trim();
        return Some(fitting([first, rest], chars_max, language));
    }
    let mut remarks = retold(text, language).take(REMARKS_MAX).peekable();
    remarks.peek()?;
    Some(fitting(remarks, chars_max, language))
}

/// What opens an edition, from its numbered titles.
fn overview(text: &str, language: Language, chars_max: usize) -> Option<String> {
    let listed = text.lines().filter_map(|line| {
        let (number, title) = line.split_once(". ")?;
        number.parse::<u32>().ok()?;
        titled(title)
    });
    let listed: Vec<Printed> = listed.take(NAMED_MAX).collect();
    let [first, second, others @ ..] = listed.as_slice() else {
        return None;
    };
    let name = |it: &Printed| match language {
        Language::Chinese => format!("《{}》", it.title(language)),
        _ => format!("“{}”", it.title(language)),
    };
    let about = |it: &Printed| first_sentence(it.story.summary.of(language));
    let names: Vec<String> = others.iter().map(name).collect();
    let (lead, next) = ((name(first), about(first)), (name(second), about(second)));
    let sentences = match language {
        Language::Chinese => [
            format!("今天最值得一读的是{}：{}", lead.0, lead.1),
            format!("其次是{}：{}", next.0, next.1),
            format!("此外还有{}。", names.join("、")),
        ],
        _ => [
            format!("{} leads the day: {}", lead.0, lead.1),
            format!("Then {}: {}", next.0, next.1),
            format!("Also worth your time: {}.", names.join(", ")),
        ],
    };
    let count = if names.is_empty() { 2 } else { 3 };
    let sentences = sentences.iter().take(count).map(String::as_str);
    Some(fitting(sentences, chars_max, language))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "<<<TEXT\n1. Why our tests failed only on Thursdays\nA backup.\n\n\
        2. A lock file is not a lock\n\n3. 编译器应该解释自己\n摘要。\nTEXT>>>";

    #[test]
    fn a_list_of_known_stories_becomes_an_opening() {
        let english = summary(LIST, Language::English, 600).unwrap();
        assert!(
            english.starts_with("“Why our tests failed only on Thursdays” leads"),
            "{english}"
        );
        assert!(
            english.ends_with("“Compilers should explain themselves”."),
            "{english}"
        );
        let chinese = summary(LIST, Language::Chinese, 600).unwrap();
        assert!(
            chinese.starts_with("今天最值得一读的是《为什么我们的测试只在星期四失败》：构建服务器")
        );
        assert!(
            chinese.ends_with("此外还有《编译器应该解释自己》。"),
            "{chinese}"
        );
        let short = summary(LIST, Language::English, 200).unwrap();
        assert!(
            short.chars().count() <= 200 && short.ends_with('.'),
            "{short}"
        );
    }

    #[test]
    fn a_known_story_and_a_discussion_are_summarised_in_the_language_asked_for() {
        let story = "Six ways. The author followed 400 libraries for three years and counted \
            broken builds. What helped was something else.";
        let chinese = summary(story, Language::Chinese, 300).unwrap();
        assert!(chinese.starts_with("作者跟踪四百个软件库"), "{chinese}");
        let english = summary(&chinese, Language::English, 100).unwrap();
        assert!(english.ends_with("counted broken builds."), "{english}");
        let said = "The licence is the real news here.\n\n---\n\nI ran something like this for \
            7 years and the backups were the hard part.";
        let chinese = summary(said, Language::Chinese, 300).unwrap();
        assert!(
            chinese.contains("最难的是备份") && chinese.contains("许可证"),
            "{chinese}"
        );
        assert_eq!(
            summary("Tides rise and fall.", Language::English, 300),
            None
        );
    }
}
