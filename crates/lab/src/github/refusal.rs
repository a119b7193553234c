//! Why GitHub says no: a value for every reason, with the status and the sentence GitHub uses.
//!
//! Clients decide by status, and where one status means several things (422, 403) by the sentence.
//! So the sentences here are GitHub's own, word for word, where its published description, its
//! documentation or public reports of its answers give them.

use std::borrow::Cow;

/// Why a request ended without what was asked for. Expected, so a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// No `User-Agent`; GitHub's front door turns such callers away before reading anything else.
    NoUserAgent,
    /// An API version that does not exist.
    UnknownVersion(String),
    /// The token is unknown.
    BadCredentials,
    /// A token is needed.
    NoCredentials,
    /// It does not exist, or not for this caller: GitHub does not say which.
    NotFound,
    /// The token sees the repository but lacks the permission named.
    NotAccessible(&'static str),
    /// The hour's requests are used up.
    RateLimited,
    /// Too much at once; come back after so many seconds.
    SecondaryLimit {
        /// What `retry-after` says.
        retry_after_s: u32,
    },
    /// GitHub itself fails.
    Broken(u16),
    /// The body is not JSON.
    BadJson,
    /// The body is JSON, but no object.
    NotAnObject,
    /// Fields that must be there are not.
    Missing(Vec<&'static str>),
    /// A field that the endpoint does not know and does not ignore.
    NotPermitted(String),
    /// A field is something else than it must be: field, value as GitHub prints it, type wanted.
    WrongType {
        /// Which field.
        field: &'static str,
        /// What it was.
        found: String,
        /// What it should have been.
        wanted: &'static str,
    },
    /// The reference is there already. Of many creators, all but one read this.
    RefExists,
    /// The reference to be changed or deleted is not there.
    RefMissing,
    /// The reference cannot be beside those that exist: `a/b` needs `a` to be a folder.
    RefUpdateFailed,
    /// No such object in the repository.
    ObjectMissing,
    /// The branch would lose commits, and `force` was not given.
    NotFastForward,
    /// Git does not accept the name.
    BadRefName(String),
    /// The name does not begin with `refs/`.
    UnqualifiedRef,
    /// The name has fewer than two slashes.
    ShortRef,
    /// Not an object's name.
    BadSha,
    /// Nothing to read files from under that name.
    NoCommitFor(String),
    /// Nothing to write files to under that name.
    NoBranch(String),
    /// The file is not what the caller believes it to be.
    FileChanged {
        /// Which file.
        path: String,
        /// What the caller believes.
        sha: String,
    },
    /// The content is not Base64.
    NotBase64,
    /// A path that no file can have.
    BadPath,
    /// The workflow cannot be dispatched.
    NotDispatchable,
    /// Nothing to run a workflow on under that name.
    NoRefFor(String),
    /// Inputs that the workflow does not declare.
    UnexpectedInputs(Vec<String>),
    /// An input that the workflow insists on.
    InputMissing(String),
    /// More inputs than GitHub takes.
    TooManyInputs {
        /// How many it takes.
        max: usize,
        /// How many there were.
        given: usize,
    },
    /// The run has ended.
    RunCompleted,
    /// GitHub may know this, but this world does not, and does not pretend to.
    NotModelled(&'static str),
}

impl Refusal {
    /// HTTP status.
    pub fn status(&self) -> u16 {
        match self {
            Self::UnknownVersion(_) | Self::BadJson | Self::NotAnObject => 400,
            Self::BadCredentials | Self::NoCredentials => 401,
            Self::NoUserAgent
            | Self::NotAccessible(_)
            | Self::RateLimited
            | Self::SecondaryLimit { .. } => 403,
            Self::NotFound | Self::NoCommitFor(_) | Self::NoBranch(_) => 404,
            Self::FileChanged { .. } | Self::RunCompleted => 409,
            Self::Broken(status) => *status,
            Self::NotModelled(_) => 501,
            _ => 422,
        }
    }

    /// GitHub's sentence.
    pub fn message(&self, request_id: &str) -> Cow<'static, str> {
        let told = match self {
            Self::NoUserAgent => {
                "\r\nRequest forbidden by administrative rules. Please make sure your request has \
                 a User-Agent header (https://docs.github.com/en/rest/overview/\
                 resources-in-the-rest-api#user-agent-required). Check \
                 https://developer.github.com for other possible causes.\r\n"
            }
            Self::BadCredentials => "Bad credentials",
            Self::NoCredentials => "This endpoint requires you to be authenticated.",
            Self::NotFound => "Not Found",
            Self::NotAccessible(_) => "Resource not accessible by integration",
            Self::Broken(_) => "Server Error",
            Self::BadJson => "Problems parsing JSON",
            Self::NotAnObject => "Body should be a JSON object",
            Self::RefExists => "Reference already exists",
            Self::RefMissing => "Reference does not exist",
            Self::RefUpdateFailed => "Reference update failed",
            Self::ObjectMissing => "Object does not exist",
            Self::NotFastForward => "Update is not a fast forward",
            Self::UnqualifiedRef => "Reference name must start with 'refs/'.",
            Self::ShortRef => {
                "Reference name must contain at least three slash-separated components."
            }
            Self::BadSha => {
                "The sha parameter must be exactly 40 characters and contain only [0-9a-f]."
            }
            Self::NotBase64 => "content is not valid Base64",
            Self::BadPath => "path contains a malformed path component",
            Self::NotDispatchable => "Workflow does not have 'workflow_dispatch' trigger",
            Self::RunCompleted => "Cannot cancel a workflow run that is completed.",
            Self::NotModelled(what) => what,
            _ => return Cow::Owned(self.message_with_details(request_id)),
        };
        Cow::Borrowed(told)
    }

    /// The sentences that name what the caller sent.
    fn message_with_details(&self, request_id: &str) -> String {
        match self {
            Self::RateLimited => format!(
                "API rate limit exceeded for installation. If you reach out to GitHub Support for \
                 help, please include the request ID {request_id}."
            ),
            Self::SecondaryLimit { .. } => format!(
                "You have exceeded a secondary rate limit. Please wait a few minutes before you \
                 try again. If you reach out to GitHub Support for help, please include the \
                 request ID {request_id}."
            ),
            Self::UnknownVersion(version) => {
                format!("\"{version}\" is not a supported version of the REST API.")
            }
            Self::Missing(fields) => missing(fields),
            Self::NotPermitted(field) => {
                format!("Invalid request.\n\n\"{field}\" is not a permitted key.")
            }
            Self::WrongType {
                field,
                found,
                wanted,
            } => {
                format!("Invalid request.\n\nFor 'properties/{field}', {found} is not {wanted}.")
            }
            Self::BadRefName(name) => format!("{name} is not a valid ref name."),
            Self::NoCommitFor(name) => format!("No commit found for the ref {name}"),
            Self::NoBranch(name) => format!("Branch {name} not found"),
            Self::FileChanged { path, sha } => format!("{path} does not match {sha}"),
            Self::NoRefFor(name) => format!("No ref found for: {name}"),
            Self::UnexpectedInputs(names) => {
                format!("Unexpected inputs provided: {names:?}")
            }
            Self::InputMissing(name) => format!("Required input '{name}' not provided"),
            Self::TooManyInputs { max, given } => format!(
                "Invalid request.\n\nNo more than {max} properties are allowed; {given} were \
                 supplied."
            ),
            // Those without details have their sentence above.
            _ => String::new(),
        }
    }

    /// Where GitHub explains refusals that have nothing to do with the endpoint called.
    pub fn documentation_url(&self) -> Option<&'static str> {
        match self {
            Self::BadCredentials | Self::NoCredentials | Self::UnknownVersion(_) => {
                Some("https://docs.github.com/rest")
            }
            Self::RateLimited => Some(
                "https://docs.github.com/rest/overview/resources-in-the-rest-api#rate-limiting",
            ),
            Self::SecondaryLimit { .. } => Some(
                "https://docs.github.com/rest/using-the-rest-api/\
                 rate-limits-for-the-rest-api#about-secondary-rate-limits",
            ),
            _ => None,
        }
    }
}

/// GitHub counts: one field wasn't, several weren't.
fn missing(fields: &[&str]) -> String {
    let quoted: Vec<String> = fields.iter().map(|field| format!("\"{field}\"")).collect();
    let verb = match fields {
        [_] => "wasn't",
        _ => "weren't",
    };
    format!("Invalid request.\n\n{} {verb} supplied.", quoted.join(", "))
}
