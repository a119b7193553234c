//! The model's answers: short, deterministic, and in the language asked for.
//!
//! The stories of the simulated news site are known: their titles and summaries were written by hand
//! in English and Chinese. Of any other text it does what a cheap model would:
//!
//! - in English, a title stays, and a summary is the first sentences;
//! - in Chinese, a translation puts frequent words into Chinese, keeps the others, and ends with a
//!   mark derived from the original. So every translation has a Chinese character, two titles rarely
//!   share one, and markup or quotes in a title survive, as a test for what prints it.

mod known;

use crate::{chance::Chance, feeds::language::Language, fingerprint::bits};

/// Characters of marks; 32, so that three of them distinguish 32,768 originals.
const MARKS: &str = "松石云海山川星河风雪林泉竹梅兰菊江湖春夏秋冬晨暮青白朱玄金玉琴书";
/// Words too frequent to be a text's topic.
const IDLE_WORDS: [&str; 16] = [
    "about", "after", "their", "there", "these", "which", "would", "could", "should", "https",
    "where", "other", "because", "being", "while", "comment",
];
/// Shortest word that can be a text's topic.
const TOPIC_CHARS_MIN: usize = 5;
/// The topic of a text without words.
const NO_TOPIC: &str = "这一主题";
/// What it says in English of a title, and of a text, that it cannot read.
const FOREIGN_TITLE: &str = "A story in another language";
const FOREIGN_TEXT: &str = "The text is in another language; the page has the original.";
/// An English summary has at most so many sentences, none shorter than this.
const SENTENCES_MAX: usize = 2;
const SENTENCE_CHARS_MIN: usize = 6;
const FIRST: [&str; 4] = [
    "这篇文章（MARK）围绕TOPIC展开，交代了它的背景和要解决的问题。",
    "本文（MARK）介绍了TOPIC的由来，并说明它为什么值得关注。",
    "作者（MARK）从自己的经历出发，讨论了TOPIC的现状与变化。",
    "文中（MARK）先梳理了TOPIC的基本情况，再给出具体的观察。",
];
const SECOND: [&str; 3] = [
    "作者认为TOPIC是关键所在，并用数据和例子说明了理由。",
    "其中对TOPIC的分析最为详细，列出了几种做法的得失。",
    "与TOPIC有关的部分给出了步骤，也指出了容易出错的地方。",
];
const THIRD: [&str; 3] = [
    "文章最后提醒读者，TOPIC仍有局限，应按自己的情况取舍。",
    "对于TOPIC的未来，作者保持谨慎，认为还需要更多验证。",
    "总体而言，TOPIC带来的收益大于成本，但并不适合所有人。",
];

/// Frequent words of titles, each with what it is in Chinese.
const DICTIONARY: &str = "\
    a= an= the= ask=问 show=展示 tell=讲述 launch=发布 why=为什么 how=如何 what=什么 \
    when=何时 where=何处 who=谁 is=是 are=是 was=曾是 be=成为 not=不 no=没有 and=和 or=或 \
    of=的 to=到 in=在 on=关于 for=为 from=来自 with=与 without=没有 by=由 new=新的 old=旧的 \
    open=开放 source=源 free=免费 fast=快速 faster=更快 slow=缓慢 simple=简单 small=小型 \
    better=更好 first=首个 best=最佳 database=数据库 language=语言 programming=编程 \
    code=代码 software=软件 hardware=硬件 computer=计算机 system=系统 systems=系统 \
    network=网络 web=网页 server=服务器 browser=浏览器 memory=内存 data=数据 model=模型 \
    models=模型 security=安全 company=公司 science=科学 history=历史 world=世界 time=时间 \
    year=年 years=年 people=人们 work=工作 story=故事";

/// Whether a character is Chinese, as far as translations are concerned.
pub(super) fn is_chinese(c: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&c)
}

/// A title in a language. One in that language already stays unchanged.
pub(super) fn translate(title: &str, language: Language) -> String {
    let has_chinese = title.chars().any(is_chinese);
    let drawn = || match (language, has_chinese) {
        (Language::Chinese, false) => into_chinese(title),
        (Language::Chinese, true) | (_, false) => title.to_owned(),
        (_, true) => FOREIGN_TITLE.to_owned(),
    };
    known::title(title, language).unwrap_or_else(drawn)
}

fn into_chinese(title: &str) -> String {
    let mut translated = String::new();
    for word in title.split_whitespace() {
        let shown = translate_word(word);
        let ascii = |c: Option<char>| c.is_some_and(|c| c.is_ascii());
        if ascii(translated.chars().last()) && ascii(shown.chars().next()) {
            translated.push(' ');
        }
        translated.push_str(&shown);
    }
    format!("{translated}（译文·{}）", mark(title))
}

/// The word in Chinese with its punctuation, or unchanged.
fn translate_word(word: &str) -> String {
    let core = word.trim_matches(|c: char| !c.is_alphanumeric());
    let lower = core.to_ascii_lowercase();
    let mut pairs = DICTIONARY
        .split(' ')
        .filter_map(|pair| pair.split_once('='));
    let known = pairs.find(|(english, _)| *english == lower);
    match known {
        Some((_, chinese)) if !core.is_empty() => word.replacen(core, chinese, 1),
        _ => word.to_owned(),
    }
}

/// Whether a title contains one of the words.
pub(super) fn is_sensitive(title: &str, words: &[String]) -> bool {
    let title = title.to_lowercase();
    let mut words = words.iter();
    words.any(|word| title.contains(&word.to_lowercase()))
}

/// Two or three sentences about a text, or as much of them as fits.
pub(super) fn summarise(text: &str, language: Language, chars_max: usize) -> String {
    let drawn = || match language {
        Language::Chinese => in_chinese(text, chars_max),
        _ => in_english(text, chars_max),
    };
    known::summary(text, language, chars_max).unwrap_or_else(drawn)
}

/// The first sentences that are in English.
fn in_english(text: &str, chars_max: usize) -> String {
    let sentences = text.split_inclusive(['.', '!', '?', '\n']).map(str::trim);
    let long = |it: &&str| it.is_ascii() && it.len() >= SENTENCE_CHARS_MIN;
    let mut sentences = sentences.filter(long).take(SENTENCES_MAX).peekable();
    if sentences.peek().is_none() {
        return fitting([FOREIGN_TEXT], chars_max, Language::English);
    }
    fitting(sentences, chars_max, Language::English)
}

/// As many whole sentences as fit; of a first one that does not, the beginning.
fn fitting<'a>(
    sentences: impl IntoIterator<Item = &'a str>,
    chars_max: usize,
    language: Language,
) -> String {
    let (space, end) = match language {
        Language::Chinese => ("", '。'),
        _ => (" ", '.'),
    };
    let mut all = String::new();
    for sentence in sentences {
        let joint = if all.is_empty() { "" } else { space };
        let longer = format!("{all}{joint}{sentence}");
        if longer.chars().count() > chars_max {
            if all.is_empty() {
                all = longer.chars().take(chars_max.saturating_sub(1)).collect();
                all.push(end);
            }
            break;
        }
        all = longer;
    }
    all
}

fn in_chinese(text: &str, chars_max: usize) -> String {
    let mut chance = Chance::new(bits(text));
    let topics = topics(text);
    let mut sentence = |forms: &[&str], place: usize| {
        let form = chance.pick(forms).copied().unwrap_or_default();
        let topic = topics.get(place).or(topics.last());
        form.replace("TOPIC", topic.map_or(NO_TOPIC, String::as_str))
            .replace("MARK", &mark(text))
    };
    let first = sentence(&FIRST, 0);
    let more = [sentence(&SECOND, 1), sentence(&THIRD, 2)];
    if first.chars().count() > chars_max {
        let cut: String = first.chars().take(chars_max.saturating_sub(1)).collect();
        return cut + "。";
    }
    more.into_iter().fold(first, |summary, next| {
        let length = summary.chars().count() + next.chars().count();
        if length <= chars_max {
            summary + &next
        } else {
            summary
        }
    })
}

/// The three words a text has most often, the earlier first among equals.
fn topics(text: &str) -> Vec<String> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    let words = text.split(|c: char| !c.is_ascii_alphabetic());
    for word in words.filter(|word| word.len() >= TOPIC_CHARS_MIN) {
        let lower = word.to_ascii_lowercase();
        if IDLE_WORDS.contains(&lower.as_str()) {
            continue;
        }
        match counts.iter_mut().find(|(known, _)| *known == lower) {
            Some((_, count)) => *count += 1,
            None => counts.push((lower, 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.into_iter().take(3).map(|(word, _)| word).collect()
}

/// Three characters derived from the text.
fn mark(text: &str) -> String {
    let marks: Vec<char> = MARKS.chars().collect();
    let mut chance = Chance::new(bits(text));
    let mut draw = || chance.pick(&marks).copied();
    [draw(), draw(), draw()].into_iter().flatten().collect()
}

/// About how many tokens a text has: a Chinese character is one, four others are one.
pub(super) fn tokens(text: &str) -> usize {
    let chinese = text.chars().filter(|c| is_chinese(*c)).count();
    let others = text.chars().count() - chinese;
    chinese + others.div_ceil(4)
}

/// The start of a text with at most this many tokens.
pub(super) fn cut_to_tokens(text: &str, tokens_max: usize) -> String {
    let mut quarters = 0;
    let fits = |c: &char| {
        quarters += if is_chinese(*c) { 4 } else { 1 };
        quarters <= tokens_max * 4
    };
    text.chars().take_while(fits).collect()
}

#[cfg(test)]
mod tests;
