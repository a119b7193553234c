//! Where GitHub documents each endpoint: error bodies say it in `documentation_url`.

use axum::http::Method;

/// Everything else.
const GENERAL: &str = "https://docs.github.com/rest";

/// The page of an endpoint, by method and path template.
pub(super) fn url(method: &Method, route: &str) -> &'static str {
    let below = route.strip_prefix("/repos/{owner}/{repo}").unwrap_or(route);
    match (method.as_str(), below) {
        ("GET", "/git/ref/{ref}") => "https://docs.github.com/rest/git/refs#get-a-reference",
        ("GET", "/git/matching-refs/{ref}") => {
            "https://docs.github.com/rest/git/refs#list-matching-references"
        }
        ("POST", "/git/refs") => "https://docs.github.com/rest/git/refs#create-a-reference",
        ("POST", "/git/tags") => "https://docs.github.com/rest/git/tags#create-a-tag-object",
        ("PATCH", "/git/refs/{ref}") => "https://docs.github.com/rest/git/refs#update-a-reference",
        ("DELETE", "/git/refs/{ref}") => "https://docs.github.com/rest/git/refs#delete-a-reference",
        ("GET", "") => "https://docs.github.com/rest/repos/repos#get-a-repository",
        ("GET", "/contents" | "/contents/" | "/contents/{path}") => {
            "https://docs.github.com/rest/repos/contents#get-repository-content"
        }
        ("PUT", "/contents/{path}") => {
            "https://docs.github.com/rest/repos/contents#create-or-update-file-contents"
        }
        ("DELETE", "/contents/{path}") => {
            "https://docs.github.com/rest/repos/contents#delete-a-file"
        }
        ("GET", "/actions/runs") => {
            "https://docs.github.com/rest/actions/workflow-runs#list-workflow-runs-for-a-repository"
        }
        ("GET", "/actions/runs/{run_id}") => {
            "https://docs.github.com/rest/actions/workflow-runs#get-a-workflow-run"
        }
        ("POST", "/actions/runs/{run_id}/cancel") => {
            "https://docs.github.com/rest/actions/workflow-runs#cancel-a-workflow-run"
        }
        ("GET", "/actions/workflows/{workflow_id}/runs") => {
            "https://docs.github.com/rest/actions/workflow-runs#list-workflow-runs-for-a-workflow"
        }
        ("POST", "/actions/workflows/{workflow_id}/dispatches") => {
            "https://docs.github.com/rest/actions/workflows#create-a-workflow-dispatch-event"
        }
        _ => GENERAL,
    }
}
