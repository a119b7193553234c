//! The form to create or change a schedule, with a preview.

use almanack_core::plan::{Origin, Unfit};
use almanack_engine::schedules::{Expected, Writer};

use super::fields::{Fields, STAND_INS, TARGETS};
use super::one::{is_there, way_back};
use super::sheet::{Sheet, target_name};
use super::{api, path, times, words};
use crate::schedules::{Named, admit, find};
use crate::ui::prelude::*;

/// Next times shown before and after.
const TIMES: usize = 10;

struct Draft<'a> {
    viewer: &'a Viewer,
    /// The schedule being changed; none if it is new.
    schedule: Option<&'a Schedule>,
    fields: &'a Fields,
}

/// An empty form, or one prefilled by a link.
pub(crate) async fn blank(Sought(_, viewer, fields): Sought<Fields>) -> Page {
    viewer.must(Scope::Operate, "writing a schedule")?;
    let fields = &begun(&viewer, fields);
    Ok(Draft::new(&viewer, None, fields).page(&html! {}, &Faults::default()))
}

/// The form for a first schedule of this target, where there is none yet.
pub(super) fn first(viewer: &Viewer, target: &str) -> Markup {
    let mut fields = Fields::default();
    fields.set("target", target);
    let fields = begun(viewer, fields);
    let draft = Draft::new(viewer, None, &fields);
    let name = "nightly";
    let (body, shown) = if target == "ping" {
        let words = vec!["monitor", "put", name, "0 2 * * *"];
        (json!({ "type": "ping" }), words)
    } else {
        let url = "https://example.org/hook";
        let words = [
            "schedule",
            "put",
            name,
            "0 2 * * *",
            "--target-webhook",
            url,
        ];
        (json!({ "type": "webhook", "url": url }), words.to_vec())
    };
    let call = Equivalent::call("PUT", format!("/api/v1/schedules/{name}"));
    let call = call.body(&json!({ "expression": "0 2 * * *", "target": body }));
    html! {
        @if target != "ping" { (draft.kinds()) }
        (draft.form(&Faults::default()))
        (call.cli(shown).show(viewer))
    }
}

fn begun(viewer: &Viewer, mut fields: Fields) -> Fields {
    if !TARGETS.contains(&fields.get("target")) {
        fields.set("target", TARGETS[0]);
    }
    if fields.get("tz").is_empty() {
        fields.set("tz", viewer.zone_name());
    }
    fields
}

/// Previews or creates a schedule.
pub(crate) async fn create(Filled(state, viewer, form): Filled<Fields>) -> Answer {
    Draft::new(&viewer, None, &form)
        .answer(&state, Expected::Nothing)
        .await
}

/// The form of an existing schedule.
pub(crate) async fn edit(State(state): App, Named(name): Named, viewer: Viewer) -> Answer {
    viewer.must(Scope::Operate, "changing a schedule")?;
    let schedule = find(&state, &name).await?;
    let lang = viewer.lang;
    if let Some(managed) = words::managed(lang, schedule.origin).filter(|_| is_there(&schedule)) {
        let body = html! { p class="wrong" { (managed) } (way_back(lang, &schedule)) };
        let title = title(lang, Some(&schedule));
        return Ok(page(&viewer, Place::Schedules, &title, &body).into_response());
    }
    let definition = schedule.definition.read().map_err(Clone::clone)?;
    let fields = Fields::of(name.as_str(), definition, schedule.revision);
    Ok(Draft::new(&viewer, Some(&schedule), &fields)
        .page(&html! {}, &Faults::default())
        .into_response())
}

/// Previews or changes a schedule, if it is still at the revision that was shown.
pub(crate) async fn save(Named(name): Named, filled: Filled<Fields>) -> Answer {
    let Filled(state, viewer, mut form) = filled;
    let schedule = find(&state, &name).await?;
    form.set("name", name.as_str());
    let missing = |_| {
        Problem::new(
            Code::InvalidValue,
            both!("the form has no revision", "表单中没有修订"),
        )
    };
    let seen = Expected::Revision(form.get("revision").parse().map_err(missing)?);
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
    /// Previews or writes. A refused form keeps its input and shows everything that is wrong.
    async fn answer(&self, state: &AppState, seen: Expected) -> Answer {
        let done = match self.read(state) {
            Err(faults) => Err(faults),
            Ok((name, ready)) if self.fields.get("act") == "check" => {
                let preview = self.check(state, &name, &ready)?;
                return Ok(self.page(&preview, &Faults::default()).into_response());
            }
            Ok((name, ready)) => self
                .write(state, name, ready, seen)
                .await
                .map_err(Faults::from),
        };
        match done.map_err(Faults::mendable) {
            Ok(response) => Ok(response),
            Err(faults) => Ok(again(self.page(&html! {}, &faults?))),
        }
    }

    fn read(&self, state: &AppState) -> Result<(ScheduleName, Ready), Faults> {
        Faults::read(self.fields, STAND_INS, |fields| {
            let name = ScheduleName::parse(fields.get("name").trim()).map_err(Problem::from)?;
            let definition = fields.definition()?;
            let requester = self.viewer.must(Scope::Operate, "writing a schedule")?;
            admit(state, &name, &definition, requester)?;
            let checked = state.schedules.check(&name, definition);
            let ready = checked.map_err(|unfit| placed(unfit, fields))?;
            Ok((name, ready))
        })
    }

    async fn write(
        &self,
        state: &AppState,
        name: ScheduleName,
        ready: Ready,
        seen: Expected,
    ) -> Answer {
        let writer = Writer {
            origin: Origin::Api,
            by: self.viewer.name(),
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

    /// The preview.
    fn check(&self, state: &AppState, name: &ScheduleName, new: &Ready) -> Page {
        let (viewer, lang) = (self.viewer, self.viewer.lang);
        let ready = |it| state.schedules.ready(it).ok();
        let old = self.schedule.and_then(|it| Some((ready(it)?, it.runs)));
        let times = |ready: &Ready, caption| {
            let runs_done = self.schedule.map_or(0, |it| it.runs);
            let first = (ready.next_firing_after(viewer.now), runs_done);
            let coming = times::coming(ready, first, TIMES);
            times::times(viewer, ready, &coming, caption)
        };
        let (before, after) = (lang.pick("Before", "修改前"), lang.pick("After", "修改后"));
        let equivalent = self.equivalent(name)?;
        Ok(section! { lang; "would", "Preview", "预览";
            p { strong { (new.describe(lang)) } }
            (times::warnings(viewer, new))
            @if let Some((old, runs_done)) = &old {
                (times::compared(viewer, (old, *runs_done), new))
                h3 { (before) }
                (times(old, before))
                h3 { (after) }
            }
            (times(new, after))
            (equivalent.show(viewer))
        })
    }

    fn equivalent(&self, name: &ScheduleName) -> Result<Equivalent> {
        let body = self.fields.to_json()?;
        let (expression, tz) = (self.fields.get("expression"), self.fields.get("tz"));
        let target = body["target"].to_string();
        let mut words = vec!["schedule", "put", name.as_str(), expression];
        words.extend(["--target", &target]);
        if !tz.is_empty() {
            words.extend(["--tz", tz]);
        }
        let call = Equivalent::call("PUT", api(name, ""));
        Ok(call.body(&body).cli(words))
    }

    fn page(&self, above: &Markup, faults: &Faults) -> Markup {
        let (viewer, lang) = (self.viewer, self.viewer.lang);
        let body = html! {
            @if self.schedule.is_none() { (self.kinds()) }
            (above)
            (self.form(faults))
            @if let Some(schedule) = self.schedule { (way_back(lang, schedule)) }
        };
        page(viewer, Place::Schedules, &title(lang, self.schedule), &body)
    }

    fn form(&self, faults: &Faults) -> Markup {
        let (viewer, lang) = (self.viewer, self.viewer.lang);
        let action = match self.schedule {
            Some(schedule) => format!("{}/change", path(&schedule.name)),
            None => "/ui/schedules/new".to_owned(),
        };
        let sheet = Sheet {
            lang,
            fields: self.fields,
        };
        let revision = self.fields.get("revision");
        let fields = html! {
            @if !revision.is_empty() { (hidden([("revision", revision)])) }
            @if self.schedule.is_none() {
                (sheet.line("name", lang.pick("Name: letters, digits, . _ -", "名称：字母、数字、. _ -"), "morning-news"))
            }
            (sheet.show())
            (form::checked(lang, lang.pick("Save", "保存")))
        };
        form(viewer, &action, &faults.show(lang, &fields))
    }

    /// Links to the form of each kind of target.
    fn kinds(&self) -> Markup {
        let lang = self.viewer.lang;
        let it = self.fields;
        html! {
            nav class="numbers" aria-label=(lang.pick("Target", "触发目标")) {
                @for target in TARGETS {
                    @let own = ["name", "expression", "tz"].map(|name| (name, it.get(name)));
                    @let given = own.into_iter().filter(|(_, value)| !value.is_empty());
                    @let given: Vec<_> = std::iter::once(("target", target)).chain(given).collect();
                    a href=(address("/ui/schedules/new", given)) aria-current=[(target == it.get("target")).then_some("true")] {
                        (target_name(lang, target))
                    }
                }
            }
        }
    }
}

/// What is unfit, at the line of its field: of several expressions, the API names none.
fn placed(unfit: Unfit, fields: &Fields) -> Problem {
    let line = match &unfit {
        Unfit::Expression { expression, .. } | Unfit::NeverFires { expression } => {
            fields.line_of_also(expression)
        }
        _ => None,
    };
    let problem = Problem::from(unfit);
    match line {
        Some(line) => problem.at(format!("also[{line}]")),
        None => problem,
    }
}

fn title(lang: Lang, schedule: Option<&Schedule>) -> String {
    match schedule.map(|schedule| &schedule.name) {
        Some(name) => say!(lang, "Change {name}", "修改 {name}"),
        None => lang.pick("New schedule", "新建日程").to_owned(),
    }
}
