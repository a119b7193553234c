//! `almanack source import` and `export`: lists of feeds, as every reader writes and reads them.
