//! A state machine as a strip of steps: done, current, to come.
//!
//! An ordered list instead of a drawing: it is read in order, wraps on a narrow page, and names
//! the current step to screen readers.

use super::prelude::*;

#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// What the state is called.
    pub(crate) name: String,
    /// Details such as `3/5 batches`; may be empty.
    pub(crate) detail: String,
    /// The current step is running, or failed if it cannot continue by itself.
    pub(crate) stage: Outcome,
}

/// Draws a strip of steps.
pub(crate) fn draw(steps: &[Step], frame: &Frame<'_>) -> Markup {
    html! {
        ol class="picture steps" id=(frame.id) aria-label=(frame.caption) {
            @for step in steps {
                @let current = matches!(step.stage, Outcome::Running | Outcome::Failed).then_some("step");
                li class=(step.stage.class()) aria-current=[current] {
                    (step.stage.icon())
                    span.name { (step.name) }
                    @if !step.detail.is_empty() { " " span.detail { (step.detail) } }
                    " " span.unseen { (words(step.stage, frame.lang)) }
                }
            }
        }
    }
}

fn words(stage: Outcome, lang: Lang) -> &'static str {
    let named = words! { lang, stage?;
        Outcome::Done => "done", "已完成";
        Outcome::Running => "current", "当前";
        Outcome::Failed => "failed here", "在此失败";
        Outcome::Planned => "to come", "未开始";
        Outcome::Skipped => "skipped", "已跳过";
    };
    named.unwrap_or(stage.name(lang))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use jiff::tz::TimeZone;

    use super::*;
    use almanack_core::lang::Lang;

    #[test]
    fn the_current_step_is_said_to_be() {
        let frame = Frame {
            id: "st",
            caption: "State",
            lang: Lang::English,
            zone: &TimeZone::UTC,
        };
        let step = |name: &str, detail: &str, stage| Step {
            name: name.to_owned(),
            detail: detail.to_owned(),
            stage,
        };
        let steps = [
            step("init", "", Outcome::Done),
            step("processing", "3/5 <batches>", Outcome::Running),
            step("published", "", Outcome::Planned),
        ];
        let html = crate::picture::tests::lines(draw(&steps, &frame));
        assert_eq!(html.matches("aria-current=\"step\"").count(), 1);
        assert_snapshot!(html, @r#"
        <ol class="picture steps" id="st" aria-label="State">
        <li class="done">
        <svg class="icon" viewBox="-7 -7 14 14" aria-hidden="true">
        <path class="o done" d="M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0">
        <span class="name">init</span> <span class="unseen">done</span>
        <li class="running" aria-current="step">
        <svg class="icon" viewBox="-7 -7 14 14" aria-hidden="true">
        <path class="o running" d="M-4.7 0a4.7 4.7 0 1 0 9.4 0a4.7 4.7 0 1 0-9.4 0M0-3.3v6.6a3.3 3.3 0 0 1 0-6.6">
        <span class="name">processing</span> <span class="detail">3/5 &lt;batches&gt;</span> <span class="unseen">current</span>
        <li class="planned">
        <svg class="icon" viewBox="-7 -7 14 14" aria-hidden="true">
        <path class="o planned" d="M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0">
        <span class="name">published</span> <span class="unseen">to come</span>
        "#);
    }
}
