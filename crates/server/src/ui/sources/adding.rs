//! Adding a source by its address.
//!
//! People know sites, not feeds: the address is searched for feeds. A single feed is added, several
//! are offered for choice; nothing is stored that was not chosen. Errors are shown beside the
//! input.

use almanack_core::source::Definition;
use almanack_core::source::options::Options;
use almanack_core::store::Added;

use super::edit;
use crate::sources::adding::{CandidateView, add_each, candidates};
use crate::sources::body::SourceBody;
use crate::sources::preview::preview_of;
use crate::ui::prelude::*;

#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Addition {
    address: Option<String>,
    name: Option<String>,
    category: Option<String>,
    /// Use the address directly, without a search for feeds.
    as_it_is: Option<String>,
    /// `check` only previews.
    act: Option<String>,
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
pub(super) fn form(viewer: &Viewer, request: &Addition, faults: &Faults) -> Markup {
    let lang = viewer.lang;
    let fields = html! {
        div class="fields" {
            label class="wide" { (pick!(lang; "Address of a feed, or of a site that links to one",
                "订阅源地址，或链接到订阅源的网站地址"))
                input name="address" value=[request.address.as_deref()] required maxlength="2000" inputmode="url" autocomplete="off" spellcheck="false"
                    placeholder="https://example.org/"; }
            (Field::text("name", lang.pick("Name (optional)", "名称（可选）"), request.name.as_deref()).most(500))
            (Field::text("category", lang.pick("Category (optional)", "分类（可选）"), request.category.as_deref()).most(500))
            label class="tick" {
                input type="checkbox" name="as_it_is" value="yes" checked[request.as_it_is.is_some()];
                (pick!(lang; "Use this address directly; do not search it for feeds", "直接使用该地址，不查找订阅源"))
            }
        }
        (form::checked(lang, lang.pick("Add", "添加")))
    };
    html! {
        (form::form(viewer, "/ui/sources/add", &faults.show(lang, &fields)))
        p class="hint" { (pick!(lang;
            "To read a page without a feed, use its address directly, then edit the source and write rules.",
            "没有订阅源的页面：直接使用其地址添加，然后编辑该信源并填写规则。")) }
        (equivalent(request).show(viewer))
    }
}

fn equivalent(request: &Addition) -> Equivalent {
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
    on_page(
        &viewer,
        &form(&viewer, &Addition::default(), &Faults::default()),
    )
}

fn on_page(viewer: &Viewer, body: &Markup) -> Markup {
    page(
        viewer,
        Place::Sources,
        viewer.lang.pick("Add a source", "添加信源"),
        body,
    )
}

/// Adds what an address leads to, or shows what it would bring, or what there is to choose from.
pub(crate) async fn add(Filled(state, viewer, form): Filled<Addition>) -> Answer {
    let done = match form.act.as_deref() {
        Some("check") => preview(&state, &viewer, &form).await,
        _ => found(&state, &viewer, &form).await,
    };
    match done {
        Ok(Found::Source(id, code)) => Ok(see(&format!("{}?did={code}", links::source(id)))),
        Ok(Found::Preview(above)) => {
            let body = html! { (above) (self::form(&viewer, &form, &Faults::default())) };
            Ok(with_status(StatusCode::OK, on_page(&viewer, &body)))
        }
        Ok(Found::Several(candidates)) => {
            let page = choice(&viewer, &form, &candidates);
            Ok(with_status(StatusCode::OK, page))
        }
        Err(problem) => {
            // A form this short is about its address, unless another field is named.
            let place = problem.place().unwrap_or("address").to_owned();
            let faults = Faults::from(problem.at(place)).mendable()?;
            Ok(again(on_page(
                &viewer,
                &self::form(&viewer, &form, &faults),
            )))
        }
    }
}

enum Found {
    Source(SourceId, &'static str),
    Preview(Markup),
    Several(Vec<CandidateView>),
}

async fn found(state: &AppState, viewer: &Viewer, request: &Addition) -> Result<Found> {
    let definition = match definition(state, request).await? {
        Ok(definition) => definition,
        Err(several) => return Ok(Found::Several(several)),
    };
    let answer = add_each(state, vec![Ok(definition)], &viewer.origin())
        .await?
        .pop();
    match answer.transpose()? {
        Some(Added::New(id)) => Ok(Found::Source(id, "added")),
        Some(Added::Exists(id)) => Ok(Found::Source(id, "there")),
        None => Err(Problem::new(
            Code::Internal,
            both!("the answer is missing", "缺少应答"),
        )),
    }
}

/// What the source would bring; of several feeds, one has to be chosen first.
async fn preview(state: &AppState, viewer: &Viewer, request: &Addition) -> Result<Found> {
    let definition = match definition(state, request).await? {
        Ok(definition) => definition,
        Err(several) => return Ok(Found::Several(several)),
    };
    let lang = viewer.lang;
    let shown = preview_of(state, &definition).await?;
    let body = html! {
        p { code { (definition.address) } }
        (edit::result(viewer, &shown))
    };
    let title = lang.pick("What would be read", "将读取的内容");
    Ok(Found::Preview(section("preview", title, &body)))
}

/// The one feed that an address leads to, or several to choose from.
async fn definition(
    state: &AppState,
    request: &Addition,
) -> Result<Result<Definition, Vec<CandidateView>>> {
    let address = with_scheme(request.address.as_deref().unwrap_or_default());
    let taken = if request.as_it_is.is_some() {
        address
    } else {
        let found = candidates(state, &address, &Options::default()).await?;
        match &found[..] {
            [] => {
                return Err(Problem::new(
                    Code::Unreachable,
                    both!("no feed found at this address", "此地址没有订阅源"),
                ));
            }
            [only] => only.address.clone(),
            _ => return Ok(Err(found)),
        }
    };
    let body = SourceBody::feed(taken, request.name.clone(), request.category.clone());
    Ok(Ok(body.into_definition()?))
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
fn choice(viewer: &Viewer, request: &Addition, candidates: &[CandidateView]) -> Markup {
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
