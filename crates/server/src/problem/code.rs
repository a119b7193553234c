//! The stable names of what can go wrong. A name never changes its meaning or its status; a new
//! failure gets a new name.

use crate::prelude::*;

/// One row per code: its name for programs, the status it is answered with, its title for people.
macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident = $name:literal, $status:ident, $title:literal;)+) => {
        /// What went wrong, for programs.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
        pub enum Code { $($(#[$doc])* #[serde(rename = $name)] $code,)+ }

        impl Code {
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
    /// A time is not an instant Almanack can keep.
    InvalidTime = "invalid_time", UNPROCESSABLE_ENTITY, "Invalid time";
    /// A value breaks its rule.
    InvalidValue = "invalid_value", UNPROCESSABLE_ENTITY, "Invalid value";
    /// A query parameter is unknown or breaks its rule.
    InvalidQuery = "invalid_query", UNPROCESSABLE_ENTITY, "Invalid query parameter";
    /// The event is not one Almanack understands.
    InvalidEvent = "invalid_event", UNPROCESSABLE_ENTITY, "Invalid event";
    /// One or more items of an all-or-nothing call are invalid.
    InvalidItems = "invalid_items", UNPROCESSABLE_ENTITY, "Invalid items";
    /// `Idempotency-Key` is not 1 to 200 visible ASCII characters.
    InvalidIdempotencyKey = "invalid_idempotency_key", UNPROCESSABLE_ENTITY, "Invalid Idempotency-Key";
    /// The same `Idempotency-Key` came with a different request.
    IdempotencyKeyReused = "idempotency_key_reused", UNPROCESSABLE_ENTITY, "Idempotency-Key reused";
    /// This call takes no `Idempotency-Key`.
    IdempotencyKeyUnsupported = "idempotency_key_unsupported", UNPROCESSABLE_ENTITY, "Idempotency-Key not supported here";
    /// The expression of a schedule does not read, or names no instant.
    InvalidExpression = "invalid_expression", UNPROCESSABLE_ENTITY, "Invalid expression";
    /// Nobody would know where to call for this kind.
    UnknownKind = "unknown_kind", UNPROCESSABLE_ENTITY, "Unknown kind";
    /// Tasks of too many kinds wait already.
    TooManyKinds = "too_many_kinds", UNPROCESSABLE_ENTITY, "Too many kinds";
    /// Too many items in one call.
    TooManyItems = "too_many_items", PAYLOAD_TOO_LARGE, "Too many items";
    /// No valid token was shown.
    Unauthenticated = "unauthenticated", UNAUTHORIZED, "Token needed";
    /// The token does not allow this.
    ScopeTooSmall = "scope_too_small", FORBIDDEN, "Token does not allow this";
    /// A web page of another origin asked.
    ForeignOrigin = "foreign_origin", FORBIDDEN, "Foreign origin";
    /// The request was meant for another host.
    UnknownHost = "unknown_host", MISDIRECTED_REQUEST, "Unknown host";
    /// No task has this identity.
    NoSuchTask = "no_such_task", NOT_FOUND, "No such task";
    /// No decision has this receipt.
    NoSuchReceipt = "no_such_receipt", NOT_FOUND, "No such receipt";
    /// No schedule has this name.
    NoSuchSchedule = "no_such_schedule", NOT_FOUND, "No such schedule";
    /// No source has this number.
    NoSuchSource = "no_such_source", NOT_FOUND, "No such source";
    /// There is no edition of this day.
    NoSuchEdition = "no_such_edition", NOT_FOUND, "No such edition";
    /// The edition has no such document.
    NoSuchDocument = "no_such_document", NOT_FOUND, "No such document";
    /// This node is not configured for it.
    NotConfigured = "not_configured", NOT_FOUND, "Not configured";
    /// Another source is looked at there.
    AddressTaken = "address_taken", CONFLICT, "Address taken";
    /// An address of the outside could not be read.
    Unreachable = "unreachable", BAD_GATEWAY, "Unreachable";
    /// What is at an address is no feed, and names none.
    NotAFeed = "not_a_feed", UNPROCESSABLE_ENTITY, "Not a feed";
    /// No token that works has this name.
    NoSuchToken = "no_such_token", NOT_FOUND, "No such token";
    /// No user has this name.
    NoSuchUser = "no_such_user", NOT_FOUND, "No such user";
    /// A token or a user has this name, or had it once.
    NameTaken = "name_taken", CONFLICT, "Name taken";
    /// The schedule belongs to a file.
    ManagedSchedule = "managed_schedule", CONFLICT, "Schedule belongs to a file";
    /// The schedule is not at the revision that was seen.
    RevisionMismatch = "revision_mismatch", PRECONDITION_FAILED, "Another revision";
    /// The newest firing of the schedule has not ended.
    StillRunning = "still_running", CONFLICT, "Still running";
    /// The schedule or edition is in no state for this.
    WrongState = "wrong_state", CONFLICT, "Wrong state";
    /// A signature was shown, and it does not fit.
    BadSignature = "bad_signature", UNAUTHORIZED, "Bad signature";
    /// A call of this id was received before.
    AlreadyReceived = "already_received", CONFLICT, "Already received";
    /// More ticks at once, or in a short time, than a node takes.
    TooManyTicks = "too_many_ticks", TOO_MANY_REQUESTS, "Too many ticks";
    /// More editions at once than a node builds on request.
    TooManyRuns = "too_many_runs", TOO_MANY_REQUESTS, "Too many editions at once";
    /// An edition could not be built; it keeps why.
    EditionFailed = "edition_failed", INTERNAL_SERVER_ERROR, "Edition failed";
    /// The template of editions cannot be printed.
    BadTemplate = "bad_template", INTERNAL_SERVER_ERROR, "Template cannot be printed";
    /// Nothing is at this path.
    NoSuchPath = "no_such_path", NOT_FOUND, "No such path";
    /// The path does not take this method.
    MethodNotAllowed = "method_not_allowed", METHOD_NOT_ALLOWED, "Method not allowed";
    /// Others change the same task faster than this could be decided.
    Contended = "contended", CONFLICT, "Contended";
    /// The body is over the limit.
    BodyTooLarge = "body_too_large", PAYLOAD_TOO_LARGE, "Body too large";
    /// The content type is not understood here.
    UnsupportedMediaType = "unsupported_media_type", UNSUPPORTED_MEDIA_TYPE, "Unsupported media type";
    /// More read at once than this node takes.
    Busy = "busy", SERVICE_UNAVAILABLE, "Too many readers";
    /// The database does not answer.
    DatabaseUnavailable = "database_unavailable", SERVICE_UNAVAILABLE, "Database unavailable";
    /// The database refuses to write.
    DatabaseUnwritable = "database_unwritable", SERVICE_UNAVAILABLE, "Database cannot be written";
    /// The node was told to stop.
    ShuttingDown = "shutting_down", SERVICE_UNAVAILABLE, "Shutting down";
    /// The answer took too long.
    TimedOut = "timed_out", GATEWAY_TIMEOUT, "Timed out";
    /// A bug, or a database this version does not understand.
    Internal = "internal", INTERNAL_SERVER_ERROR, "Internal error";
}

impl Code {
    /// The status it is answered with.
    pub fn status(self) -> StatusCode {
        self.about().0
    }
}
