//! The fields of a schedule's form: time, target, and the policies folded.

use super::fields::Fields;
use crate::ui::prelude::*;

const METHODS: [(&str, &str); 5] = [
    ("POST", "POST"),
    ("GET", "GET"),
    ("PUT", "PUT"),
    ("PATCH", "PATCH"),
    ("DELETE", "DELETE"),
];

/// The fields of a form, with their input.
pub(crate) struct Sheet<'a> {
    pub(crate) lang: Lang,
    pub(crate) fields: &'a Fields,
}

impl Sheet<'_> {
    /// All fields except the name.
    pub(crate) fn show(&self) -> Markup {
        let lang = self.lang;
        html! {
            fieldset class="fields" {
                legend { (lang.pick("When", "时间规则")) }
                (self.line("expression", lang.pick("Expression", "表达式"), "0 8 * * 1-5"))
                (Field::zone("tz", lang.pick("Time zone", "时区"), self.fields.get("tz")).example("UTC"))
            }
            fieldset class="fields" {
                legend { (target_name(lang, self.fields.get("target"))) }
                input type="hidden" name="target" value=(self.fields.get("target"));
                (self.target())
            }
            details class="act" {
                summary { (lang.pick("Policies", "策略")) }
                div class="fields" { (self.policies()) }
            }
        }
    }

    fn target(&self) -> Markup {
        let lang = self.lang;
        html! {
            @match self.fields.get("target") {
                "workflow" => {
                    (self.line("repository", lang.pick("Repository", "仓库"), "owner/name"))
                    (self.line("workflow", lang.pick("Workflow file", "工作流文件"), "daily.yml"))
                    (self.line("ref", lang.pick("Branch or tag", "分支或标签"), "main"))
                    (self.area("inputs", lang.pick("Inputs, one name=value per line", "输入，每行一个 name=value")))
                },
                "command" => {
                    (self.area("argv", lang.pick("Program and arguments, one per line", "程序与参数，每行一个")))
                    (self.line("timeout", lang.pick("Timeout", "超时终止"), "10m"))
                },
                "task" => {
                    (self.line("kind", lang.pick("Task kind", "任务类型"), "EDITION_RUN"))
                    (self.line("subject", pick!(lang; "Subject; {slot} and {date} are replaced by the slot and its day",
                        "主题；{slot} 和 {date} 会替换为时点和日期"), "edition:{date}"))
                    (self.area("payload", lang.pick("Payload, as JSON (optional)", "载荷，JSON（可选）")))
                },
                "ping" => {
                    (self.line("note", lang.pick("What the job does (optional)", "作业说明（可选）"), lang.pick("nightly backup of db1", "db1 的每晚备份")))
                },
                _ => {
                    (self.line("url", lang.pick("URL to call", "调用的网址"), "https://example.org/hook"))
                    (self.choice("method", lang.pick("Method", "方法"), &METHODS))
                    (self.area("headers", pick!(lang; "Headers, one Name=value per line; secrets as env:NAME or file:/path",
                        "请求头，每行一个 Name=value；机密写作 env:NAME 或 file:/path")))
                    (self.area("body", lang.pick("Sent along with the firing, as JSON (optional)", "随触发一起发送的 JSON（可选）")))
                    (self.line("report_within", pick!(lang; "It answers 202 and reports its end within (optional)",
                        "应答 202 后须在此时间内报告结果（可选）"), "2h"))
                    (self.area("template", pick!(lang; "Sent instead of the firing, as JSON; {slot}, {date}, {schedule}, {firing} and {attempt} are replaced (optional)",
                        "代替触发内容发送的 JSON；{slot}、{date}、{schedule}、{firing} 和 {attempt} 会被替换（可选）")))
                },
            }
        }
    }

    fn policies(&self) -> Markup {
        let lang = self.lang;
        let catch_up = options! { lang;
            "latest" => "fire the latest", "补触发最后一个";
            "none" => "skip", "跳过";
            "all" => "fire all within the grace period", "宽限内全部补触发";
        };
        let overlap = options! { lang;
            "skip" => "skip", "跳过";
            "queue_one" => "wait", "等待";
            "allow" => "fire anyway", "照常触发";
            "cancel_running" => "cancel the previous firing", "取消上一次触发";
        };
        let on_resume = options! { lang;
            "skip" => "skip", "跳过";
            "latest" => "fire the latest", "触发最后一个";
        };
        let moves = options! { lang;
            "" => "skip the slot", "跳过该时点";
            "next_workday" => "move to the next workday", "顺延至下一工作日";
            "previous_workday" => "move to the workday before", "提前至上一工作日";
        };
        html! {
            (self.area("also", lang.pick("Further expressions, one per line; a zone behind @", "其他表达式，每行一个；时区写在 @ 之后")))
            (self.area("except", lang.pick("Not on days of these calendars, one per line", "排除的日历，每行一个")))
            (self.area("only", lang.pick("Only on days of these calendars, one per line", "仅限的日历，每行一个")))
            (self.choice("move", lang.pick("A slot on a day left out", "被排除日子的时点"), &moves))
            (self.area("quiet", lang.pick("Quiet hours, one span per line: 22:00-06:00", "静默时段，每行一个：22:00-06:00")))
            (self.line("starts_at", lang.pick("No slot before", "开始时间"), "2026-01-01T00:00:00Z"))
            (self.line("ends_at", lang.pick("No slot after", "结束时间"), "2026-12-31T23:59:59Z"))
            (self.line("runs", lang.pick("Number of runs", "触发次数"), lang.pick("default: no limit", "默认：不限")))
            (self.line("jitter", lang.pick("Random delay", "随机延迟"), "0s"))
            (self.choice("catch_up", lang.pick("Missed slots", "错过的时点"), &catch_up))
            (self.line("grace", lang.pick("Grace period", "宽限时间"), lang.pick("default: half the gap", "默认：间隔的一半")))
            (self.line("max_catch_up", lang.pick("Catch-up limit", "补触发上限"), "100"))
            (self.line("catch_up_pace", lang.pick("Pause between catch-up firings", "补触发间隔"), "1s"))
            (self.choice("overlap", lang.pick("While the previous firing runs", "上一次触发未结束时"), &overlap))
            (self.line("run_timeout", lang.pick("Time limit", "时限"), "24h"))
            (self.choice("on_resume", lang.pick("Slots during a pause", "暂停期间的时点"), &on_resume))
            (self.line("splay", lang.pick("Spread over", "错峰范围"), "0s"))
            (self.line("retry_for", lang.pick("Retry for", "重试时长"), lang.pick("default: until the next slot", "默认：到下一时点")))
            (self.line("count", lang.pick("Retries at most", "最多重试次数"), lang.pick("default: as many as fit", "默认：时间允许的次数")))
            (self.line("backoff", lang.pick("Longest wait before the first retry", "首次重试前的最长等待"), "2s"))
            (self.line("backoff_max", lang.pick("Longest wait before any retry", "重试前的最长等待"), "1m"))
            @if !matches!(self.fields.get("target"), "command" | "task") {
                (self.line("timeout", lang.pick("Timeout of one attempt", "一次尝试的超时"), "10s"))
            }
            (self.line("firings_max", lang.pick("Firings at once, in all nodes", "所有节点同时运行的触发数"), lang.pick("default: no limit", "默认：不限")))
            (self.line("tags", lang.pick("Tags", "标签"), "billing team/a"))
            (self.line("owner", lang.pick("Owner", "负责人"), "team-a"))
            (self.line("alerts", pick!(lang; "Alert channels; none notifies nobody", "告警渠道；none 表示不通知"), lang.pick("default: all", "默认：全部")))
            (self.line("priority", lang.pick("Priority, 0 to 9", "优先级（0 到 9）"), "5"))
            (self.area("pings", pick!(lang; "Addresses to call, one start=, success= or failure= per line",
                "要调用的地址，每行一个 start=、success= 或 failure=")))
        }
    }

    /// A single-line field.
    pub(crate) fn line(&self, name: &str, label: &str, example: &str) -> Markup {
        let field = Field::text(name, label, Some(self.fields.get(name)));
        field.example(example).render()
    }

    fn area(&self, name: &str, label: &str) -> Markup {
        html! { label { (label) textarea name=(name) rows="4" spellcheck="false" { (self.fields.get(name)) } } }
    }

    fn choice(&self, name: &str, label: &str, choices: &[(&str, &str)]) -> Markup {
        let choices = choices.iter().copied();
        choice(name, label, Some(self.fields.get(name)), choices)
    }
}

/// The name of a target kind.
pub(crate) fn target_name(lang: Lang, target: &str) -> &'static str {
    words! { lang, target;
        "workflow" => "GitHub workflow", "GitHub 工作流";
        "command" => "Command on a node", "节点上的命令";
        "task" => "Almanack task", "Almanack 任务";
        "ping" => "Monitor: a job that runs elsewhere", "监控：在别处运行的作业";
        _ => "Webhook", "Webhook";
    }
}
