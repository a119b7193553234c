//! Creates or reschedules a task: the same request as `PUT /api/v1/tasks/…`.

use almanack_core::reschedule::{Put, Request};
use almanack_core::task::{Payload, Subject};

use super::carry_out;
use super::change::{Typed, clock_fields, offer};
use crate::ui::prelude::*;
use crate::{Limits, tasks::body::check_callback};

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Fields {
    kind: Option<String>,
    subject: Option<String>,
    at: Option<String>,
    zone: Option<String>,
    payload: Option<String>,
    callback_url: Option<String>,
    /// One of two instants, chosen if the wall clock shows both.
    to: Option<String>,
}

/// Why a task was refused; none if its time is not a single instant.
type Unclear = Option<Problem>;

pub(crate) async fn show(viewer: Viewer) -> Markup {
    let fields = Fields {
        at: Some(moment::write(viewer.now, &viewer.zone)),
        ..Fields::default()
    };
    filled_in(&viewer, &fields, &Markup::default())
}

/// Creates the task, or shows the form again with the error.
pub(crate) async fn put(Filled(state, viewer, fields): Filled<Fields>) -> Answer {
    let unclear = match fields.request(&viewer, &state.limits) {
        Ok(request) => match carry_out(&state, &viewer, request).await {
            Ok(response) => return Ok(response),
            Err(problem) if problem.code.status().is_server_error() => return Err(problem),
            Err(problem) => Some(problem),
        },
        Err(unclear) => unclear,
    };
    let what = match unclear {
        Some(problem) => refused(viewer.lang, &problem),
        None => fields.which(&viewer),
    };
    Ok(again(filled_in(&viewer, &fields, &what)))
}

impl Fields {
    fn request(&self, viewer: &Viewer, limits: &Limits) -> Result<Request, Unclear> {
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
        Ok(Request::Put(Put {
            payload: payload.transpose().map_err(Problem::from)?,
            callback_url,
            ..Put::at(identity, self.instant(viewer)?)
        }))
    }

    /// The one instant. A chosen one is valid only while it is one of those that the wall clock can
    /// mean.
    fn instant(&self, viewer: &Viewer) -> Result<Timestamp, Unclear> {
        let (clock, zone) = self.clock(viewer);
        let (moment, _) = moment::read(clock, zone).map_err(|_| None)?;
        let chosen: Option<Timestamp> = self.to.as_deref().and_then(|to| to.parse().ok());
        match moment {
            Moment::One(at) => Ok(at),
            Moment::Skipped(both) | Moment::Twice(both) => {
                chosen.filter(|at| both.contains(at)).ok_or(None)
            }
        }
    }

    fn clock<'a>(&'a self, viewer: &'a Viewer) -> (&'a str, &'a str) {
        let clock = self.at.as_deref().unwrap_or_default();
        (clock, self.zone.as_deref().unwrap_or(viewer.zone_name()))
    }

    /// Asks which of two instants is meant, or shows what is wrong with the time.
    fn which(&self, viewer: &Viewer) -> Markup {
        let (clock, zone) = self.clock(viewer);
        let one = viewer.lang.pick("this one", "这一个");
        let choice = |at: Timestamp| {
            html! { label class="tick" { input type="radio" name="to" value=(at); (one) } }
        };
        let old = None;
        offer(viewer, &Typed { clock, zone, old }, choice)
    }
}

fn filled_in(viewer: &Viewer, fields: &Fields, what: &Markup) -> Markup {
    let lang = viewer.lang;
    let (kind, subject) = ("ARTICLE_PUBLISH", "article:42");
    let called =
        pick!(lang; "Callback URL (default: the configured one)", "回调网址（默认：配置的地址）");
    let inside = html! {
        (what)
        div class="fields" {
            (Field::text("kind", lang.pick("Kind", "类型"), fields.kind.as_deref()).required().most(64).example(kind))
            (Field::text("subject", lang.pick("Subject", "主题"), fields.subject.as_deref())
                .wide().required().most(200).example(subject))
        }
        div class="fields" { (clock_fields(viewer, fields.at.as_deref(), fields.zone.as_deref())) }
        p { label { (lang.pick("Payload (JSON)", "载荷（JSON）"))
            textarea name="payload" rows="5" spellcheck="false" { (fields.payload.as_deref().unwrap_or_default()) }
        } }
        p { label { (called)
            input type="url" name="callback_url" value=[fields.callback_url.as_deref()] autocomplete="off";
        } }
        p class="acts" {
            button type="submit" class="primary" { (lang.pick("Create task", "新建任务")) }
            a class="button" href=(Place::Tasks.path()) { (lang.pick("Cancel", "取消")) }
        }
    };
    let payload = r#"{"lang":"en"}"#;
    let words = format!("task put {kind} {subject} --at +10m --payload {payload}");
    let body = html! {
        p { (pick!(lang; "If the task exists, this reschedules it by the usual rules.",
            "若任务已存在，则按规则为它改期。")) }
        (form(viewer, "/ui/tasks/new", &inside))
        (Equivalent::call("PUT", format!("/api/v1/tasks/{kind}/{subject}"))
            .body(&json!({ "execute_at": viewer.now, "payload": { "lang": "en" } })).cli(words.split(' ')).show(viewer))
    };
    let title = lang.pick("New task", "新建任务");
    page(viewer, Place::Tasks, title, &body)
}
