//! The stable error codes. A code never changes its meaning or its status; a new failure gets a new
//! code.

use almanack_core::lang::Lang;

use crate::prelude::*;

/// One row per code: its name for programs, its HTTP status, its title for people in both languages.
macro_rules! codes {
    ($(#[doc = $doc:literal] $code:ident = $name:tt, $status:ident, $english:literal, $chinese:literal;)+) => {
        /// What went wrong, for programs.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
        pub enum Code { $(#[doc = $doc] #[serde(rename = $name)] $code,)+ }

        impl Code {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$code),+];

            /// What it means, in a sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$code => $doc.trim_ascii(),)+ }
            }

            /// Status and reference.
            pub(super) fn about(self) -> (StatusCode, &'static str) {
                match self {
                    $(Self::$code => (StatusCode::$status, concat!("/problems/", $name)),)+
                }
            }

            /// The title for people.
            pub(super) fn title(self, lang: Lang) -> &'static str {
                match self { $(Self::$code => lang.pick($english, $chinese),)+ }
            }

            /// The stable name.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$code => $name,)+ }
            }
        }
    };
}

codes! {
    /// The body is not JSON.
    MalformedJson = "malformed_json", BAD_REQUEST, "Malformed JSON", "JSON 格式错误";
    /// The request itself cannot be read.
    BadRequest = "bad_request", BAD_REQUEST, "Bad request", "请求有误";
    /// A field of the body is missing, unknown or of the wrong type.
    InvalidBody = "invalid_body", UNPROCESSABLE_ENTITY, "Invalid body", "请求体无效";
    /// A time is not an instant that Almanack can store.
    InvalidTime = "invalid_time", UNPROCESSABLE_ENTITY, "Invalid time", "时间无效";
    /// A value is out of range or malformed.
    InvalidValue = "invalid_value", UNPROCESSABLE_ENTITY, "Invalid value", "值无效";
    /// A query parameter is unknown or invalid.
    InvalidQuery = "invalid_query", UNPROCESSABLE_ENTITY, "Invalid query parameter", "查询参数无效";
    /// The event is not supported.
    InvalidEvent = "invalid_event", UNPROCESSABLE_ENTITY, "Invalid event", "事件无效";
    /// One or more items of an all-or-nothing call are invalid.
    InvalidItems = "invalid_items", UNPROCESSABLE_ENTITY, "Invalid items", "有无效的条目";
    /// `Idempotency-Key` is not 1 to 200 visible ASCII characters.
    InvalidIdempotencyKey = "invalid_idempotency_key", UNPROCESSABLE_ENTITY, "Invalid Idempotency-Key", "Idempotency-Key 无效";
    /// The same `Idempotency-Key` came with a different request.
    IdempotencyKeyReused = "idempotency_key_reused", UNPROCESSABLE_ENTITY, "Idempotency-Key reused", "Idempotency-Key 重复使用";
    /// This call does not accept an `Idempotency-Key`.
    IdempotencyKeyUnsupported = "idempotency_key_unsupported", UNPROCESSABLE_ENTITY, "Idempotency-Key not supported here", "此处不支持 Idempotency-Key";
    /// The expression of a schedule is invalid, or names no instant.
    InvalidExpression = "invalid_expression", UNPROCESSABLE_ENTITY, "Invalid expression", "表达式无效";
    /// No callback is configured for this kind.
    UnknownKind = "unknown_kind", UNPROCESSABLE_ENTITY, "Unknown kind", "未知的类型";
    /// Too many kinds have waiting tasks.
    TooManyKinds = "too_many_kinds", UNPROCESSABLE_ENTITY, "Too many kinds", "类型过多";
    /// Too many items in one call.
    TooManyItems = "too_many_items", PAYLOAD_TOO_LARGE, "Too many items", "条目过多";
    /// No valid token was sent.
    Unauthenticated = "unauthenticated", UNAUTHORIZED, "Token required", "需要令牌";
    /// The token's scope does not allow this.
    ScopeTooSmall = "scope_too_small", FORBIDDEN, "Insufficient scope", "权限不足";
    /// The request comes from a web page of another origin.
    ForeignOrigin = "foreign_origin", FORBIDDEN, "Foreign origin", "来自其他源的请求";
    /// The request is for another host.
    UnknownHost = "unknown_host", MISDIRECTED_REQUEST, "Unknown host", "未知的主机";
    /// No task has this identity.
    NoSuchTask = "no_such_task", NOT_FOUND, "No such task", "没有此任务";
    /// No configuration and no task has this kind.
    NoSuchKind = "no_such_kind", NOT_FOUND, "No such kind", "没有此类型";
    /// No decision has this receipt.
    NoSuchReceipt = "no_such_receipt", NOT_FOUND, "No such receipt", "没有此回执";
    /// No request in the inbox has this number, or there is no inbox.
    NoSuchRequest = "no_such_request", NOT_FOUND, "No such request", "没有此请求";
    /// No bulk change has this number.
    NoSuchBulk = "no_such_bulk", NOT_FOUND, "No such bulk change", "没有此批量更改";
    /// No subscriber has this number or address.
    NoSuchSubscriber = "no_such_subscriber", NOT_FOUND, "No such subscriber", "没有此订阅者";
    /// The bulk change has ended.
    BulkEnded = "bulk_ended", CONFLICT, "Bulk change ended", "批量更改已结束";
    /// No schedule has this name.
    NoSuchSchedule = "no_such_schedule", NOT_FOUND, "No such schedule", "没有此日程";
    /// No firing has this number or this time, or none with it expects a report.
    NoSuchFiring = "no_such_firing", NOT_FOUND, "No such firing", "没有此触发";
    /// The firing has ended; reports about it are refused.
    FiringEnded = "firing_ended", CONFLICT, "Firing ended", "触发已结束";
    /// No monitor has this name, ping address or badge.
    NoSuchMonitor = "no_such_monitor", NOT_FOUND, "No such monitor", "没有此监视";
    /// No calendar has this name.
    NoSuchCalendar = "no_such_calendar", NOT_FOUND, "No such calendar", "没有此日历";
    /// The calendar is managed by the configuration file.
    ManagedCalendar = "managed_calendar", CONFLICT, "Calendar managed by a file", "日历由文件管理";
    /// A schedule uses the calendar.
    CalendarInUse = "calendar_in_use", CONFLICT, "Calendar in use", "日历正在使用";
    /// No source has this number.
    NoSuchSource = "no_such_source", NOT_FOUND, "No such source", "没有此信源";
    /// No subscription at a hub has this callback.
    NotSubscribed = "not_subscribed", GONE, "Not subscribed", "未订阅";
    /// No entry has this number.
    NoSuchEntry = "no_such_entry", NOT_FOUND, "No such entry", "没有此条目";
    /// There is no edition for this day.
    NoSuchEdition = "no_such_edition", NOT_FOUND, "No such edition", "没有此日报";
    /// The edition has no such document.
    NoSuchDocument = "no_such_document", NOT_FOUND, "No such document", "没有此文档";
    /// This node is not configured for it.
    NotConfigured = "not_configured", NOT_FOUND, "Not configured", "未配置";
    /// Another source already has this address.
    AddressTaken = "address_taken", CONFLICT, "Address taken", "地址已被使用";
    /// The source is paused or has ended; resume it first.
    SourceNotActive = "source_not_active", CONFLICT, "Source not active", "信源未启用";
    /// The source is managed by the configuration file.
    ManagedSource = "managed_source", CONFLICT, "Source managed by a file", "信源由文件管理";
    /// An external address could not be read.
    Unreachable = "unreachable", BAD_GATEWAY, "Unreachable", "无法访问";
    /// The address has no feed and links to none.
    NotAFeed = "not_a_feed", UNPROCESSABLE_ENTITY, "Not a feed", "不是订阅源";
    /// No valid token has this name.
    NoSuchToken = "no_such_token", NOT_FOUND, "No such token", "没有此令牌";
    /// No user has this name.
    NoSuchUser = "no_such_user", NOT_FOUND, "No such user", "没有此用户";
    /// A token or a user has or had this name.
    NameTaken = "name_taken", CONFLICT, "Name taken", "名称已被使用";
    /// Nothing starts at this second, or nothing of it can be spread.
    NothingToSpread = "nothing_to_spread", CONFLICT, "Nothing to spread", "没有可分散的内容";
    /// The schedule is managed by a file.
    ManagedSchedule = "managed_schedule", CONFLICT, "Schedule managed by a file", "日程由文件管理";
    /// The schedule is not at the expected revision.
    RevisionMismatch = "revision_mismatch", PRECONDITION_FAILED, "Revision mismatch", "修订不符";
    /// The latest firing of the schedule has not ended.
    StillRunning = "still_running", CONFLICT, "Still running", "仍在运行";
    /// The schedule or edition is not in a state that allows this.
    WrongState = "wrong_state", CONFLICT, "Wrong state", "状态不符";
    /// The signature is wrong.
    BadSignature = "bad_signature", UNAUTHORIZED, "Bad signature", "签名错误";
    /// A call with this id was already received.
    AlreadyReceived = "already_received", CONFLICT, "Already received", "已经收到";
    /// Too many ticks at once, or in a short time.
    TooManyTicks = "too_many_ticks", TOO_MANY_REQUESTS, "Too many ticks", "tick 过于频繁";
    /// Workers do not take tasks of this kind.
    NotPulled = "not_pulled", CONFLICT, "Kind not pulled", "不是领取型";
    /// Too many workers wait on this node.
    TooManyWaiting = "too_many_waiting", TOO_MANY_REQUESTS, "Too many workers wait", "等待的工作者过多";
    /// Too many pings of one monitor in a minute.
    TooManyPings = "too_many_pings", TOO_MANY_REQUESTS, "Too many pings", "通知过于频繁";
    /// Too many editions are built at once on request.
    TooManyRuns = "too_many_runs", TOO_MANY_REQUESTS, "Too many editions at once", "同时生成的日报过多";
    /// An edition could not be built; the edition stores the reason.
    EditionFailed = "edition_failed", INTERNAL_SERVER_ERROR, "Edition failed", "日报生成失败";
    /// The template of editions cannot be rendered.
    BadTemplate = "bad_template", INTERNAL_SERVER_ERROR, "Template cannot be rendered", "无法渲染模板";
    /// There is no such path.
    NoSuchPath = "no_such_path", NOT_FOUND, "No such path", "没有此路径";
    /// The path does not support this method.
    MethodNotAllowed = "method_not_allowed", METHOD_NOT_ALLOWED, "Method not allowed", "不支持此方法";
    /// Concurrent changes of the same task prevented this one.
    Contended = "contended", CONFLICT, "Contended", "并发冲突";
    /// The body is over the limit.
    BodyTooLarge = "body_too_large", PAYLOAD_TOO_LARGE, "Body too large", "请求体过大";
    /// The content type is not supported here.
    UnsupportedMediaType = "unsupported_media_type", UNSUPPORTED_MEDIA_TYPE, "Unsupported media type", "不支持的媒体类型";
    /// Too many concurrent reads on this node.
    Busy = "busy", SERVICE_UNAVAILABLE, "Too many concurrent reads", "并发读取过多";
    /// The database does not answer.
    DatabaseUnavailable = "database_unavailable", SERVICE_UNAVAILABLE, "Database unavailable", "数据库无响应";
    /// The database refuses writes.
    DatabaseUnwritable = "database_unwritable", SERVICE_UNAVAILABLE, "Database cannot be written", "数据库无法写入";
    /// The node is stopping.
    ShuttingDown = "shutting_down", SERVICE_UNAVAILABLE, "Shutting down", "正在停止";
    /// The request timed out.
    TimedOut = "timed_out", GATEWAY_TIMEOUT, "Timed out", "超时";
    /// A bug, or a database this version does not understand.
    Internal = "internal", INTERNAL_SERVER_ERROR, "Internal error", "内部错误";
}

impl Code {
    pub fn status(self) -> StatusCode {
        self.about().0
    }
}
