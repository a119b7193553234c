//! A progress bar, on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::Output;

/// A bar up to `total`, or a spinner if the total is unknown.
pub(super) fn progress(total: Option<u64>, output: &Output) -> ProgressBar {
    let template = match total {
        Some(_) => "{bar:30} {percent:>3} %  {msg}  {eta} left",
        None => "{spinner} {msg}",
    };
    drawn(total, template, output)
}

/// The same, drawn by a template.
pub(super) fn drawn(total: Option<u64>, template: &str, output: &Output) -> ProgressBar {
    if !output.watched {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    // A template that does not parse would only cost its looks.
    bar.with_style(
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
    )
}
