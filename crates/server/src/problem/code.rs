//! The stable error codes. A code never changes its meaning or its status; a new failure gets a new
//! code. What the page of a code says ([`crate::ui::problems`]) is here, too.

use almanack_core::lang::Lang;

use crate::prelude::*;

/// One row per code: its name for programs, its HTTP status, the page of the guide; its title and
/// its meaning for people, and what they can do, in both languages. The meaning in English is the
/// comment.
macro_rules! codes {
    ($(#[doc = $doc:literal] $code:ident = $name:tt, $status:ident, $guide:literal,
        $title:literal, $title_zh:literal, $meaning_zh:literal, $advice:literal, $advice_zh:literal;)+) => {
        /// What went wrong, for programs.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
        pub enum Code { $(#[doc = $doc] #[serde(rename = $name)] $code,)+ }

        impl Code {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$code),+];

            /// What it means, in a sentence.
            pub fn meaning(self, lang: Lang) -> &'static str {
                match self { $(Self::$code => lang.pick($doc.trim_ascii(), $meaning_zh),)+ }
            }

            /// What to do about it.
            pub(crate) fn advice(self, lang: Lang) -> &'static str {
                match self { $(Self::$code => lang.pick($advice, $advice_zh),)+ }
            }

            /// The page of the guide about it.
            pub fn guide(self) -> &'static str {
                match self { $(Self::$code => concat!("docs/guide/", $guide, ".md"),)+ }
            }

            /// Status and reference.
            pub(super) fn about(self) -> (StatusCode, &'static str) {
                match self {
                    $(Self::$code => (StatusCode::$status, concat!("/problems/", $name)),)+
                }
            }

            /// The title for people.
            pub(crate) fn title(self, lang: Lang) -> &'static str {
                match self { $(Self::$code => lang.pick($title, $title_zh),)+ }
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
    MalformedJson = "malformed_json", BAD_REQUEST, "http-api",
        "Malformed JSON", "JSON 格式错误", "请求体不是 JSON。",
        "Check quotes, commas and brackets at the place that `detail` names.", "请检查 `detail` 所指位置的引号、逗号和括号。";
    /// The request itself cannot be read.
    BadRequest = "bad_request", BAD_REQUEST, "http-api",
        "Bad request", "请求有误", "请求本身无法读取。",
        "Check the request line, the headers and the encoding of the path.", "请检查请求行、请求头和路径的编码。";
    /// A field of the body is missing, unknown or of the wrong type.
    InvalidBody = "invalid_body", UNPROCESSABLE_ENTITY, "http-api",
        "Invalid body", "请求体无效", "请求体中有字段缺失、未知或类型不符。",
        "Correct the field that `path` names; the API reference lists all fields.", "请更正 `path` 所指的字段；API 参考列出了全部字段。";
    /// A time is not an instant that Almanack can store.
    InvalidTime = "invalid_time", UNPROCESSABLE_ENTITY, "http-api",
        "Invalid time", "时间无效", "时间不是 Almanack 能保存的时刻。",
        "Send an instant with its offset, such as 2026-03-01T08:00:00+01:00.", "请发送带时差的时刻，例如 2026-03-01T08:00:00+01:00。";
    /// A value is out of range or malformed.
    InvalidValue = "invalid_value", UNPROCESSABLE_ENTITY, "http-api",
        "Invalid value", "值无效", "值超出范围或格式错误。",
        "Correct the value that `path` names; `detail` says what is allowed.", "请更正 `path` 所指的值；`detail` 说明了允许的内容。";
    /// A query parameter is unknown or invalid.
    InvalidQuery = "invalid_query", UNPROCESSABLE_ENTITY, "http-api",
        "Invalid query parameter", "查询参数无效", "查询参数未知或无效。",
        "Correct the parameter that `detail` names; the API reference lists all parameters.", "请更正 `detail` 所指的参数；API 参考列出了全部参数。";
    /// The event is not supported.
    InvalidEvent = "invalid_event", UNPROCESSABLE_ENTITY, "events",
        "Invalid event", "事件无效", "不支持此事件。",
        "Send a CloudEvent of a type that the guide lists.", "请发送指南所列类型的 CloudEvent。";
    /// One or more items of an all-or-nothing call are invalid.
    InvalidItems = "invalid_items", UNPROCESSABLE_ENTITY, "http-api",
        "Invalid items", "有无效的条目", "要么全做、要么全不做的调用中有无效的条目。",
        "Correct the items in `errors` and send all of them again.", "请更正 `errors` 中的条目，并重新发送全部条目。";
    /// `Idempotency-Key` is not 1 to 200 visible ASCII characters.
    InvalidIdempotencyKey = "invalid_idempotency_key", UNPROCESSABLE_ENTITY, "http-api",
        "Invalid Idempotency-Key", "Idempotency-Key 无效", "`Idempotency-Key` 不是 1 到 200 个可见的 ASCII 字符。",
        "Send a shorter or plainer key, such as a UUID.", "请使用更短或更简单的键，例如 UUID。";
    /// The same `Idempotency-Key` came with a different request.
    IdempotencyKeyReused = "idempotency_key_reused", UNPROCESSABLE_ENTITY, "http-api",
        "Idempotency-Key reused", "Idempotency-Key 重复使用", "同一个 `Idempotency-Key` 用于了另一个请求。",
        "Use a new key for a new request; repeat the old request unchanged.", "新请求请使用新的键；重复旧请求时不要改动它。";
    /// This call does not accept an `Idempotency-Key`.
    IdempotencyKeyUnsupported = "idempotency_key_unsupported", UNPROCESSABLE_ENTITY, "http-api",
        "Idempotency-Key not supported here", "此处不支持 Idempotency-Key", "此调用不接受 `Idempotency-Key`。",
        "Leave the header out.", "请去掉该请求头。";
    /// The expression of a schedule is invalid, or names no instant.
    InvalidExpression = "invalid_expression", UNPROCESSABLE_ENTITY, "schedules",
        "Invalid expression", "表达式无效", "日程的表达式无效，或没有对应的时刻。",
        "Follow `expression.hint`, or try the expression on the page of schedules.", "请按 `expression.hint` 修改，或在日程页面上试用表达式。";
    /// No callback is configured for this kind.
    UnknownKind = "unknown_kind", UNPROCESSABLE_ENTITY, "callbacks",
        "Unknown kind", "未知的类型", "此类型没有配置回调。",
        "Configure the kind with its url, or send a callback with the task.", "请为此类型配置 url，或随任务发送回调。";
    /// Too many kinds have waiting tasks.
    TooManyKinds = "too_many_kinds", UNPROCESSABLE_ENTITY, "tasks",
        "Too many kinds", "类型过多", "有等待任务的类型过多。",
        "Use fewer kinds: what differs from task to task belongs into the subject or the payload.", "请减少类型：各任务的差异应放在主题或载荷中。";
    /// Too many items in one call.
    TooManyItems = "too_many_items", PAYLOAD_TOO_LARGE, "http-api",
        "Too many items", "条目过多", "一次调用的条目过多。",
        "Split the call.", "请分成多次调用。";
    /// No valid token was sent.
    Unauthenticated = "unauthenticated", UNAUTHORIZED, "signing-in",
        "Token required", "需要令牌", "没有发送有效的令牌。",
        "Send `Authorization: Bearer TOKEN`; `almanack token create` makes a token.", "请发送 `Authorization: Bearer TOKEN`；令牌用 `almanack token create` 创建。";
    /// The token's scope does not allow this.
    ScopeTooSmall = "scope_too_small", FORBIDDEN, "signing-in",
        "Insufficient scope", "权限不足", "令牌的权限不允许此操作。",
        "Use a token with the scope that `scope` names.", "请使用具有 `scope` 所示权限的令牌。";
    /// The request comes from a web page of another origin.
    ForeignOrigin = "foreign_origin", FORBIDDEN, "signing-in",
        "Foreign origin", "来自其他源的请求", "请求来自其他源的网页。",
        "Call from a program with a token, or from the dashboard itself.", "请由程序带令牌调用，或从控制台本身调用。";
    /// The request is for another host.
    UnknownHost = "unknown_host", MISDIRECTED_REQUEST, "signing-in",
        "Unknown host", "未知的主机", "请求是发给另一个主机的。",
        "Use the address of this node, or add the host to server.allowed_hosts.", "请使用本节点的地址，或把该主机加入 server.allowed_hosts。";
    /// No task has this identity.
    NoSuchTask = "no_such_task", NOT_FOUND, "tasks",
        "No such task", "没有此任务", "没有此标识的任务。",
        "Check subject and kind; search for the subject in the list of tasks.", "请检查主题和类型；可在任务列表中搜索主题。";
    /// No configuration and no task has this kind.
    NoSuchKind = "no_such_kind", NOT_FOUND, "pacing",
        "No such kind", "没有此类型", "没有配置也没有任务使用此类型。",
        "Check the spelling; `almanack kind list` lists all kinds.", "请检查拼写；`almanack kind list` 列出全部类型。";
    /// No decision has this receipt.
    NoSuchReceipt = "no_such_receipt", NOT_FOUND, "tasks",
        "No such receipt", "没有此回执", "没有决定使用此回执。",
        "Check the number; a task keeps its newest 1,000 decisions.", "请检查编号；每个任务保留最近 1,000 个决定。";
    /// No request in the inbox has this number, or there is no inbox.
    NoSuchRequest = "no_such_request", NOT_FOUND, "in-your-transaction",
        "No such request", "没有此请求", "收件箱中没有此编号的请求，或没有收件箱。",
        "Check the number; an inbox exists on PostgreSQL only.", "请检查编号；只有 PostgreSQL 上有收件箱。";
    /// No bulk change has this number.
    NoSuchBulk = "no_such_bulk", NOT_FOUND, "tasks",
        "No such bulk change", "没有此批量更改", "没有此编号的批量更改。",
        "`almanack task bulk list` lists all.", "`almanack task bulk list` 列出全部批量更改。";
    /// No subscriber has this number or address.
    NoSuchSubscriber = "no_such_subscriber", NOT_FOUND, "newsletter",
        "No such subscriber", "没有此订阅者", "没有此编号或地址的订阅者。",
        "`almanack edition subscriber list` lists all.", "`almanack edition subscriber list` 列出全部订阅者。";
    /// The bulk change has ended.
    BulkEnded = "bulk_ended", CONFLICT, "tasks",
        "Bulk change ended", "批量更改已结束", "批量更改已经结束。",
        "What it changed stays changed; start another one for the rest.", "已更改的内容保持不变；其余部分请另行更改。";
    /// No schedule has this name.
    NoSuchSchedule = "no_such_schedule", NOT_FOUND, "schedules",
        "No such schedule", "没有此日程", "没有此名称的日程。",
        "Check the name; `almanack schedule list` lists all.", "请检查名称；`almanack schedule list` 列出全部日程。";
    /// No firing has this number or this time, or none with it expects a report.
    NoSuchFiring = "no_such_firing", NOT_FOUND, "targets",
        "No such firing", "没有此触发", "没有此编号或时间的触发，或它不等待报告。",
        "`almanack schedule slots NAME` lists all firings.", "`almanack schedule slots NAME` 列出全部触发。";
    /// The firing has ended; reports about it are refused.
    FiringEnded = "firing_ended", CONFLICT, "targets",
        "Firing ended", "触发已结束", "触发已经结束；不再接受关于它的报告。",
        "Report before the firing ends, or give it more time in its policies.", "请在触发结束前报告，或在策略中给它更多时间。";
    /// No monitor has this name, ping address or badge.
    NoSuchMonitor = "no_such_monitor", NOT_FOUND, "monitors",
        "No such monitor", "没有此监控", "没有此名称、通知地址或徽章的监控。",
        "Check the name or the address; `almanack monitor list` lists all.", "请检查名称或地址；`almanack monitor list` 列出全部监控。";
    /// No calendar has this name.
    NoSuchCalendar = "no_such_calendar", NOT_FOUND, "calendars",
        "No such calendar", "没有此日历", "没有此名称的日历。",
        "Check the name; `almanack calendar list` lists all.", "请检查名称；`almanack calendar list` 列出全部日历。";
    /// The calendar is managed by the configuration file.
    ManagedCalendar = "managed_calendar", CONFLICT, "calendars",
        "Calendar managed by a file", "日历由文件管理", "日历由配置文件管理。",
        "Change or remove it under `[[calendar]]` in its file.", "请在其文件的 `[[calendar]]` 中修改或删除。";
    /// A schedule uses the calendar.
    CalendarInUse = "calendar_in_use", CONFLICT, "calendars",
        "Calendar in use", "日历正在使用", "有日程使用此日历。",
        "Take it out of the schedules that `detail` names first.", "请先从 `detail` 所列的日程中去掉它。";
    /// No source has this number.
    NoSuchSource = "no_such_source", NOT_FOUND, "sources",
        "No such source", "没有此信源", "没有此编号的信源。",
        "`almanack source list --containing TEXT` finds sources by name or address.", "`almanack source list --containing TEXT` 按名称或地址查找信源。";
    /// No subscription at a hub has this callback.
    NotSubscribed = "not_subscribed", GONE, "sources",
        "Not subscribed", "未订阅", "没有中心的订阅使用此回调地址。",
        "Nothing: the hub learns from this answer that it may stop.", "无需处理：中心由此应答得知可以停止。";
    /// No entry has this number.
    NoSuchEntry = "no_such_entry", NOT_FOUND, "sources",
        "No such entry", "没有此条目", "没有此编号的条目。",
        "`almanack source entries` lists entries with their numbers.", "`almanack source entries` 列出条目及其编号。";
    /// There is no edition for this day.
    NoSuchEdition = "no_such_edition", NOT_FOUND, "editions",
        "No such edition", "没有此日报", "这一天没有日报。",
        "`almanack edition list` lists all, `almanack edition run DATE` creates one.", "`almanack edition list` 列出全部日报，`almanack edition run DATE` 创建一份。";
    /// The edition has no such document.
    NoSuchDocument = "no_such_document", NOT_FOUND, "editions",
        "No such document", "没有此文档", "日报没有此文档。",
        "Wait until the edition is aggregated, or ask for a language that it has.", "请等到日报汇总完成，或请求它已有的语言。";
    /// This node is not configured for it.
    NotConfigured = "not_configured", NOT_FOUND, "operations",
        "Not configured", "未配置", "本节点没有为此配置。",
        "Set what `detail` names in the configuration, and restart the node.", "请在配置中设置 `detail` 所示的内容，并重启节点。";
    /// Another source already has this address, or another monitor this key.
    AddressTaken = "address_taken", CONFLICT, "http-api",
        "Address taken", "地址已被使用", "另一个信源已使用此地址，或另一个监控已使用此 key。",
        "Change the other one instead, or choose another address or key.", "请改为修改另一个，或改用其他地址或 key。";
    /// The source is paused or has ended; resume it first.
    SourceNotActive = "source_not_active", CONFLICT, "sources",
        "Source not active", "信源未启用", "信源已暂停或结束；请先恢复。",
        "Resume it: `almanack source resume SOURCE`.", "请恢复它：`almanack source resume SOURCE`。";
    /// The source is managed by the configuration file.
    ManagedSource = "managed_source", CONFLICT, "sources",
        "Source managed by a file", "信源由文件管理", "信源由配置文件管理。",
        "Change or remove it under `[[source]]` in its file.", "请在其文件的 `[[source]]` 中修改或删除。";
    /// An external address could not be read.
    Unreachable = "unreachable", BAD_GATEWAY, "outbound",
        "Unreachable", "无法访问", "无法读取外部地址。",
        "Open the address from the machine of the node; `detail` says what failed.", "请从节点所在机器访问该地址；`detail` 说明了失败之处。";
    /// The address has no feed and links to none.
    NotAFeed = "not_a_feed", UNPROCESSABLE_ENTITY, "sources",
        "Not a feed", "不是订阅源", "此地址没有订阅源，也没有指向订阅源的链接。",
        "Give the address of the feed, or read the page by rules.", "请提供订阅源的地址，或用规则读取网页。";
    /// No valid token has this name.
    NoSuchToken = "no_such_token", NOT_FOUND, "signing-in",
        "No such token", "没有此令牌", "没有此名称的有效令牌。",
        "`almanack token list` lists all.", "`almanack token list` 列出全部令牌。";
    /// No user has this name.
    NoSuchUser = "no_such_user", NOT_FOUND, "signing-in",
        "No such user", "没有此用户", "没有此名称的用户。",
        "`almanack user list` lists all.", "`almanack user list` 列出全部用户。";
    /// A token or a user has or had this name.
    NameTaken = "name_taken", CONFLICT, "signing-in",
        "Name taken", "名称已被使用", "已有或曾有令牌或用户使用此名称。",
        "Choose another name: the history still shows this one.", "请另选名称：历史记录中仍有此名称。";
    /// Nothing starts at this second, or nothing of it can be spread.
    NothingToSpread = "nothing_to_spread", CONFLICT, "radar",
        "Nothing to spread", "没有可分散的内容", "这一秒没有任务开始，或其中没有可分散的任务。",
        "Load the radar again; its proposals change with the tasks.", "请重新打开雷达；它的建议会随任务变化。";
    /// The schedule is managed by a file.
    ManagedSchedule = "managed_schedule", CONFLICT, "schedules",
        "Schedule managed by a file", "日程由文件管理", "日程由文件管理。",
        "Change or remove it in its file.", "请在其文件中修改或删除。";
    /// The schedule is not at the expected revision.
    RevisionMismatch = "revision_mismatch", PRECONDITION_FAILED, "schedules",
        "Revision mismatch", "修订不符", "日程不是预期的修订。",
        "Load the schedule again, compare, and repeat the change with its revision.", "请重新读取日程，比较后带上它的修订重复更改。";
    /// The latest firing of the schedule has not ended.
    StillRunning = "still_running", CONFLICT, "schedules",
        "Still running", "仍在运行", "日程最近一次触发还没有结束。",
        "Wait until it ends, or fire with `force`.", "请等待它结束，或用 `force` 触发。";
    /// The schedule or edition is not in a state that allows this.
    WrongState = "wrong_state", CONFLICT, "http-api",
        "Wrong state", "状态不符", "日程或日报的状态不允许此操作。",
        "Look at its state first; `detail` says which states allow this.", "请先查看其状态；`detail` 说明了哪些状态允许此操作。";
    /// The signature is wrong.
    BadSignature = "bad_signature", UNAUTHORIZED, "callbacks",
        "Bad signature", "签名错误", "签名错误。",
        "Sign the exact bytes of the body with the secret of this node, and check the clocks.", "请用本节点的密钥对请求体的原始字节签名，并检查时钟。";
    /// A call with this id was already received.
    AlreadyReceived = "already_received", CONFLICT, "outside-crons",
        "Already received", "已经收到", "已经收到过此编号的调用。",
        "Nothing: the first call counts. Use a new id for a new call.", "无需处理：以第一次调用为准。新的调用请使用新的编号。";
    /// Too many ticks at once, or in a short time.
    TooManyTicks = "too_many_ticks", TOO_MANY_REQUESTS, "outside-crons",
        "Too many ticks", "tick 过于频繁", "tick 同时过多或过于频繁。",
        "Try again after `Retry-After`; one tick in a minute is enough.", "请在 `Retry-After` 之后重试；每分钟一次 tick 就够了。";
    /// Workers do not take tasks of this kind.
    NotPulled = "not_pulled", CONFLICT, "workers",
        "Kind not pulled", "不是领取型", "工作者不领取此类型的任务。",
        "Set `deliver = \"pull\"` for the kind in the configuration, or ask for another kind.", "请在配置中为此类型设置 `deliver = \"pull\"`，或领取其他类型。";
    /// Too many workers wait on this node.
    TooManyWaiting = "too_many_waiting", TOO_MANY_REQUESTS, "workers",
        "Too many workers wait", "等待的工作者过多", "在本节点上等待的工作者过多。",
        "Try again after `Retry-After`, or use fewer workers per node.", "请在 `Retry-After` 之后重试，或减少每个节点的工作者。";
    /// Too many pings of one monitor in a minute.
    TooManyPings = "too_many_pings", TOO_MANY_REQUESTS, "monitors",
        "Too many pings", "通知过于频繁", "一分钟内对同一监控的通知过多。",
        "Ping once per run, not in a loop.", "请每次运行只通知一次，不要循环通知。";
    /// Too many editions are built at once on request.
    TooManyRuns = "too_many_runs", TOO_MANY_REQUESTS, "editions",
        "Too many editions at once", "同时生成的日报过多", "同时按请求生成的日报过多。",
        "Try again after `Retry-After`.", "请在 `Retry-After` 之后重试。";
    /// An edition could not be built; the edition stores the reason.
    EditionFailed = "edition_failed", INTERNAL_SERVER_ERROR, "editions",
        "Edition failed", "日报生成失败", "日报无法生成；原因保存在日报中。",
        "Open the edition; it shows what failed and how to retry.", "请打开日报；其中有失败原因和重试方法。";
    /// The template of editions cannot be rendered.
    BadTemplate = "bad_template", INTERNAL_SERVER_ERROR, "editions-template",
        "Template cannot be rendered", "无法渲染模板", "无法渲染日报的模板。",
        "Correct the template at the line that `detail` names.", "请在 `detail` 所指的行更正模板。";
    /// There is no such path.
    NoSuchPath = "no_such_path", NOT_FOUND, "http-api",
        "No such path", "没有此路径", "没有此路径。",
        "Check the path; /ui/api lists all operations.", "请检查路径；/ui/api 列出了全部操作。";
    /// The path does not support this method.
    MethodNotAllowed = "method_not_allowed", METHOD_NOT_ALLOWED, "http-api",
        "Method not allowed", "不支持此方法", "此路径不支持该方法。",
        "Use a method that the `Allow` header lists.", "请使用 `Allow` 头所列的方法。";
    /// Concurrent changes of the same task prevented this one.
    Contended = "contended", CONFLICT, "tasks",
        "Contended", "并发冲突", "对同一任务的并发更改妨碍了此更改。",
        "Try again; repeating the call is safe.", "请重试；重复调用是安全的。";
    /// The body is over the limit.
    BodyTooLarge = "body_too_large", PAYLOAD_TOO_LARGE, "http-api",
        "Body too large", "请求体过大", "请求体超过上限。",
        "Send fewer items per call.", "请减少每次调用的条目。";
    /// The content type is not supported here.
    UnsupportedMediaType = "unsupported_media_type", UNSUPPORTED_MEDIA_TYPE, "http-api",
        "Unsupported media type", "不支持的媒体类型", "此处不支持该内容类型。",
        "Send the `Content-Type` that `detail` names.", "请发送 `detail` 所示的 `Content-Type`。";
    /// Too many concurrent reads on this node.
    Busy = "busy", SERVICE_UNAVAILABLE, "operations",
        "Too many concurrent reads", "并发读取过多", "本节点上并发读取过多。",
        "Try again in a moment. Tasks and changes are not delayed.", "请稍后重试。任务和更改不受影响。";
    /// The database does not answer.
    DatabaseUnavailable = "database_unavailable", SERVICE_UNAVAILABLE, "operations",
        "Database unavailable", "数据库无响应", "数据库没有响应。",
        "Try again; repeating the call is safe. `almanack check` tests the connection.", "请重试；重复调用是安全的。`almanack check` 可检查连接。";
    /// The database refuses writes.
    DatabaseUnwritable = "database_unwritable", SERVICE_UNAVAILABLE, "operations",
        "Database cannot be written", "数据库无法写入", "数据库拒绝写入。",
        "Free space on its disk, or connect to a server that can be written to.", "请释放其磁盘空间，或连接到可写的服务器。";
    /// The node is stopping.
    ShuttingDown = "shutting_down", SERVICE_UNAVAILABLE, "operations",
        "Shutting down", "正在停止", "节点正在停止。",
        "Try again, or ask another node.", "请重试，或请求另一个节点。";
    /// The request timed out.
    TimedOut = "timed_out", GATEWAY_TIMEOUT, "operations",
        "Timed out", "超时", "请求超时。",
        "Try again; repeating the call is safe.", "请重试；重复调用是安全的。";
    /// A bug, or a database this version does not understand.
    Internal = "internal", INTERNAL_SERVER_ERROR, "operations",
        "Internal error", "内部错误", "程序缺陷，或本版本不理解的数据库。",
        "Look for the request id in the log of the node; it shows the cause.", "请在节点日志中查找请求编号；日志写有原因。";
}

impl Code {
    pub fn status(self) -> StatusCode {
        self.about().0
    }

    /// By its stable name.
    pub fn parse(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|code| code.as_str() == name)
    }

    /// The address of its page.
    pub(crate) fn page(self) -> &'static str {
        self.about().1
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_code_names_a_page_of_the_guide() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for code in Code::ALL {
            assert!(
                root.join(code.guide()).exists(),
                "{code:?}: {}",
                code.guide()
            );
            assert_eq!(Code::parse(code.as_str()), Some(*code));
        }
    }
}
