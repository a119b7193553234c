//! `/problems/CODE`, the `type` of every problem: what the code means, what to do, and which page
//! of the guide says more. Public, as the description of the API is.

use crate::ui::prelude::*;

const PATH: &str = "/problems";

pub(super) fn routes() -> Router<Arc<AppState>> {
    Router::new()
        .route(PATH, get(index))
        .route("/problems/{code}", get(show))
}

/// All codes.
async fn index(viewer: Viewer) -> Markup {
    let lang = viewer.lang;
    let body = table! { lang; "Error codes", "错误代码";
        for (code in Code::ALL) tr()
        "Code", "代码" { th scope="row" { a href=(code.page()) { code { (code.as_str()) } } } }
        "Status", "状态码" { td { (code.status().as_u16()) } }
        "Meaning", "含义" { td class="words" { (marked(code.meaning(lang))) } }
    };
    let title = lang.pick("Error codes of the API", "API 错误代码");
    page(&viewer, Place::Elsewhere, title, &body)
}

async fn show(viewer: Viewer, Path(name): Path<String>) -> Page {
    let lang = viewer.lang;
    let none = || {
        Problem::new(
            Code::NoSuchPath,
            both!(
                "no error has the code `{name}`; /problems lists all",
                "没有代码为 `{name}` 的错误；/problems 列出了全部代码"
            ),
        )
    };
    let code = Code::parse(&name).ok_or_else(none)?;
    let body = html! {
        p { (marked(code.meaning(lang))) }
        p { strong { (lang.pick("What to do: ", "处理方法：")) } (marked(code.advice(lang))) }
        (facts! { lang;
            "Code", "代码" { code { (code.as_str()) } }
            "HTTP status", "HTTP 状态码" { (code.status().as_u16()) }
            "Guide", "指南" { code { (code.guide()) } }
        })
        p { a href=(PATH) { (lang.pick("All error codes", "全部错误代码")) }
            " · " a href="/ui/api" { (lang.pick("API reference", "API 参考")) } }
    };
    Ok(page(&viewer, Place::Elsewhere, code.title(lang), &body))
}
