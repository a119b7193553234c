//! What search engines may find: a sitemap of published editions, and what robots should leave
//! alone.

use std::fmt::Write as _;

use super::{
    Wrong, as_page, feeds, html::Loads, is_known, published_lines, tag_of_list, unchanged,
};
use crate::editions::any_editions;
use crate::prelude::*;
use crate::ui::links::reader;

/// Editions in a sitemap: thirty years of daily ones, and well within what a sitemap may hold.
const URLS_MAX: usize = 10_000;

/// Published editions as a sitemap.
#[utoipa::path(
    get, path = "/editions/sitemap.xml", tag = "pages",
    responses(
        (status = 200, description = "A sitemap", body = String, content_type = "application/xml"),
        (status = 304, description = "Not modified"),
        (status = "4XX", description = "An error page", body = String, content_type = "text/html"),
    ),
)]
pub(crate) async fn sitemap(State(state): App, headers: HeaderMap) -> Result<Response, Wrong> {
    any_editions(&state)?;
    let (mut indexes, mut lines) = (Vec::new(), Vec::new());
    for editions in state.editions.iter() {
        indexes.push(reader(editions.settings.name));
        let left = URLS_MAX.saturating_sub(lines.len());
        lines.extend(published_lines(editions, None, left).await?);
    }
    // Of those there is nothing to be found any more.
    lines.retain(|line| line.edition.retraction.is_none());
    let base = feeds::base(&headers);
    let tag = tag_of_list(&state, &format!("sitemap {base}"), &lines);
    if is_known(&headers, &tag) {
        return Ok(unchanged(&state, &tag, Loads::Nothing));
    }
    let base = feeds::text(&base);
    let mut map = String::from(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
         <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
    );
    // Writing to a String cannot fail, here and below.
    for index in indexes {
        let _ = writeln!(map, "<url><loc>{base}{index}</loc></url>");
    }
    for line in &lines {
        let id = line.edition.id;
        let changed = line
            .edition
            .published_at
            .map(|at| format!("<lastmod>{at}</lastmod>"));
        let changed = changed.unwrap_or_default();
        let _ = writeln!(map, "<url><loc>{base}/editions/{id}</loc>{changed}</url>");
    }
    map.push_str("</urlset>\n");
    let kind = [(header::CONTENT_TYPE, "application/xml; charset=utf-8")];
    Ok((kind, as_page(&state, &tag, map, Loads::Nothing)).into_response())
}

/// The address of the sitemap in `robots.txt`, where there is one to find: it must be whole.
pub(crate) fn for_robots(headers: &HeaderMap) -> String {
    let base = feeds::base(headers);
    if base.is_empty() {
        return String::new();
    }
    format!("Sitemap: {base}/editions/sitemap.xml\n")
}
