//! The stable error codes. A code never changes its meaning or its status; a new failure gets a new
//! code.

use crate::prelude::*;

/// One row per code: its name for programs, its HTTP status, its title for people.
macro_rules! codes {
    ($(#[doc = $doc:literal] $code:ident = $name:tt, $status:ident, $title:literal;)+) => {
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

            /// Status, reference and title.
            pub(super) fn about(self) -> (StatusCode, &'static str, &'static str) {
                match self {
                    $(Self::$code => {
                        (StatusCode::$status, concat!("/problems/", $name), $title)
                    })+
                }
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
    MalformedJson = "malformed_json", BAD_REQUEST, "Malformed JSON";
    /// The request itself cannot be read.
    BadRequest = "bad_request", BAD_REQUEST, "Bad request";
    /// A field of the body is missing, unknown or of the wrong type.
    InvalidBody = "invalid_body", UNPROCESSABLE_ENTITY, "Invalid body";
    /// A time is not an instant that Almanack can store.
    InvalidTime = "invalid_time", UNPROCESSABLE_ENTITY, "Invalid time";
    /// A value is out of range or malformed.
    InvalidValue = "invalid_value", UNPROCESSABLE_ENTITY, "Invalid value";
    /// A query parameter is unknown or invalid.
    InvalidQuery = "invalid_query", UNPROCESSABLE_ENTITY, "Invalid query parameter";
    /// The event is not supported.
    InvalidEvent = "invalid_event", UNPROCESSABLE_ENTITY, "Invalid event";
    /// One or more items of an all-or-nothing call are invalid.
    InvalidItems = "invalid_items", UNPROCESSABLE_ENTITY, "Invalid items";
    /// `Idempotency-Key` is not 1 to 200 visible ASCII characters.
    InvalidIdempotencyKey = "invalid_idempotency_key", UNPROCESSABLE_ENTITY, "Invalid Idempotency-Key";
    /// The same `Idempotency-Key` came with a different request.
    IdempotencyKeyReused = "idempotency_key_reused", UNPROCESSABLE_ENTITY, "Idempotency-Key reused";
    /// This call does not accept an `Idempotency-Key`.
    IdempotencyKeyUnsupported = "idempotency_key_unsupported", UNPROCESSABLE_ENTITY, "Idempotency-Key not supported here";
    /// The expression of a schedule is invalid, or names no instant.
    InvalidExpression = "invalid_expression", UNPROCESSABLE_ENTITY, "Invalid expression";
    /// No callback is configured for this kind.
    UnknownKind = "unknown_kind", UNPROCESSABLE_ENTITY, "Unknown kind";
    /// Too many kinds have waiting tasks.
    TooManyKinds = "too_many_kinds", UNPROCESSABLE_ENTITY, "Too many kinds";
    /// Too many items in one call.
    TooManyItems = "too_many_items", PAYLOAD_TOO_LARGE, "Too many items";
    /// No valid token was sent.
    Unauthenticated = "unauthenticated", UNAUTHORIZED, "Token required";
    /// The token's scope does not allow this.
    ScopeTooSmall = "scope_too_small", FORBIDDEN, "Insufficient scope";
    /// The request comes from a web page of another origin.
    ForeignOrigin = "foreign_origin", FORBIDDEN, "Foreign origin";
    /// The request is for another host.
    UnknownHost = "unknown_host", MISDIRECTED_REQUEST, "Unknown host";
    /// No task has this identity.
    NoSuchTask = "no_such_task", NOT_FOUND, "No such task";
    /// No configuration and no task has this kind.
    NoSuchKind = "no_such_kind", NOT_FOUND, "No such kind";
    /// No decision has this receipt.
    NoSuchReceipt = "no_such_receipt", NOT_FOUND, "No such receipt";
    /// No request in the inbox has this number, or there is no inbox.
    NoSuchRequest = "no_such_request", NOT_FOUND, "No such request";
    /// No bulk change has this number.
    NoSuchBulk = "no_such_bulk", NOT_FOUND, "No such bulk change";
    /// No subscriber has this number or address.
    NoSuchSubscriber = "no_such_subscriber", NOT_FOUND, "No such subscriber";
    /// The bulk change has ended.
    BulkEnded = "bulk_ended", CONFLICT, "Bulk change ended";
    /// No schedule has this name.
    NoSuchSchedule = "no_such_schedule", NOT_FOUND, "No such schedule";
    /// No firing has this number or this time, or none with it expects a report.
    NoSuchFiring = "no_such_firing", NOT_FOUND, "No such firing";
    /// The firing has ended; reports about it are refused.
    FiringEnded = "firing_ended", CONFLICT, "Firing ended";
    /// No monitor has this name, ping address or badge.
    NoSuchMonitor = "no_such_monitor", NOT_FOUND, "No such monitor";
    /// No calendar has this name.
    NoSuchCalendar = "no_such_calendar", NOT_FOUND, "No such calendar";
    /// The calendar is managed by the configuration file.
    ManagedCalendar = "managed_calendar", CONFLICT, "Calendar managed by a file";
    /// A schedule uses the calendar.
    CalendarInUse = "calendar_in_use", CONFLICT, "Calendar in use";
    /// No source has this number.
    NoSuchSource = "no_such_source", NOT_FOUND, "No such source";
    /// No subscription at a hub has this callback.
    NotSubscribed = "not_subscribed", GONE, "Not subscribed";
    /// No entry has this number.
    NoSuchEntry = "no_such_entry", NOT_FOUND, "No such entry";
    /// There is no edition for this day.
    NoSuchEdition = "no_such_edition", NOT_FOUND, "No such edition";
    /// The edition has no such document.
    NoSuchDocument = "no_such_document", NOT_FOUND, "No such document";
    /// This node is not configured for it.
    NotConfigured = "not_configured", NOT_FOUND, "Not configured";
    /// Another source already has this address.
    AddressTaken = "address_taken", CONFLICT, "Address taken";
    /// The source is paused or has ended; resume it first.
    SourceNotActive = "source_not_active", CONFLICT, "Source not active";
    /// The source is managed by the configuration file.
    ManagedSource = "managed_source", CONFLICT, "Source managed by a file";
    /// An external address could not be read.
    Unreachable = "unreachable", BAD_GATEWAY, "Unreachable";
    /// The address has no feed and links to none.
    NotAFeed = "not_a_feed", UNPROCESSABLE_ENTITY, "Not a feed";
    /// No valid token has this name.
    NoSuchToken = "no_such_token", NOT_FOUND, "No such token";
    /// No user has this name.
    NoSuchUser = "no_such_user", NOT_FOUND, "No such user";
    /// A token or a user has or had this name.
    NameTaken = "name_taken", CONFLICT, "Name taken";
    /// Nothing starts at this second, or nothing of it can be spread.
    NothingToSpread = "nothing_to_spread", CONFLICT, "Nothing to spread";
    /// The schedule is managed by a file.
    ManagedSchedule = "managed_schedule", CONFLICT, "Schedule managed by a file";
    /// The schedule is not at the expected revision.
    RevisionMismatch = "revision_mismatch", PRECONDITION_FAILED, "Revision mismatch";
    /// The latest firing of the schedule has not ended.
    StillRunning = "still_running", CONFLICT, "Still running";
    /// The schedule or edition is not in a state that allows this.
    WrongState = "wrong_state", CONFLICT, "Wrong state";
    /// The signature is wrong.
    BadSignature = "bad_signature", UNAUTHORIZED, "Bad signature";
    /// A call with this id was already received.
    AlreadyReceived = "already_received", CONFLICT, "Already received";
    /// Too many ticks at once, or in a short time.
    TooManyTicks = "too_many_ticks", TOO_MANY_REQUESTS, "Too many ticks";
    /// Workers do not take tasks of this kind.
    NotPulled = "not_pulled", CONFLICT, "Kind not pulled";
    /// Too many workers wait on this node.
    TooManyWaiting = "too_many_waiting", TOO_MANY_REQUESTS, "Too many workers wait";
    /// Too many pings of one monitor in a minute.
    TooManyPings = "too_many_pings", TOO_MANY_REQUESTS, "Too many pings";
    /// Too many editions are built at once on request.
    TooManyRuns = "too_many_runs", TOO_MANY_REQUESTS, "Too many editions at once";
    /// An edition could not be built; the edition stores the reason.
    EditionFailed = "edition_failed", INTERNAL_SERVER_ERROR, "Edition failed";
    /// The template of editions cannot be rendered.
    BadTemplate = "bad_template", INTERNAL_SERVER_ERROR, "Template cannot be rendered";
    /// There is no such path.
    NoSuchPath = "no_such_path", NOT_FOUND, "No such path";
    /// The path does not support this method.
    MethodNotAllowed = "method_not_allowed", METHOD_NOT_ALLOWED, "Method not allowed";
    /// Concurrent changes of the same task prevented this one.
    Contended = "contended", CONFLICT, "Contended";
    /// The body is over the limit.
    BodyTooLarge = "body_too_large", PAYLOAD_TOO_LARGE, "Body too large";
    /// The content type is not supported here.
    UnsupportedMediaType = "unsupported_media_type", UNSUPPORTED_MEDIA_TYPE, "Unsupported media type";
    /// Too many concurrent reads on this node.
    Busy = "busy", SERVICE_UNAVAILABLE, "Too many concurrent reads";
    /// The database does not answer.
    DatabaseUnavailable = "database_unavailable", SERVICE_UNAVAILABLE, "Database unavailable";
    /// The database refuses writes.
    DatabaseUnwritable = "database_unwritable", SERVICE_UNAVAILABLE, "Database cannot be written";
    /// The node is stopping.
    ShuttingDown = "shutting_down", SERVICE_UNAVAILABLE, "Shutting down";
    /// The request timed out.
    TimedOut = "timed_out", GATEWAY_TIMEOUT, "Timed out";
    /// A bug, or a database this version does not understand.
    Internal = "internal", INTERNAL_SERVER_ERROR, "Internal error";
}

impl Code {
    pub fn status(self) -> StatusCode {
        self.about().0
    }
}
