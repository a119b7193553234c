//! Reading what a source shows.

mod charset;
pub mod date;
mod markup;
mod nesting;
mod text;
