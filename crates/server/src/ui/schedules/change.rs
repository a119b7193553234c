//! Writing a schedule, new or changed: a form, what it would do, and the button.

use almanack_core::plan::{Definition, Origin, Ready, Schedule, ScheduleName};
use almanack_engine::schedules::{Expected, Writer};

use super::fields::{Fields, TARGETS};
use super::one::{is_there, way_back};
use super::sheet::{Sheet, target_name};
use super::{acts::name_of, api, path, ready, times, told, trying};
use crate::schedules::{Named, admit, find};
use crate::ui::prelude::*;
use crate::{access::Asker, ui::form::form};

/// Coming times told before and after.
const TIMES: usize = 10;

/// What is being written.
struct Draft<'a> {
    viewer: &'a Viewer,
    /// The schedule that is changed; none if it is new.
    schedule: Option<&'a Schedule>,
    fields: &'a Fields,
}

/// An empty form, or one begun by a link.
pub(crate) async fn blank(viewer: Viewer, Sought(fields): Sought<Fields>) -> Page {
    asker(&viewer)?.must(Scope::Operate, "writing a schedule")?;
    let fields = &begun(&viewer, fields);
    Ok(Draft::new(&viewer, None, fields).page(&html! {}, None))
}

fn begun(viewer: &Viewer, mut fields: Fields) -> Fields {
    if !TARGETS.contains(&fields.target.as_str()) {
        TARGETS[0].clone_into(&mut fields.target);
    }
    if fields.tz.is_empty() {
        viewer.zone_name().clone_into(&mut fields.tz);
    }
    fields
}

/// Checks or creates a schedule.
pub(crate) async fn create(State(state): App, filled: Filled<Fields>) -> Answer {
    let Filled { viewer, form } = filled;
    Draft::new(&viewer, None, &form)
        .answer(&state, Expected::Nothing)
        .await
}

/// The form of a schedule that is there.
pub(crate) async fn edit(State(state): App, Named(name): Named, viewer: Viewer) -> Answer {
    asker(&viewer)?.must(Scope::Operate, "changing a schedule")?;
    let schedule = find(&state, &name).await?;
    let lang = viewer.lang;
    if let Some(managed) = told::managed(lang, schedule.origin).filter(|_| is_there(&schedule)) {
        let body = html! { p class="wrong" { (managed) } (way_back(lang, &schedule)) };
        let title = title(lang, Some(&schedule));
        return Ok(page(&viewer, Place::Schedules, &title, &body).into_response());
    }
    let definition = Definition::from_json(&schedule.definition)?;
    let fields = Fields::of(name.as_str(), definition, schedule.revision);
    Ok(Draft::new(&viewer, Some(&schedule), &fields)
        .page(&html! {}, None)
        .into_response())
}

/// Checks or changes a schedule, if it still is what was looked at.
pub(crate) async fn save(State(state): App, Named(name): Named, filled: Filled<Fields>) -> Answer {
    let Filled { viewer, mut form } = filled;
    let schedule = find(&state, &name).await?;
    name.as_str().clone_into(&mut form.name);
    let missing = || Problem::new(Code::InvalidValue, "the form lacks its revision");
    let seen = Expected::Revision(form.revision.ok_or_else(missing)?);
    Draft::new(&viewer, Some(&schedule), &form)
        .answer(&state, seen)
        .await
}

impl<'a> Draft<'a> {
    fn new(viewer: &'a Viewer, schedule: Option<&'a Schedule>, fields: &'a Fields) -> Self {
        Self {
            viewer,
            schedule,
            fields,
        }
    }
    /// Checks or writes. What is refused comes back as it was filled in, with the reason.
    async fn answer(&self, state: &AppState, seen: Expected) -> Answer {
        let done = if self.fields.act == "check" {
            self.check(state)
                .map(|told| self.page(&told, None).into_response())
        } else {
            self.write(state, seen).await
        };
        done.or_else(|problem| {
            if problem.code.status().is_server_error() {
                return Err(problem);
            }
            let told = trying::refusal(self.viewer.lang, &self.fields.expression, &problem);
            Ok(again(self.page(&told, problem.place())))
        })
    }

    fn read(&self, state: &AppState) -> Result<(ScheduleName, Ready)> {
        let name = ScheduleName::parse(self.fields.name.trim())?;
        let definition = self.fields.definition()?;
        admit(state, &name, &definition, asker(self.viewer)?)?;
        let ready = state.schedules.check(&name, definition)?;
        Ok((name, ready))
    }

    async fn write(&self, state: &AppState, seen: Expected) -> Answer {
        let (name, ready) = self.read(state)?;
        let writer = Writer {
            origin: Origin::Api,
            by: name_of(self.viewer),
        };
        let put = state
            .schedules
            .put_expecting(&name, ready.definition, writer, seen);
        let did = match (put.await?.edited, self.schedule) {
            (None, _) => "unchanged",
            (Some(_), None) => "created",
            (Some(_), Some(_)) => "changed",
        };
        Ok(see(&format!("{}?did={did}", path(&name))))
    }

    /// What it would do.
    fn check(&self, state: &AppState) -> Page {
        let (name, new) = self.read(state)?;
        let (viewer, lang) = (self.viewer, self.viewer.lang);
        let old = self
            .schedule
            .and_then(|schedule| ready(state, schedule).ok());
        let times = |ready: &Ready, caption| {
            let coming = times::coming(ready, ready.next_after(viewer.now), TIMES);
            times::times(viewer, ready, &coming, caption)
        };
        let (before, after) = (lang.pick("Before", "修改前"), lang.pick("After", "修改后"));
        let body = html! {
            p { strong { (new.describe(told::language(lang))) } }
            (times::warnings(viewer, &new))
            @if let Some(old) = &old {
                (times::compared(viewer, old, &new))
                h3 { (before) }
                (times(old, before))
                h3 { (after) }
            }
            (times(&new, after))
            (self.equivalent(&name)?.show(viewer))
        };
        Ok(section(
            "would",
            lang.pick("What it would do", "将会怎样"),
            &body,
        ))
    }

    fn equivalent(&self, name: &ScheduleName) -> Result<Equivalent> {
        let body = self.fields.to_json()?;
        let (target, expression, tz) = (
            body["target"].to_string(),
            &self.fields.expression,
            &self.fields.tz,
        );
        let mut words = vec![
            "schedule",
            "put",
            name.as_str(),
            expression,
            "--target",
            &target,
        ];
        if !tz.is_empty() {
            words.extend(["--tz", tz]);
        }
        Ok(Equivalent::call("PUT", api(name, ""))
            .body(&body)
            .cli(&words))
    }

    fn page(&self, told: &Markup, wrong: Option<&str>) -> Markup {
        let (viewer, lang) = (self.viewer, self.viewer.lang);
        let action = match self.schedule {
            Some(schedule) => format!("{}/change", path(&schedule.name)),
            None => "/ui/schedules/new".to_owned(),
        };
        let sheet = Sheet {
            viewer,
            fields: self.fields,
            wrong,
        };
        let fields = html! {
            @if let Some(revision) = self.fields.revision { input type="hidden" name="revision" value=(revision); }
            @if self.schedule.is_none() {
                (sheet.line("name", lang.pick("Name: letters, digits, . _ -", "名称：字母、数字、. _ -"), &self.fields.name, "morning-news"))
            }
            (sheet.show())
            p class="acts" {
                button type="submit" name="act" value="check" { (lang.pick("Show what it would do", "查看将会怎样")) }
                button type="submit" name="act" value="write" class="primary" { (lang.pick("Save", "保存")) }
            }
        };
        let body = html! {
            @if self.schedule.is_none() { (self.kinds()) }
            (told)
            (form(viewer, &action, &fields))
            @if let Some(schedule) = self.schedule { (way_back(lang, schedule)) }
        };
        page(viewer, Place::Schedules, &title(lang, self.schedule), &body)
    }

    /// Ways to the form of each kind of target.
    fn kinds(&self) -> Markup {
        let lang = self.viewer.lang;
        let it = self.fields;
        html! {
            nav class="numbers" aria-label=(lang.pick("What it fires at", "触发目标")) {
                @for target in TARGETS {
                    @let pairs = [("target", target), ("name", &it.name), ("expression", &it.expression), ("tz", &it.tz)];
                    @let given = pairs.into_iter().filter(|(_, value)| !value.is_empty());
                    a href=(address("/ui/schedules/new", given)) aria-current=[(target == it.target).then_some("true")] {
                        (target_name(lang, target))
                    }
                }
            }
        }
    }
}

fn asker(viewer: &Viewer) -> Result<&Asker> {
    let nobody = || Problem::new(Code::Unauthenticated, "nobody is signed in");
    viewer.asker.as_ref().ok_or_else(nobody)
}

fn title(lang: Lang, schedule: Option<&Schedule>) -> String {
    match schedule.map(|schedule| &schedule.name) {
        Some(name) => say!(lang, "Change {name}", "修改 {name}"),
        None => lang.pick("New schedule", "新建日程").to_owned(),
    }
}
