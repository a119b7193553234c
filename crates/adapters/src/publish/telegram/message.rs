//! The messages of an edition: a head, stories in groups, an end.
//!
//! ```text
//!   head │ story ── story │ story ── story │ story · end
//! ```
//!
//! INVARIANT: every story is whole in one message, in order, and every message is one that Telegram
//! accepts. Stories that do not fit together are in separate messages; one that does not fit alone
//! loses the ends of its texts, never its title.

use almanack_core::edition::document::{Inputs, Printed};

use super::html::Html;
use crate::{
    feed::text::one_line,
    language::Language,
    telegram::{MESSAGE_UNITS_MAX, cut},
};

const DIVIDER: &str = "\n\n━━━━━━━━━━━━━━━━━━━━\n\n";
/// Longest title, in UTF-16 units; longer ones are cut.
const TITLE_UNITS_MAX: usize = 500;
/// Longest overview, in UTF-16 units.
const OVERVIEW_UNITS_MAX: usize = 1_500;
/// Longest address that is linked to. Longer ones would fill messages with invisible text.
const URL_BYTES_MAX: usize = 2_000;
/// Titles in a message that links to the edition. Even the longest ones fit.
const LINKED_TITLES: usize = 5;
/// Signs of the first ranks.
const RANKS: [&str; 10] = ["1️⃣", "2️⃣", "3️⃣", "4️⃣", "5️⃣", "6️⃣", "7️⃣", "8️⃣", "9️⃣", "🔟"];

/// The messages of an edition, in order, each as Telegram's HTML.
pub(super) fn messages(inputs: &Inputs, per_message: usize) -> Vec<String> {
    let language = Language::of(&inputs.language);
    let head = head(inputs, language);
    if inputs.stories.is_empty() {
        let nothing = head.text("\n\n").text(language.nothing());
        return vec![nothing.into_raw()];
    }
    let stories = inputs.stories.iter().map(|story| block(story, language));
    let count = language.count(inputs.stories.len());
    let mut messages = vec![opened(head.text("\n").text(&count), inputs)];
    messages.extend(grouped(stories, per_message));
    let end = Html::default().text(&language.end(inputs.date, inputs.left_out));
    close(&mut messages, end);
    messages.into_iter().map(Html::into_raw).collect()
}

/// One message: what the edition is, its first titles, and where it is.
pub(super) fn link(inputs: &Inputs, pages_url: &str) -> String {
    let language = Language::of(&inputs.language);
    let count = language.count(inputs.stories.len());
    let mut html = head(inputs, language).text("\n").text(&count).text("\n");
    for story in inputs.stories.iter().take(LINKED_TITLES) {
        let line = Html::default().text("\n").text(&rank(story.rank)).text(" ");
        html = html.then(&line.text(&title(story)));
    }
    let url = format!("{pages_url}/editions/{}", inputs.id());
    html.text("\n\n").link(&url, language.page()).into_raw()
}

fn head(inputs: &Inputs, language: Language) -> Html {
    let title = one_line(&inputs.title);
    let title = if title.is_empty() {
        language.count(inputs.stories.len())
    } else {
        cut(&title, TITLE_UNITS_MAX)
    };
    let html = Html::default().bold(&title);
    html.text("\n").text(&inputs.date.to_string())
}

/// The head with what opens the edition, as far as it fits.
fn opened(head: Html, inputs: &Inputs) -> Html {
    let overview = inputs.overview.as_deref().map(clean).unwrap_or_default();
    if overview.is_empty() {
        return head;
    }
    let lines = overview.lines().filter(|line| !line.trim().is_empty());
    let overview = lines.collect::<Vec<_>>().join("\n\n");
    let overview = cut(&overview, OVERVIEW_UNITS_MAX);
    let opened = head.clone().text("\n\n").text(&overview);
    if opened.fits() { opened } else { head }
}

/// As many stories together as configured, or as fit.
fn grouped(stories: impl Iterator<Item = Html>, per_message: usize) -> Vec<Html> {
    let mut groups: Vec<(Html, usize)> = Vec::new();
    for story in stories {
        let joined = groups.last().and_then(|(group, count)| {
            let joined = group.clone().text(DIVIDER).then(&story);
            (*count < per_message && joined.fits()).then(|| (joined, count + 1))
        });
        match (joined, groups.last_mut()) {
            (Some(joined), Some(last)) => *last = joined,
            _ => groups.push((story, 1)),
        }
    }
    groups.into_iter().map(|(group, _)| group).collect()
}

/// The end joins the last message if it fits there.
fn close(messages: &mut Vec<Html>, end: Html) {
    let joined = messages.last().map(|last| {
        let joined = last.clone().text(DIVIDER).then(&end);
        joined.fits().then_some(joined)
    });
    match (joined.flatten(), messages.last_mut()) {
        (Some(joined), Some(last)) => *last = joined,
        _ => messages.push(end),
    }
}

/// A story, with its texts cut as little as makes it fit into one message.
fn block(story: &Printed, language: Language) -> Html {
    let whole = render(story, language, usize::MAX);
    if whole.fits() {
        return whole;
    }
    let (mut fits, mut too_long) = (0, MESSAGE_UNITS_MAX + 1);
    while too_long - fits > 1 {
        let middle = usize::midpoint(fits, too_long);
        if render(story, language, middle).fits() {
            fits = middle;
        } else {
            too_long = middle;
        }
    }
    render(story, language, fits)
}

/// A story whose texts have at most so many units each.
fn render(story: &Printed, language: Language, units_max: usize) -> Html {
    let text = |text: Option<&String>, instead: &'static str| {
        let text = text.map(|text| clean(text)).unwrap_or_default();
        if text.is_empty() {
            instead.to_owned()
        } else {
            cut(&text, units_max)
        }
    };
    let summary = text(story.content_summary.as_ref(), language.no_summary(story));
    let remark = language.remark(story).filter(|remark| *remark != summary);
    let comments = text(
        story.comment_summary.as_ref(),
        language.instead_of_comments(story.comment_note),
    );
    let html = Html::default()
        .text(&rank(story.rank))
        .text(" ")
        .bold(&title(story));
    let named = [&story.topic, &story.source_name].into_iter().flatten();
    let named: Vec<String> = named.map(|name| one_line(name)).collect();
    let html = match named.as_slice() {
        [] => html,
        named => html
            .text("\n")
            .text(&cut(&named.join(" · "), TITLE_UNITS_MAX)),
    };
    let html = match url(story) {
        Some(url) => html.text("\n").link(url, language.link()),
        None => html,
    };
    let html = standing(html, story, language);
    let html = html.text("\n\n").text(&summary);
    let html = match remark {
        Some(remark) => html.text("\n(").text(remark).text(")\n\n"),
        None => html.text("\n\n"),
    };
    html.bold(language.comments()).text("\n").text(&comments)
}

/// Reading time, points, and the discussion with the number of its comments.
fn standing(mut html: Html, story: &Printed, language: Language) -> Html {
    if let Some(minutes) = story.reading_minutes {
        html = html.text(" · ").text(&language.reading_time(minutes));
    }
    if let Some(points) = language.standing(story.score, None) {
        html = html.text("\n").text(&points);
    }
    let count = story
        .comment_count
        .map(|count| language.comment_count(count));
    let discussion = story.discussion_url.as_deref().and_then(linkable);
    match (discussion, count) {
        (Some(url), count) => {
            let words = count.unwrap_or_else(|| language.discussion().to_owned());
            html.text(" · ").link(url, &words)
        }
        (None, Some(count)) => html.text(" · ").text(&count),
        (None, None) => html,
    }
}

fn title(story: &Printed) -> String {
    let titles = [&story.title, &story.original_title, &story.url];
    let title = titles.into_iter().map(|title| one_line(title));
    let title = title.into_iter().find(|title| !title.is_empty());
    cut(&title.unwrap_or_default(), TITLE_UNITS_MAX)
}

fn url(story: &Printed) -> Option<&str> {
    linkable(&story.url)
}

fn linkable(url: &str) -> Option<&str> {
    let url = url.trim();
    let shown = !url.is_empty() && url.len() <= URL_BYTES_MAX;
    (shown && !url.contains(char::is_control)).then_some(url)
}

fn rank(rank: u32) -> String {
    let sign = usize::try_from(rank)
        .ok()
        .and_then(|rank| rank.checked_sub(1));
    match sign.and_then(|at| RANKS.get(at)) {
        Some(sign) => (*sign).to_owned(),
        None => format!("{rank}."),
    }
}

/// Without what no message holds: Telegram makes blanks of control characters.
fn clean(text: &str) -> String {
    let blank = |c: char| if c.is_control() && c != '\n' { ' ' } else { c };
    let cleaned: String = text.chars().map(blank).collect();
    cleaned.trim().to_owned()
}

#[cfg(test)]
mod tests;
