//! A line written out: what reads back to the same line.

use std::fmt;

use super::{Line, name_of};
use crate::{
    plan::{CatchUp, Overlap},
    target::Target,
};

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let definition = &self.definition;
        f.write_str(&definition.expression)?;
        if let Target::Workflow {
            repository,
            workflow,
            git_ref,
            inputs,
        } = &definition.target
        {
            write!(f, " {repository} {workflow}")?;
            if git_ref != "main" {
                write!(f, " ref={}", Quoted(git_ref))?;
            }
            for (name, value) in inputs {
                write!(f, " input.{name}={}", Quoted(value))?;
            }
        }
        if definition.tz != "UTC" {
            write!(f, " tz={}", definition.tz)?;
        }
        if definition.catch_up != CatchUp::default() {
            write!(f, " catch_up={}", definition.catch_up)?;
        }
        if definition.overlap != Overlap::default() {
            write!(f, " overlap={}", definition.overlap)?;
        }
        if self.name != name_of(definition) {
            write!(f, " name={}", self.name)?;
        }
        Ok(())
    }
}

/// A value in quotes, where it needs any.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |c: char| c.is_ascii_graphic() && !"\"'\\".contains(c);
        if !self.0.is_empty() && self.0.chars().all(plain) {
            return f.write_str(self.0);
        }
        let protected = self.0.replace('\\', "\\\\").replace('"', "\\\"");
        write!(f, "\"{protected}\"")
    }
}
