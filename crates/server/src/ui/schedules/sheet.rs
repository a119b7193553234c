//! The fields of a schedule's form: one group for when, one for at what, and the policies folded away.

use maud::Render as _;

use super::fields::Fields;
use crate::ui::prelude::*;

/// The fields of a form, with what was filled in and which of them is refused.
pub(crate) struct Sheet<'a> {
    pub(crate) viewer: &'a Viewer,
    pub(crate) fields: &'a Fields,
    /// Where it went wrong, as problems name it: `target.url`.
    pub(crate) wrong: Option<&'a str>,
}

impl Sheet<'_> {
    /// All fields but the name.
    pub(crate) fn show(&self) -> Markup {
        let (lang, it) = (self.viewer.lang, self.fields);
        html! {
            fieldset class="fields" {
                legend { (lang.pick("When", "时间规则")) }
                (self.line("expression", lang.pick("Expression", "表达式"), &it.expression, "0 8 * * 1-5"))
                (Field::zone("tz", lang.pick("Time zone", "时区"), &it.tz).example("UTC").refused(self.refused("tz")))
            }
            fieldset class="fields" {
                legend { (target_name(lang, &it.target)) }
                input type="hidden" name="target" value=(it.target);
                (self.target())
            }
            details class="act" open[self.wrong.is_some_and(is_policy)] {
                summary { (lang.pick("When things do not go as planned", "未按计划进行时")) }
                div class="fields" { (self.policies()) }
            }
        }
    }

    fn target(&self) -> Markup {
        let (lang, it) = (self.viewer.lang, self.fields);
        html! {
            @match it.target.as_str() {
                "workflow" => {
                    (self.line("repository", lang.pick("Repository", "仓库"), &it.repository, "owner/name"))
                    (self.line("workflow", lang.pick("Workflow file", "工作流文件"), &it.workflow, "daily.yml"))
                    (self.line("ref", lang.pick("Branch or tag", "分支或标签"), &it.r#ref, "main"))
                    (self.area("inputs", lang.pick("Inputs, one name=value per line", "输入，每行一个 name=value"), &it.inputs))
                },
                "command" => {
                    (self.area("argv", lang.pick("Program and arguments, one per line", "程序与参数，每行一个"), &it.argv))
                    (self.line("timeout", lang.pick("Killed after", "超时终止"), &it.timeout, "10m"))
                },
                "task" => {
                    (self.line("kind", lang.pick("Kind of the task", "任务种类"), &it.kind, "EDITION_RUN"))
                    (self.line("subject", pick!(lang; "Subject; {slot} and {date} stand for the slot and its day",
                        "主题；{slot} 和 {date} 代表时点和日期"), &it.subject, "edition:{date}"))
                    (self.area("payload", lang.pick("Payload, as JSON (optional)", "载荷，JSON（可选）"), &it.payload))
                },
                _ => {
                    (self.line("url", lang.pick("Address to POST to", "POST 地址"), &it.url, "https://example.org/hook"))
                    (self.area("body", lang.pick("What to send along, as JSON (optional)", "附带内容，JSON（可选）"), &it.body))
                },
            }
        }
    }

    fn policies(&self) -> Markup {
        let (lang, it) = (self.viewer.lang, self.fields);
        let skipped = lang.pick("they stay skipped", "保持跳过");
        let catch_up = [
            (
                "latest",
                lang.pick("the last one fires late", "补触发最后一个"),
            ),
            ("none", skipped),
            (
                "all",
                lang.pick("all within the grace fire late", "宽限内全部补触发"),
            ),
        ];
        let overlap = [
            ("skip", lang.pick("it is skipped", "跳过")),
            ("queue_one", lang.pick("it waits", "等待")),
            ("allow", lang.pick("it fires all the same", "照常触发")),
            (
                "cancel_running",
                lang.pick("it cancels the one before", "取消上一次"),
            ),
        ];
        let on_resume = [
            ("skip", skipped),
            ("latest", lang.pick("the last one fires", "触发最后一个")),
        ];
        html! {
            (self.choice("catch_up", lang.pick("Slots that were missed", "错过的时点"), &it.catch_up, &catch_up))
            (self.line("grace", lang.pick("How late a slot may fire", "时点最多可迟到"), &it.grace, lang.pick("half the gap", "间隔的一半")))
            (self.line("max_catch_up", lang.pick("Most missed slots that fire", "最多补触发个数"), &it.max_catch_up, "100"))
            (self.line("catch_up_pace", lang.pick("Between two of them", "补触发间隔"), &it.catch_up_pace, "1s"))
            (self.choice("overlap", lang.pick("A slot whose predecessor has not ended", "上一次未结束时"), &it.overlap, &overlap))
            (self.choice("on_resume", lang.pick("The slots of a pause", "暂停期间的时点"), &it.on_resume, &on_resume))
            (self.line("splay", lang.pick("Spread over", "错峰范围"), &it.splay, "0s"))
            (self.line("retry_for", lang.pick("How long failures are tried again", "失败后重试多久"), &it.retry_for, lang.pick("until the next slot", "到下一时点")))
            (self.line("priority", lang.pick("Priority, 0 to 9", "优先级（0 到 9）"), &it.priority, "5"))
        }
    }

    /// A field of one line.
    pub(crate) fn line(&self, name: &str, label: &str, value: &str, example: &str) -> Markup {
        Field::text(name, label, Some(value))
            .example(example)
            .refused(self.refused(name))
            .render()
    }

    fn area(&self, name: &str, label: &str, value: &str) -> Markup {
        html! {
            label { (label)
                textarea name=(name) rows="4" spellcheck="false" aria-invalid=[self.invalid(name)]
                    aria-describedby=[self.described(name)] { (value) }
            }
        }
    }

    fn choice(&self, name: &str, label: &str, value: &str, choices: &[(&str, &str)]) -> Markup {
        html! {
            label { (label)
                select name=(name) aria-invalid=[self.invalid(name)] aria-describedby=[self.described(name)] {
                    @for (choice, told) in choices { option value=(choice) selected[*choice == value] { (told) } }
                }
            }
        }
    }

    fn refused(&self, name: &str) -> bool {
        let wrong = self
            .wrong
            .map(|wrong| wrong.strip_prefix("target.").unwrap_or(wrong));
        wrong == Some(name)
    }

    fn invalid(&self, name: &str) -> Option<&'static str> {
        self.refused(name).then_some("true")
    }

    fn described(&self, name: &str) -> Option<&'static str> {
        self.refused(name).then_some("refused")
    }
}

fn is_policy(path: &str) -> bool {
    !matches!(path, "name" | "expression" | "tz") && !path.starts_with("target")
}

/// What a target is called.
pub(crate) fn target_name(lang: Lang, target: &str) -> &'static str {
    words! { lang, target;
        "workflow" => "GitHub workflow", "GitHub 工作流";
        "command" => "Command on the node", "节点上的命令";
        "task" => "Task of Almanack", "Almanack 任务";
        _ => "Webhook", "Webhook";
    }
}
