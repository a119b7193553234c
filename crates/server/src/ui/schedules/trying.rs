//! Explains an expression: its meaning, next times, warnings and errors.
//!
//! The form is sent by GET, so that it works without the script and an expression can be shared as
//! a link. With the script (`data-try`), the live parts follow the input.

use super::times;
use crate::problem::Misread;
use crate::schedules::explain;
use crate::ui::prelude::*;

/// Next times shown.
const TIMES: usize = 20;
const HERE: &str = "/ui/schedules/try";

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Query {
    expression: Option<String>,
    tz: Option<String>,
    /// Name of the schedule; only `H` and `~` depend on it.
    name: Option<String>,
}

pub(crate) async fn show(Sought(state, viewer, query): Sought<Query>) -> Page {
    let lang = viewer.lang;
    let zone = query.tz.as_deref().unwrap_or(viewer.zone_name());
    let read = query.expression.clone().map(|expression| {
        let name = query.name.as_deref();
        let definition = explain::plain(expression, Some(zone.to_owned()));
        explain::read(&state, name, definition)
    });
    let name = pick!(lang; "Name of the schedule (only H and ~ depend on it)", "日程名称（只影响 H 和 ~）");
    let body = html! {
        form class="fields" method="get" action=(HERE) data-try {
            label class="wide" { (lang.pick("Expression", "表达式"))
                input name="expression" value=[query.expression.as_deref()] placeholder="0 8 * * 1-5"
                    autocomplete="off" autocapitalize="off" spellcheck="false" maxlength="1000" data-search autofocus;
            }
            (Field::zone("tz", lang.pick("Time zone", "时区"), zone))
            (Field::text("name", name, query.name.as_deref()).most(100))
            button type="submit" { (lang.pick("Explain", "解释")) }
        }
        (live("tried", &html! {
            @match (&read, &query.expression) {
                (Some(Ok(ready)), _) => (meaning(&viewer, ready)),
                (Some(Err(problem)), Some(expression)) => (refusal(lang, expression, problem)),
                _ => {},
            }
        }))
        (section("examples", lang.pick("Examples", "示例"), &examples(lang, zone)))
    };
    let title = lang.pick("Try an expression", "试写表达式");
    Ok(page(&viewer, Place::Schedules, title, &body))
}

fn meaning(viewer: &Viewer, ready: &Ready) -> Markup {
    let lang = viewer.lang;
    let definition = &ready.definition;
    let (expression, tz) = (definition.expression.as_str(), definition.tz.as_str());
    let next = times::coming(ready, (ready.next_firing_after(viewer.now), 0), TIMES);
    let pairs = [("expression", expression), ("tz", tz)];
    let make = address("/ui/schedules/new", pairs);
    section! { lang; "meaning", "Meaning", "含义";
        p role="status" { strong { (ready.describe(lang)) } }
        (times::warnings(viewer, ready))
        (times::times(viewer, ready, &next, lang.pick("Next times", "接下来的时间")))
        @if viewer.may(Scope::Operate) {
            p { a class="button" href=(make) { (lang.pick("Create a schedule from this", "用它新建日程")) } }
        }
        (Equivalent::call("POST", "/api/v1/schedules:explain")
            .body(&json!({ "expression": expression, "tz": tz, "count": TIMES }))
            .cli(["next", expression, "--tz", tz, "--count", "20"]).show(viewer))
    }
}

/// Why it was refused; for an expression with the position and a correction.
pub(super) fn refusal(lang: Lang, expression: &str, problem: &Problem) -> Markup {
    match problem.misread() {
        Some(it) => {
            html! { div id="refused" class="wrong" role="alert" { (misread(lang, expression, it)) } }
        }
        None => refused(lang, problem),
    }
}

/// What is wrong with an expression: the position and a correction.
pub(crate) fn misread(lang: Lang, expression: &str, misread: &Misread) -> Markup {
    let repaired = misread.repaired.as_deref();
    let repaired = repaired.filter(|repaired| *repaired != expression);
    html! {
        p { (said(lang, &misread.message)) }
        @if let Some([start, end]) = misread.span { pre { code { (pointed(expression, start, end)) } } }
        @if let Some(hint) = &misread.hint { p { (lang.pick("Hint: ", "提示：")) (said(lang, hint)) } }
        @if let Some(repaired) = repaired {
            p { (lang.pick("Did you mean ", "您是不是要写 "))
                a href=(address(HERE, [("expression", repaired)])) { code { (repaired) } }
                (lang.pick("?", "？"))
            }
        }
    }
}

/// The expression with the position underlined. Columns are characters, spans are bytes.
fn pointed(text: &str, start: usize, end: usize) -> String {
    let plain = text.replace(char::is_control, "·");
    let count = |part: Option<&str>| part.map_or(0, |part| part.chars().count());
    let before = " ".repeat(count(text.get(..start)));
    let carets = "^".repeat(count(text.get(start..end)).max(1));
    format!("{plain}\n{before}{carets}")
}

fn examples(lang: Lang, zone: &str) -> Markup {
    let examples = options! { lang;
        "0 8 * * 1-5" => "weekdays at 08:00", "工作日 08:00";
        "*/15 9-17 * * *" => "every 15 minutes from 09:00 to 17:45", "09:00 至 17:45 每 15 分钟";
        "0 0 L * *" => "last day of the month", "每月最后一天";
        "0 9 * * 1#1" => "first Monday of the month", "每月第一个星期一";
        "30 2 * * *" =>
            "a time that daylight saving skips or repeats", "夏令时会跳过或重复的时间";
        "H H * * *" => "once a day, at a time derived from the name", "每天一次，时间由名称决定";
        "@10s" => "every 10 seconds", "每 10 秒";
    };
    html! {
        ul class="examples" {
            @for (expression, shown) in examples {
                @let href = address(HERE, [("expression", expression), ("tz", zone)]);
                li { a href=(href) { code { (expression) } } " " (shown) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::pointed;

    #[test]
    fn the_place_is_underlined_in_characters() {
        for (text, start, end, expected) in [
            ("0 25 * * *", 2, 4, "0 25 * * *\n  ^^"),
            ("日 x", 4, 5, "日 x\n  ^"),
            ("0 8", 3, 3, "0 8\n   ^"),
            ("0\t8", 1, 2, "0·8\n ^"),
            ("0", 9, 12, "0\n^"),
        ] {
            assert_eq!(pointed(text, start, end), expected, "{text:?}");
        }
    }
}
