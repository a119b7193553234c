//! The prompts that models get, on an edition's page, and what of it other prompts wrote (ED-36).

use almanack_core::edition::Edition;
use almanack_core::edition::prompts::{Kind, Prompts, Versions};
use almanack_engine::editions::Editions;

use crate::ui::prelude::*;

/// The prompts in force, and whether the overview is of an earlier one; nothing without a model.
pub(super) fn show(viewer: &Viewer, editions: &Editions, edition: &Edition) -> Option<Markup> {
    let (lang, prompts) = (viewer.lang, editions.outside.writer.prompts()?);
    let name = editions.settings.name;
    let call = format!("/api/v1/editions/prompts?name={name}");
    let rows = table! { lang; "Prompts in force", "当前提示词";
        for (prompt in prompts.iter()) tr()
        "For", "用途" { th scope="row" { (of(lang, prompt.kind)) } }
        "Version", "版本" { td { code { (prompt.version) } } }
        "From", "来源" {
            td {
                @if prompt.is_built_in { (lang.pick("built in", "内置")) }
                @else { (lang.pick("configuration", "配置")) }
            }
        }
        "Text", "文本" { td { details { summary { (lang.pick("Show", "显示")) } p lang="" { (prompt.text) } } } }
    };
    let hint = lang.pick(
        "Set them in edition.prompts. Texts are shared only among prompts of one version.",
        "在 edition.prompts 中设置。只有版本相同的提示词之间才会共享文本。",
    );
    let overview = edition.overview_prompt.iter();
    let overview = overview.map(|version| (Kind::Overview, version.clone()));
    Some(html! {
        (rows)
        (others(lang, Some(prompts), &overview.collect()))
        p class="hint" { (hint) }
        (Equivalent::call("GET", call).cli(["edition", "prompts", name.as_str()]).show(viewer))
    })
}

/// Which texts were written by other prompts than those in force.
pub(super) fn others(lang: Lang, prompts: Option<&Prompts>, of_texts: &Versions) -> Markup {
    let others = prompts.into_iter();
    let others = others.flat_map(|prompts| prompts.others(of_texts));
    let parts: Vec<String> = others
        .map(|(kind, version)| format!("{} {version}", of(lang, kind)))
        .collect();
    html! {
        @if !parts.is_empty() {
            span class="hint" { (lang.pick("by an earlier prompt: ", "由较早的提示词写成：")) (parts.join(", ")) }
        }
    }
}

fn of(lang: Lang, kind: Kind) -> &'static str {
    words! { lang, kind;
        Kind::Titles => "titles", "标题";
        Kind::Summary => "summaries", "摘要";
        Kind::Comments => "comments", "评论";
        Kind::Overview => "overview", "导语";
        Kind::Filter => "content filter", "内容过滤";
    }
}
