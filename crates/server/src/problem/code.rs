//! The stable names of what can go wrong. A name never changes its meaning or its status; a new
//! failure gets a new name.

use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

/// What went wrong, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The body is not JSON.
    MalformedJson,
    /// The request itself cannot be read.
    BadRequest,
    /// A field of the body is missing, unknown or of the wrong type.
    InvalidBody,
    /// A time is not an instant Almanack can keep.
    InvalidTime,
    /// A value breaks its rule.
    InvalidValue,
    /// A query parameter is unknown or breaks its rule.
    InvalidQuery,
    /// The event is not one Almanack understands.
    InvalidEvent,
    /// One or more items of an all-or-nothing call are invalid.
    InvalidItems,
    /// `Idempotency-Key` is not 1 to 200 visible ASCII characters.
    InvalidIdempotencyKey,
    /// The same `Idempotency-Key` came with a different request.
    IdempotencyKeyReused,
    /// This call takes no `Idempotency-Key`.
    IdempotencyKeyUnsupported,
    /// The expression of a schedule does not read, or names no instant.
    InvalidExpression,
    /// Nobody would know where to call for this kind.
    UnknownKind,
    /// Tasks of too many kinds wait already.
    TooManyKinds,
    /// Too many items in one call.
    TooManyItems,
    /// No valid token was shown.
    Unauthenticated,
    /// The token does not allow this.
    ScopeTooSmall,
    /// A web page of another origin asked.
    ForeignOrigin,
    /// The request was meant for another host.
    UnknownHost,
    /// No task has this identity.
    NoSuchTask,
    /// No decision has this receipt.
    NoSuchReceipt,
    /// No schedule has this name.
    NoSuchSchedule,
    /// No source has this number.
    NoSuchSource,
    /// There is no edition of this day.
    NoSuchEdition,
    /// The edition has no such document.
    NoSuchDocument,
    /// This node is not configured for it.
    NotConfigured,
    /// Another source is looked at there.
    AddressTaken,
    /// An address of the outside could not be read.
    Unreachable,
    /// What is at an address is no feed, and names none.
    NotAFeed,
    /// No token that works has this name.
    NoSuchToken,
    /// No user has this name.
    NoSuchUser,
    /// A token or a user has this name, or had it once.
    NameTaken,
    /// The schedule belongs to a file.
    ManagedSchedule,
    /// The schedule is not at the revision that was seen.
    RevisionMismatch,
    /// The newest firing of the schedule has not ended.
    StillRunning,
    /// The schedule or edition is in no state for this.
    WrongState,
    /// A signature was shown, and it does not fit.
    BadSignature,
    /// A call of this id was received before.
    AlreadyReceived,
    /// More ticks at once, or in a short time, than a node takes.
    TooManyTicks,
    /// More editions at once than a node builds on request.
    TooManyRuns,
    /// An edition could not be built; it keeps why.
    EditionFailed,
    /// The template of editions cannot be printed.
    BadTemplate,
    /// Nothing is at this path.
    NoSuchPath,
    /// The path does not take this method.
    MethodNotAllowed,
    /// Others change the same task faster than this could be decided.
    Contended,
    /// The body is over the limit.
    BodyTooLarge,
    /// The content type is not understood here.
    UnsupportedMediaType,
    /// More read at once than this node takes.
    Busy,
    /// The database does not answer.
    DatabaseUnavailable,
    /// The database refuses to write.
    DatabaseUnwritable,
    /// The node was told to stop.
    ShuttingDown,
    /// The answer took too long.
    TimedOut,
    /// A bug, or a database this version does not understand.
    Internal,
}

impl Code {
    /// Status, reference and title.
    #[expect(clippy::too_many_lines, reason = "a flat table, one row per code")]
    pub(super) fn about(self) -> (StatusCode, &'static str, &'static str) {
        use StatusCode as S;
        let invalid = S::UNPROCESSABLE_ENTITY;
        match self {
            Self::MalformedJson => (S::BAD_REQUEST, "/problems/malformed_json", "Malformed JSON"),
            Self::BadRequest => (S::BAD_REQUEST, "/problems/bad_request", "Bad request"),
            Self::InvalidBody => (invalid, "/problems/invalid_body", "Invalid body"),
            Self::InvalidTime => (invalid, "/problems/invalid_time", "Invalid time"),
            Self::InvalidValue => (invalid, "/problems/invalid_value", "Invalid value"),
            Self::InvalidQuery => (
                invalid,
                "/problems/invalid_query",
                "Invalid query parameter",
            ),
            Self::InvalidEvent => (invalid, "/problems/invalid_event", "Invalid event"),
            Self::InvalidItems => (invalid, "/problems/invalid_items", "Invalid items"),
            Self::InvalidIdempotencyKey => (
                invalid,
                "/problems/invalid_idempotency_key",
                "Invalid Idempotency-Key",
            ),
            Self::IdempotencyKeyReused => (
                invalid,
                "/problems/idempotency_key_reused",
                "Idempotency-Key reused",
            ),
            Self::IdempotencyKeyUnsupported => (
                invalid,
                "/problems/idempotency_key_unsupported",
                "Idempotency-Key not supported here",
            ),
            Self::InvalidExpression => (
                invalid,
                "/problems/invalid_expression",
                "Invalid expression",
            ),
            Self::UnknownKind => (invalid, "/problems/unknown_kind", "Unknown kind"),
            Self::TooManyKinds => (invalid, "/problems/too_many_kinds", "Too many kinds"),
            Self::TooManyItems => (
                S::PAYLOAD_TOO_LARGE,
                "/problems/too_many_items",
                "Too many items",
            ),
            Self::Unauthenticated => (S::UNAUTHORIZED, "/problems/unauthenticated", "Token needed"),
            Self::ScopeTooSmall => (
                S::FORBIDDEN,
                "/problems/scope_too_small",
                "Token does not allow this",
            ),
            Self::ForeignOrigin => (S::FORBIDDEN, "/problems/foreign_origin", "Foreign origin"),
            Self::UnknownHost => (
                S::MISDIRECTED_REQUEST,
                "/problems/unknown_host",
                "Unknown host",
            ),
            Self::NoSuchTask => (S::NOT_FOUND, "/problems/no_such_task", "No such task"),
            Self::NoSuchReceipt => (S::NOT_FOUND, "/problems/no_such_receipt", "No such receipt"),
            Self::NoSuchSchedule => (
                S::NOT_FOUND,
                "/problems/no_such_schedule",
                "No such schedule",
            ),
            Self::NoSuchSource => (S::NOT_FOUND, "/problems/no_such_source", "No such source"),
            Self::NoSuchEdition => (S::NOT_FOUND, "/problems/no_such_edition", "No such edition"),
            Self::NoSuchDocument => (
                S::NOT_FOUND,
                "/problems/no_such_document",
                "No such document",
            ),
            Self::NotConfigured => (S::NOT_FOUND, "/problems/not_configured", "Not configured"),
            Self::AddressTaken => (S::CONFLICT, "/problems/address_taken", "Address taken"),
            Self::Unreachable => (S::BAD_GATEWAY, "/problems/unreachable", "Unreachable"),
            Self::NotAFeed => (invalid, "/problems/not_a_feed", "Not a feed"),
            Self::NoSuchToken => (S::NOT_FOUND, "/problems/no_such_token", "No such token"),
            Self::NoSuchUser => (S::NOT_FOUND, "/problems/no_such_user", "No such user"),
            Self::NameTaken => (S::CONFLICT, "/problems/name_taken", "Name taken"),
            Self::ManagedSchedule => (
                S::CONFLICT,
                "/problems/managed_schedule",
                "Schedule belongs to a file",
            ),
            Self::RevisionMismatch => (
                S::PRECONDITION_FAILED,
                "/problems/revision_mismatch",
                "Another revision",
            ),
            Self::StillRunning => (S::CONFLICT, "/problems/still_running", "Still running"),
            Self::WrongState => (S::CONFLICT, "/problems/wrong_state", "Wrong state"),
            Self::BadSignature => (S::UNAUTHORIZED, "/problems/bad_signature", "Bad signature"),
            Self::AlreadyReceived => (
                S::CONFLICT,
                "/problems/already_received",
                "Already received",
            ),
            Self::TooManyTicks => (
                S::TOO_MANY_REQUESTS,
                "/problems/too_many_ticks",
                "Too many ticks",
            ),
            Self::TooManyRuns => (
                S::TOO_MANY_REQUESTS,
                "/problems/too_many_runs",
                "Too many editions at once",
            ),
            Self::EditionFailed => (
                S::INTERNAL_SERVER_ERROR,
                "/problems/edition_failed",
                "Edition failed",
            ),
            Self::BadTemplate => (
                S::INTERNAL_SERVER_ERROR,
                "/problems/bad_template",
                "Template cannot be printed",
            ),
            Self::NoSuchPath => (S::NOT_FOUND, "/problems/no_such_path", "No such path"),
            Self::MethodNotAllowed => (
                S::METHOD_NOT_ALLOWED,
                "/problems/method_not_allowed",
                "Method not allowed",
            ),
            Self::Contended => (S::CONFLICT, "/problems/contended", "Contended"),
            Self::BodyTooLarge => (
                S::PAYLOAD_TOO_LARGE,
                "/problems/body_too_large",
                "Body too large",
            ),
            Self::UnsupportedMediaType => (
                S::UNSUPPORTED_MEDIA_TYPE,
                "/problems/unsupported_media_type",
                "Unsupported media type",
            ),
            Self::Busy => (S::SERVICE_UNAVAILABLE, "/problems/busy", "Too many readers"),
            Self::DatabaseUnavailable => (
                S::SERVICE_UNAVAILABLE,
                "/problems/database_unavailable",
                "Database unavailable",
            ),
            Self::DatabaseUnwritable => (
                S::SERVICE_UNAVAILABLE,
                "/problems/database_unwritable",
                "Database cannot be written",
            ),
            Self::ShuttingDown => (
                S::SERVICE_UNAVAILABLE,
                "/problems/shutting_down",
                "Shutting down",
            ),
            Self::TimedOut => (S::GATEWAY_TIMEOUT, "/problems/timed_out", "Timed out"),
            Self::Internal => (
                S::INTERNAL_SERVER_ERROR,
                "/problems/internal",
                "Internal error",
            ),
        }
    }

    /// The status it is answered with.
    pub fn status(self) -> StatusCode {
        self.about().0
    }

    /// The stable name.
    pub fn as_str(self) -> &'static str {
        self.about().1.trim_start_matches("/problems/")
    }
}
