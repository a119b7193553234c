//! Why a target is refused, in both languages, and which of its fields that is about.

use super::{INPUTS_MAX, TEXT_BYTES_MAX};
use crate::{
    lang::{Lang, Say, Sentence},
    say,
    task::Invalid,
};

/// Why a target is refused. Names the field, never echoes its value: see the module's invariant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.say(Lang::English))]
pub enum Unusable {
    /// Not an http or https address.
    Url,
    /// A header that cannot be stored or sent.
    Header {
        /// Its name, where it has one.
        name: String,
        /// What is wrong with it, as the rest of a sentence.
        why: Sentence,
    },
    /// A GET has no body.
    NoBody(&'static str),
    /// Two things to send.
    TwoBodies,
    /// An unknown placeholder in braces.
    Unfillable,
    /// What is sent could not be kept.
    Template(Invalid),
    /// Not `owner/name`.
    Repository,
    /// Not a file name.
    Workflow,
    /// No ref.
    Ref,
    /// Too many.
    Inputs(usize),
    /// No program.
    Argv,
    /// Not between a second and a day.
    Timeout,
    /// Not between a second and a week.
    ReportWithin,
    /// The addresses to report to are sent with the firing.
    NowhereToReport,
    /// An unknown placeholder in braces.
    Placeholder,
    /// Of a kind that belongs to the engine, and not one that a schedule may put.
    Reserved,
    /// Too long, or not a text.
    Note,
    /// The task would be refused.
    Task(#[from] Invalid),
    /// What is sent along could not be kept or read.
    Body(Invalid),
    /// What its handler needs to know could not be kept or read.
    Payload(Invalid),
}

impl Say for Unusable {
    fn say(&self, lang: Lang) -> String {
        match self {
            Self::Url => say!(lang;
                "target.url must be an http or https address without user name or password",
                "target.url 必须是不含用户名和密码的 http 或 https 地址"),
            Self::Header { name, why } => {
                let (dot, why) = (if name.is_empty() { "" } else { "." }, why.say(lang));
                say!(lang; "target.headers{dot}{name} {why}", "target.headers{dot}{name}：{why}")
            }
            Self::NoBody(it) => say!(lang;
                "target.method: a GET sends no {it}; use POST, or remove the {it}",
                "target.method：GET 不发送 {it}；请改用 POST，或去掉 {it}"),
            Self::TwoBodies => say!(lang;
                "target.template is sent instead of the firing and its body: remove target.body",
                "target.template 会代替触发及其 body 发送：请去掉 target.body"),
            Self::Unfillable => say!(lang;
                "target.template: the only placeholders are {{slot}}, {{date}}, {{schedule}}, {{firing}} and {{attempt}}",
                "target.template：占位符只有 {{slot}}、{{date}}、{{schedule}}、{{firing}} 和 {{attempt}}"),
            Self::Template(it) => {
                let it = it.say(lang);
                say!(lang; "target.template: {it}", "target.template：{it}")
            }
            Self::Repository => say!(lang;
                "target.repository must be written owner/name",
                "target.repository 必须写成 owner/name"),
            Self::Workflow => say!(lang;
                "target.workflow must be the file name of a workflow, such as daily.yml",
                "target.workflow 必须是工作流的文件名，如 daily.yml"),
            Self::Ref => say!(lang;
                "target.ref must name a branch or a tag",
                "target.ref 必须是分支或标签的名称"),
            Self::Inputs(it) => say!(lang;
                "target.inputs has {it} inputs; a workflow takes at most {INPUTS_MAX}",
                "target.inputs 有 {it} 个输入；工作流最多接受 {INPUTS_MAX} 个"),
            Self::Argv => say!(lang;
                "target.argv must be a program and at most 99 arguments, none of them with a NUL",
                "target.argv 必须是一个程序和最多 99 个参数，且都不含 NUL"),
            Self::Timeout => say!(lang;
                "target.timeout must be between 1s and 24h",
                "target.timeout 必须在 1s 到 24h 之间"),
            Self::ReportWithin => say!(lang;
                "target.report_within must be between 1s and 7d",
                "target.report_within 必须在 1s 到 7d 之间"),
            Self::NowhereToReport => say!(lang;
                "target.report_within needs the firing as the body, which says where to report: leave out the template, and use another method than GET",
                "target.report_within 需要以触发作为请求体，其中写明向哪里报告：请去掉 template，并使用 GET 以外的方法"),
            Self::Placeholder => say!(lang;
                "target.subject: the only placeholders are {{slot}} and {{date}}",
                "target.subject：占位符只有 {{slot}} 和 {{date}}"),
            Self::Reserved => say!(lang;
                "target.kind: a schedule cannot create DISPATCH or EVENT_DELIVERY tasks; SOURCE_CHECK needs subject source:NUMBER, EDITION_RUN subject edition:DATE",
                "target.kind：日程不能创建 DISPATCH 或 EVENT_DELIVERY 任务；SOURCE_CHECK 的主体须为 source:NUMBER，EDITION_RUN 的主体须为 edition:DATE"),
            Self::Note => say!(lang;
                "target.note must have at most {TEXT_BYTES_MAX} bytes and no control characters",
                "target.note 最多 {TEXT_BYTES_MAX} 字节，不能含控制字符"),
            Self::Task(it) => {
                let it = it.say(lang);
                say!(lang; "target: {it}", "target：{it}")
            }
            Self::Body(it) => {
                let it = it.say(lang);
                say!(lang; "target.body: {it}", "target.body：{it}")
            }
            Self::Payload(it) => {
                let it = it.say(lang);
                say!(lang; "target.payload: {it}", "target.payload：{it}")
            }
        }
    }
}

impl Unusable {
    /// The path of the invalid part in the definition of a schedule.
    pub fn path(&self) -> &'static str {
        match self {
            Self::Url => "target.url",
            Self::Header { .. } => "target.headers",
            Self::NoBody(_) => "target.method",
            Self::TwoBodies | Self::Unfillable | Self::Template(_) => "target.template",
            Self::Repository => "target.repository",
            Self::Workflow => "target.workflow",
            Self::Ref => "target.ref",
            Self::Inputs(_) => "target.inputs",
            Self::Argv => "target.argv",
            Self::Timeout => "target.timeout",
            Self::ReportWithin | Self::NowhereToReport => "target.report_within",
            Self::Reserved | Self::Task(Invalid::Kind { .. }) => "target.kind",
            Self::Placeholder | Self::Task(Invalid::Subject { .. }) => "target.subject",
            Self::Note => "target.note",
            Self::Task(_) => "target",
            Self::Body(_) => "target.body",
            Self::Payload(_) => "target.payload",
        }
    }
}
