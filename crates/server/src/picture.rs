//! Pictures that both the API and the command line show.

pub mod week;
