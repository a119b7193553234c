//! GitHub's refusals: the status and the sentence GitHub uses.
//!
//! Clients decide by status, and where one status means several things (422, 403) by the sentence.
//! So the sentences here are GitHub's own, word for word, where its published description, its
//! documentation or public reports of its responses give them.

use std::borrow::Cow;

/// Why a request is refused. Expected, so a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub status: u16,
    pub message: Cow<'static, str>,
    /// Additional headers.
    pub(super) header: Option<(&'static str, String)>,
}

impl Refusal {
    /// No `User-Agent`; GitHub refuses such requests before reading anything else.
    pub const NO_USER_AGENT: Self = Self::new(
        403,
        "\r\nRequest forbidden by administrative rules. Please make sure your request has a \
         User-Agent header.\r\n",
    );
    /// The token is unknown.
    pub const BAD_CREDENTIALS: Self = Self::new(401, "Bad credentials");
    /// It does not exist, or not for this caller: GitHub does not say which.
    pub const NOT_FOUND: Self = Self::new(404, "Not Found");
    /// The hour's requests are used up.
    pub const RATE_LIMITED: Self = Self::new(
        403,
        "API rate limit exceeded for installation. If you reach out to GitHub Support for help, \
         please include the request ID.",
    );
    /// The body is not a JSON object.
    pub const BAD_JSON: Self = Self::new(400, "Problems parsing JSON");
    /// The reference is there already. Of many creators, all but one read this.
    pub const REF_EXISTS: Self = Self::new(422, "Reference already exists");
    /// The reference to be deleted is not there.
    pub const REF_MISSING: Self = Self::new(422, "Reference does not exist");
    /// The reference cannot be beside those that exist: `a/b` needs `a` to be a folder.
    pub const REF_UPDATE_FAILED: Self = Self::new(422, "Reference update failed");
    /// No such object in the repository.
    pub const OBJECT_MISSING: Self = Self::new(422, "Object does not exist");
    /// Not an object's name.
    pub const BAD_SHA: Self = Self::new(
        422,
        "The sha parameter must be exactly 40 characters and contain only [0-9a-f].",
    );
    /// The content is not Base64.
    pub const NOT_BASE64: Self = Self::new(422, "content is not valid Base64");
    /// The workflow cannot be dispatched.
    pub const NOT_DISPATCHABLE: Self =
        Self::new(422, "Workflow does not have 'workflow_dispatch' trigger");
    /// The run has ended.
    pub const RUN_COMPLETED: Self =
        Self::new(409, "Cannot cancel a workflow run that is completed.");

    /// A refusal that is always the same.
    pub(super) const fn new(status: u16, message: &'static str) -> Self {
        Self {
            status,
            message: Cow::Borrowed(message),
            header: None,
        }
    }

    /// A refusal that names what the caller sent.
    pub(super) fn about(status: u16, message: String) -> Self {
        Self {
            status,
            message: Cow::Owned(message),
            header: None,
        }
    }

    /// The token sees the repository but lacks the permission named.
    pub(super) fn not_accessible(needed: &str) -> Self {
        Self {
            header: Some(("x-accepted-github-permissions", needed.to_owned())),
            ..Self::new(403, "Resource not accessible by integration")
        }
    }

    /// Too much at once; retry after this many seconds.
    pub(super) fn secondary_limit(retry_after_s: u32) -> Self {
        let message = "You have exceeded a secondary rate limit. Please wait a few minutes before \
                       you try again.";
        Self {
            header: Some(("retry-after", retry_after_s.to_string())),
            ..Self::new(403, message)
        }
    }

    pub(super) fn broken(status: u16) -> Self {
        Self::new(status, "Server Error")
    }

    /// A field that must be there is not.
    pub(super) fn missing(field: &str) -> Self {
        Self::about(
            422,
            format!("Invalid request.\n\n\"{field}\" wasn't supplied."),
        )
    }
}
