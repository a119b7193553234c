//! Creates or reschedules a task: the same request as `PUT /api/v1/tasks/…`.
//!
//! A preview says what the same request would do now, by the function that would decide it.

use almanack_core::reschedule::{Put, Request, decide};
use almanack_core::task::{Payload, Subject};

use super::change::{Typed, clock_fields, offer};
use super::{api_path, carry_out, words};
use crate::ui::prelude::*;
use crate::{Limits, tasks::body::check_callback};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Fields {
    kind: Option<String>,
    subject: Option<String>,
    at: Option<String>,
    zone: Option<String>,
    payload: Option<String>,
    callback_url: Option<String>,
    /// One of two instants, chosen if the wall clock shows both.
    to: Option<String>,
    /// `check` only previews.
    act: Option<String>,
}

/// Valid values of the fields that must not be empty.
const STAND_INS: &[(&str, &str)] = &[
    ("kind", "KIND"),
    ("subject", "subject"),
    ("at", "2026-01-05T08:00"),
    ("zone", "UTC"),
];

pub(crate) async fn show(viewer: Viewer) -> Markup {
    on_page(
        &viewer,
        &form(&viewer, &Fields::now(&viewer), &Faults::default()),
    )
}

/// The form for a first task, where there is none yet.
pub(super) fn first(viewer: &Viewer) -> Markup {
    form(viewer, &Fields::now(viewer), &Faults::default())
}

/// Creates the task, or shows the form again with a preview or with everything that is wrong.
pub(crate) async fn put(Filled(state, viewer, fields): Filled<Fields>) -> Answer {
    let read = Faults::read(&fields, STAND_INS, |form| form.put(&viewer, &state.limits));
    let faults = match read {
        Ok(put) if fields.act.as_deref() == Some("check") => {
            let above = preview(&state, &viewer, put).await?;
            let body = html! { (above) (form(&viewer, &fields, &Faults::default())) };
            return Ok(on_page(&viewer, &body).into_response());
        }
        Ok(put) => match carry_out(&state, &viewer, Request::Put(put)).await {
            Ok(response) => return Ok(response),
            Err(problem) => Faults::from(problem),
        },
        Err(faults) => faults,
    };
    let body = form(&viewer, &fields, &faults.mendable()?);
    Ok(again(on_page(&viewer, &body)))
}

impl Fields {
    fn now(viewer: &Viewer) -> Self {
        Self {
            at: Some(moment::write(viewer.now, &viewer.zone)),
            ..Self::default()
        }
    }

    fn put(&self, viewer: &Viewer, limits: &Limits) -> Result<Put, Fault> {
        let text = |field: &Option<String>| field.as_deref().unwrap_or_default().trim().to_owned();
        let identity = Identity {
            subject: Subject::parse(&text(&self.subject)).map_err(Problem::from)?,
            kind: Kind::parse(&text(&self.kind)).map_err(Problem::from)?,
        };
        let payload = self.payload.as_deref();
        let payload = payload.map(|text| Payload::parse(text.trim(), limits.payload_bytes));
        let callback_url = self.callback_url.as_deref();
        let callback_url = callback_url.map(|url| url.trim().to_owned());
        check_callback(callback_url.as_deref(), "callback.url")?;
        Ok(Put {
            payload: payload.transpose().map_err(Problem::from)?,
            callback_url,
            ..Put::at(identity, self.instant(viewer)?)
        })
    }

    /// The one instant. A chosen one is valid only while it is one of those that the wall clock can
    /// mean.
    fn instant(&self, viewer: &Viewer) -> Result<Timestamp, Fault> {
        let (clock, zone) = self.clock(viewer);
        let chosen: Option<Timestamp> = self.to.as_deref().and_then(|to| to.parse().ok());
        match moment::read(clock, zone) {
            Ok((Moment::Skipped(both) | Moment::Twice(both), _)) => {
                let which = both!(
                    "This is not one instant. Choose below which one you mean.",
                    "这不是唯一的时刻，请在下方选择。"
                );
                let chosen = chosen.filter(|at| both.contains(at));
                chosen.ok_or_else(|| Fault::at("at", which))
            }
            _ => moment::one("at", clock, zone),
        }
    }

    fn clock<'a>(&'a self, viewer: &'a Viewer) -> (&'a str, &'a str) {
        let clock = self.at.as_deref().unwrap_or_default();
        (clock, self.zone.as_deref().unwrap_or(viewer.zone_name()))
    }

    /// Asks which of two instants is meant, where the time is not one.
    fn which(&self, viewer: &Viewer) -> Markup {
        let (clock, zone) = self.clock(viewer);
        let one = viewer.lang.pick("this one", "这一个");
        let choice = |at: Timestamp| {
            let is_chosen = self.to.as_deref() == Some(&*at.to_string());
            html! { label class="tick" { input type="radio" name="to" value=(at) checked[is_chosen]; (one) } }
        };
        let read = moment::read(clock, zone);
        if let Ok((Moment::Skipped(_) | Moment::Twice(_), _)) = read {
            let old = None;
            return offer(viewer, &Typed { clock, zone, old }, choice);
        }
        html! {}
    }
}

/// What this request would do: when, to which task, and who would be called.
async fn preview(state: &AppState, viewer: &Viewer, put: Put) -> Page {
    let lang = viewer.lang;
    let (identity, at) = (put.identity.clone(), put.execute_at);
    let known = state.rescheduler.kinds();
    let address = put.callback_url.clone();
    let address = address.or_else(|| known.addresses.get(&identity.kind).cloned());
    let is_pulled = known.pulled.contains(&identity.kind);
    let rows = state.store.load_current(std::slice::from_ref(&identity));
    let current = rows.await?.into_iter().flatten().next();
    let request = Request::Put(put);
    let change = decide(current.as_ref(), &request, &viewer.origin(), viewer.now);
    let rule = change
        .map_err(|refused| Problem::from(almanack_engine::reschedule::Error::from(refused)))?
        .rule;
    let equivalent =
        Equivalent::call("PUT", api_path(&identity)).body(&json!({ "execute_at": at }));
    let words_of = [
        "task",
        "put",
        identity.kind.as_str(),
        identity.subject.as_str(),
        "--at",
        &at.to_string(),
    ];
    Ok(section! { lang; "would", "Preview", "预览";
        (facts! { lang;
            "When", "时间" {
                (viewer.instant(at)) " · " (viewer.distance(at))
                @if viewer.zone != TimeZone::UTC { div class="hint" { (viewer.instant_in(at, &TimeZone::UTC)) } }
                @if at <= viewer.now { div { (lang.pick("in the past: runs now", "已过去，将立即执行")) } }
            }
            "Effect", "效果" {
                (words::rule(lang, rule))
                @if let Some(task) = &current { " " a href=(task_path(&identity)) { (status(lang, task.status, task.is_live())) } ", " (viewer.at(task.execute_at)) }
            }
            "Carried out by", "执行方式" {
                @if is_pulled { (lang.pick("a worker that takes it", "由工作进程领取")) }
                @else if let Some(address) = &address { (lang.pick("a call of", "调用")) " " code { (address) } }
                @else { (lang.pick("nothing yet: no callback is configured for this kind", "尚无：此类型没有配置回调")) }
            }
        })
        (equivalent.cli(words_of).show(viewer))
    })
}

fn on_page(viewer: &Viewer, body: &Markup) -> Markup {
    page(
        viewer,
        Place::Tasks,
        viewer.lang.pick("New task", "新建任务"),
        body,
    )
}

fn form(viewer: &Viewer, fields: &Fields, faults: &Faults) -> Markup {
    let lang = viewer.lang;
    let (kind, subject) = ("ARTICLE_PUBLISH", "article:42");
    let called =
        pick!(lang; "Callback URL (default: the configured one)", "回调网址（默认：配置的地址）");
    let inside = html! {
        div class="fields" {
            (Field::text("kind", lang.pick("Kind", "类型"), fields.kind.as_deref()).required().most(64).example(kind))
            (Field::text("subject", lang.pick("Subject", "主题"), fields.subject.as_deref())
                .wide().required().most(200).example(subject))
        }
        div class="fields" { (clock_fields(viewer, fields.at.as_deref(), fields.zone.as_deref())) }
        (fields.which(viewer))
        p { label { (lang.pick("Payload (JSON)", "载荷（JSON）"))
            textarea name="payload" rows="5" spellcheck="false" { (fields.payload.as_deref().unwrap_or_default()) }
        } }
        p { label { (called)
            input type="url" name="callback_url" value=[fields.callback_url.as_deref()] autocomplete="off";
        } }
        (form::checked(lang, lang.pick("Create task", "新建任务")))
    };
    let payload = r#"{"lang":"en"}"#;
    let words = format!("task put {kind} {subject} --at +10m --payload {payload}");
    html! {
        p { (pick!(lang; "If the task exists, this reschedules it by the usual rules.",
            "若任务已存在，则按规则为它改期。")) }
        (form::form(viewer, "/ui/tasks/new", &faults.show(lang, &inside)))
        (Equivalent::call("PUT", format!("/api/v1/tasks/{kind}/{subject}"))
            .body(&json!({ "execute_at": viewer.now, "payload": { "lang": "en" } })).cli(words.split(' ')).show(viewer))
    }
}
