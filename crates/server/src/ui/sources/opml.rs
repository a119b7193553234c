//! Import and export of sources.
//!
//! A list is pasted as text, so that it works without the script; with it, a file is read into the
//! field. The answer is a page and no redirect, because the results are not stored; submitting
//! again adds no duplicates.

use almanack_core::store::Added;

use super::adding;
use crate::sources::opml::{self, Imported};
use crate::ui::prelude::*;

/// Most lines shown; all are counted.
const SHOWN: usize = 500;

#[derive(Debug, Deserialize)]
pub(crate) struct List {
    opml: Option<String>,
}

pub(super) fn ways(viewer: &Viewer) -> Markup {
    let out =
        Equivalent::call("GET", "/api/v1/sources/opml").cli(["source", "export", "sources.opml"]);
    html! {
        p class="acts" {
            a class="button" href="/ui/sources/export" download="sources.opml" { (viewer.lang.pick("Download all feeds as OPML", "下载全部订阅源（OPML）")) }
            @if viewer.may(Scope::Operate) { a class="button" href="/ui/sources/opml" { (viewer.lang.pick("Import a list…", "导入列表…")) } }
        }
        (out.show(viewer))
    }
}

pub(crate) async fn show(viewer: Viewer) -> Markup {
    on_page(&viewer, "", &Faults::default())
}

fn on_page(viewer: &Viewer, typed: &str, faults: &Faults) -> Markup {
    let lang = viewer.lang;
    let fields = html! {
        // Without the script no code reads the file, so the field is hidden.
        p hidden data-file { label { (lang.pick("File exported from another reader", "来自其他阅读器的文件"))
            input type="file" accept=".opml,.xml,text/x-opml,text/xml" data-into="opml"; } }
        label { (lang.pick("OPML text (exported from a feed reader)", "OPML 文本（由阅读器导出）"))
            textarea name="opml" required rows="12" spellcheck="false" { (typed) }
        }
        p class="acts" { button type="submit" class="primary" { (lang.pick("Import", "导入")) } }
    };
    let body = html! {
        p { (pick!(lang; "Folders become categories. Each line is added separately; importing twice does not add duplicates.",
            "文件夹会成为分类。每行单独添加；重复导入不会产生重复。")) }
        (form::form(viewer, "/ui/sources/opml", &faults.show(lang, &fields)))
        (Equivalent::call("POST", "/api/v1/sources/opml").cli(["source", "import", "subscriptions.opml"]).show(viewer))
    };
    let title = lang.pick("Import sources", "导入信源");
    page(viewer, Place::Sources, title, &body)
}

/// Imports a list, and shows the result of each line.
pub(crate) async fn import(Filled(state, viewer, form): Filled<List>) -> Answer {
    let text = form.opml.unwrap_or_default();
    match opml::import(&state, text.as_bytes(), &viewer.origin()).await {
        Ok(imported) => Ok(with_status(StatusCode::OK, results(&viewer, imported))),
        Err(problem) if matches!(problem.code, Code::InvalidBody | Code::TooManyItems) => {
            Ok(again(on_page(&viewer, &text, &problem.at("opml").into())))
        }
        Err(problem) => Err(problem),
    }
}

fn results(viewer: &Viewer, imported: Imported) -> Markup {
    let lang = viewer.lang;
    let lines = imported.lines.into_iter();
    let lines: Vec<_> = lines.map(|line| (line.name, line.answer)).collect();
    let (all, broken) = (lines.len(), &imported.broken);
    let count = |of: fn(&Added) -> bool| {
        let answers = lines.iter().filter_map(|(_, answer)| answer.as_ref().ok());
        answers.filter(|answer| of(answer)).count()
    };
    let added = count(|answer| matches!(answer, Added::New(_)));
    let there = count(|answer| matches!(answer, Added::Exists(_)));
    let refused = all - added - there + broken.len();
    let body = html! {
        p role="status" { (say!(lang; "{added} added, {there} already existed, {refused} refused.",
            "新增 {added} 个，已存在 {there} 个，被拒绝 {refused} 个。")) }
        @if !broken.is_empty() {
            h2 { (lang.pick("Lines without a source", "不含信源的行")) }
            ul { @for line in broken.iter().take(SHOWN) { li { (english(lang, line)) } } }
        }
        h2 { (lang.pick("Line by line", "逐行结果")) }
        @if all > SHOWN { p class="hint" { (say!(lang; "Showing the first {SHOWN} of {all}.",
            "共 {all} 行，仅显示前 {SHOWN} 行。")) } }
        (adding::outcome(viewer, lines.get(..SHOWN).unwrap_or(&lines)))
    };
    let title = lang.pick("Import result", "导入结果");
    page(viewer, Place::Sources, title, &body)
}

/// All feeds as a file. Separate from the API's, because a browser has a session and no token.
pub(crate) async fn export(state: App, _: Viewer) -> Answer {
    opml::export_opml(state).await
}
