//! Adding a source by its address.
//!
//! People know sites, not feeds: the address is searched for feeds. A single feed is added, several
//! are offered for choice; nothing is stored that was not chosen. Errors are shown beside the
//! input.

use almanack_core::source::options::Options;
use almanack_core::store::Added;

use crate::sources::adding::{CandidateView, add_each, candidates};
use crate::sources::body::SourceBody;
use crate::ui::prelude::*;

#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct ChangeRequest {
    address: Option<String>,
    name: Option<String>,
    category: Option<String>,
    /// Use the address directly, without a search for feeds.
    as_it_is: Option<String>,
}

/// Which of several feeds to add.
#[derive(Debug, Deserialize)]
pub(crate) struct Chosen {
    #[serde(default)]
    address: Vec<String>,
    name: Option<String>,
    category: Option<String>,
}

/// The form, with what was typed and what is wrong with it.
pub(super) fn form(viewer: &Viewer, request: &ChangeRequest, wrong: Option<&Problem>) -> Markup {
    let lang = viewer.lang;
    let fields = html! {
        @if let Some(problem) = wrong { p class="wrong" role="alert" id="add-wrong" { (said(lang, &problem.detail)) } }
        div class="fields" {
            label class="wide" { (pick!(lang; "Address of a feed, or of a site that links to one",
                "订阅源地址，或链接到订阅源的网站地址"))
                input name="address" value=[request.address.as_deref()] required maxlength="2000" inputmode="url" autocomplete="off" spellcheck="false"
                    placeholder="https://example.org/" aria-describedby=[wrong.map(|_| "add-wrong")]; }
            (Field::text("name", lang.pick("Name (optional)", "名称（可选）"), request.name.as_deref()).most(500))
            (Field::text("category", lang.pick("Category (optional)", "分类（可选）"), request.category.as_deref()).most(500))
            label class="tick" {
                input type="checkbox" name="as_it_is" value="yes" checked[request.as_it_is.is_some()];
                (pick!(lang; "Use this address directly; do not search it for feeds", "直接使用该地址，不查找订阅源"))
            }
            button type="submit" class="primary" { (lang.pick("Add", "添加")) }
        }
    };
    html! {
        (form::form(viewer, "/ui/sources/add", &fields))
        p class="hint" { (pick!(lang;
            "To read a page without a feed, use its address directly, then edit the source and write rules.",
            "没有订阅源的页面：直接使用其地址添加，然后编辑该信源并填写规则。")) }
        (equivalent(request).show(viewer))
    }
}

fn equivalent(request: &ChangeRequest) -> Equivalent {
    let address = request.address.as_deref().unwrap_or("https://example.org/");
    let mut words = vec!["source", "add", address];
    let mut body = json!({ "address": address });
    let (name, category) = (request.name.as_deref(), request.category.as_deref());
    for (option, value) in [("--name", name), ("--category", category)] {
        if let Some(value) = value {
            words.extend([option, value]);
            body[&option[2..]] = json!(value);
        }
    }
    let call = Equivalent::call("POST", "/api/v1/sources");
    call.body(&body).cli(words)
}

/// The form on a separate page, where a refused form can be reached again.
pub(crate) async fn show(viewer: Viewer) -> Markup {
    on_page(&viewer, &ChangeRequest::default(), None)
}

fn on_page(viewer: &Viewer, request: &ChangeRequest, wrong: Option<&Problem>) -> Markup {
    let title = viewer.lang.pick("Add a source", "添加信源");
    page(viewer, Place::Sources, title, &form(viewer, request, wrong))
}

/// Adds what an address leads to, or shows what there is to choose from.
pub(crate) async fn add(Filled(state, viewer, form): Filled<ChangeRequest>) -> Answer {
    match found(&state, &viewer, &form).await {
        Ok(Found::Source(id, code)) => Ok(see(&format!("{}?did={code}", links::source(id)))),
        Ok(Found::Several(candidates)) => {
            let page = choice(&viewer, &form, &candidates);
            Ok(with_status(StatusCode::OK, page))
        }
        Err(problem) if can_be_mended(&problem) => {
            Ok(again(on_page(&viewer, &form, Some(&problem))))
        }
        Err(problem) => Err(problem),
    }
}

/// Whether another address would do.
fn can_be_mended(problem: &Problem) -> bool {
    problem.code == Code::Unreachable || problem.code.status() == StatusCode::UNPROCESSABLE_ENTITY
}

enum Found {
    Source(SourceId, &'static str),
    Several(Vec<CandidateView>),
}

async fn found(state: &AppState, viewer: &Viewer, request: &ChangeRequest) -> Result<Found> {
    let address = with_scheme(request.address.as_deref().unwrap_or_default());
    let taken = if request.as_it_is.is_some() {
        address
    } else {
        let found = candidates(state, &address, &Options::default()).await?;
        let none = both!("no feed found at this address", "此地址没有订阅源");
        match &found[..] {
            [] => return Err(Problem::new(Code::Unreachable, none)),
            [only] => only.address.clone(),
            _ => return Ok(Found::Several(found)),
        }
    };
    let body = SourceBody::feed(taken, request.name.clone(), request.category.clone());
    let items = vec![body.into_definition()];
    let answer = add_each(state, items, &viewer.origin()).await?.pop();
    match answer.transpose()? {
        Some(Added::New(id)) => Ok(Found::Source(id, "added")),
        Some(Added::Exists(id)) => Ok(Found::Source(id, "there")),
        None => Err(Problem::new(
            Code::Internal,
            both!("the answer is missing", "缺少应答"),
        )),
    }
}

/// What people type without one is an address of the web.
fn with_scheme(address: &str) -> String {
    let address = address.trim();
    if address.contains("://") {
        return address.to_owned();
    }
    format!("https://{address}")
}

/// The feeds of a site, to choose from.
fn choice(viewer: &Viewer, request: &ChangeRequest, candidates: &[CandidateView]) -> Markup {
    let (lang, count) = (viewer.lang, candidates.len());
    let kept = pairs([("name", &request.name), ("category", &request.category)]);
    let known = |candidate: &CandidateView| candidate.source_id.map(SourceId);
    let rows = table! { lang; "Feeds found", "找到的订阅源";
        for ((place, candidate) in candidates.iter().enumerate()) tr()
        "Add", "添加" {
            td class="narrow" {
                input type="checkbox" name="address" value=(candidate.address) id={ "candidate-" (place) }
                    checked[place == 0 && known(candidate).is_none()] disabled[known(candidate).is_some()];
            }
        }
        "Feed", "订阅源" {
            th scope="row" {
                label for={ "candidate-" (place) } lang="" { (candidate.title.as_deref().unwrap_or(&candidate.address)) }
                br; span class="hint" { (candidate.address) }
            }
        }
        "Format", "格式" { td { (or_dash(candidate.format.as_deref())) } }
        "Status", "状态" {
            td {
                @if let Some(id) = known(candidate) { (numbered(lang, id)) } @else { (lang.pick("new", "新")) }
            }
        }
    };
    let fields = html! {
        (form::hidden(kept))
        (rows)
        p class="acts" {
            button type="submit" class="primary" { (lang.pick("Add selected", "添加所选")) }
            a class="button" href=(Place::Sources.path()) { (lang.pick("Cancel", "取消")) }
        }
    };
    let body = html! {
        p { (say!(lang; "Feeds found at this address: {count}. Nothing has been added yet.",
            "该地址有 {count} 个订阅源，尚未添加任何一个。")) }
        (form::form(viewer, "/ui/sources/choose", &fields))
    };
    let title = lang.pick("Choose feeds", "选择订阅源");
    page(viewer, Place::Sources, title, &body)
}

fn numbered(lang: Lang, id: SourceId) -> Markup {
    html! { a href=(links::source(id)) { (say!(lang, "source {id}", "信源 {id}")) } }
}

/// Adds those that were ticked.
pub(crate) async fn choose(Filled(state, viewer, form): Filled<Chosen>) -> Answer {
    // A name is meant for one feed; several keep their own.
    let name = form.name.filter(|_| form.address.len() == 1);
    let count = form.address.len();
    if count == 0 {
        return Ok(see(Place::Sources.path()));
    }
    crate::batch::check_count(count, state.limits.batch_items_max)?;
    let body = |address: &String| {
        SourceBody::feed(address.clone(), name.clone(), form.category.clone()).into_definition()
    };
    let items = form.address.iter().map(body).collect();
    let answers = add_each(&state, items, &viewer.origin()).await?;
    if let [Ok(Added::New(id))] = answers[..] {
        return Ok(see(&format!("{}?did=added", links::source(id))));
    }
    let lines: Vec<_> = form.address.into_iter().zip(answers).collect();
    let title = viewer.lang.pick("Result", "添加结果");
    let page = page(&viewer, Place::Sources, title, &outcome(&viewer, &lines));
    Ok(with_status(StatusCode::OK, page))
}

/// What became of each, as a table.
pub(super) fn outcome(viewer: &Viewer, lines: &[(String, Result<Added>)]) -> Markup {
    let lang = viewer.lang;
    let became = |answer: &Result<Added>| {
        let badge = badges! { lang, answer;
            Ok(Added::New(_)) => "done", "added", "已添加";
            Ok(Added::Exists(_)) => "skipped", "already exists", "已存在";
            Err(_) => "failed", "refused", "被拒绝";
        };
        let more = match answer {
            Ok(Added::New(id) | Added::Exists(id)) => numbered(lang, *id),
            Err(problem) => said(lang, &problem.detail),
        };
        html! { (badge) " " (more) }
    };
    let rows = table! { lang; "Results", "逐项结果";
        for ((name, answer) in lines) tr()
        "Source", "信源" { th scope="row" lang="" { (name) } }
        "Result", "结果" { td { (became(answer)) } }
    };
    html! {
        (rows)
        p { a href=(Place::Sources.path()) { (lang.pick("All sources", "全部信源")) } }
    }
}
