//! Today: what ran, what runs, and what will.

use maud::{Markup, html};

use super::{
    page::{Place, page},
    viewer::Viewer,
};
use crate::problem::Problem;

/// The first page.
pub(crate) async fn show(viewer: Viewer) -> Result<Markup, Problem> {
    let body = html! { p { (viewer.at(viewer.now)) } };
    Ok(page(
        &viewer,
        Place::Today,
        Place::Today.name(viewer.lang),
        &body,
    ))
}
