//! The resources that this process uses, as Linux reports them.

use std::fs;

/// The unit in which the kernel reports times to programs.
const TICKS_PER_SECOND: u64 = 100;

/// What a process takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resources {
    /// Processor time, in whole seconds.
    pub cpu_seconds: u64,
    /// Memory that it holds.
    pub resident_bytes: u64,
    pub virtual_bytes: u64,
    pub threads: u64,
    /// Open files and connections.
    pub open_files: Option<u64>,
    /// Most of them that are allowed; none if there is no limit.
    pub max_files: Option<u64>,
    /// When it started, in seconds since 1970.
    pub started_at_seconds: Option<u64>,
}

/// Measures; `None` where the system does not report them.
pub fn measure() -> Option<Resources> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let mut found = read(&stat, &status)?;
    let booted = fs::read_to_string("/proc/stat").ok();
    let booted = booted.as_deref().and_then(boot_seconds);
    found.started_at_seconds = found
        .started_at_seconds
        .zip(booted)
        .map(|(since_boot, booted)| booted + since_boot);
    // Listing them opens one more.
    let files = fs::read_dir("/proc/self/fd").ok();
    found.open_files = files.map(|files| (files.count() as u64).saturating_sub(1));
    let limits = fs::read_to_string("/proc/self/limits").ok();
    found.max_files = limits.as_deref().and_then(read_limit);
    Some(found)
}

/// The name may hold anything, blanks and brackets included; what follows its last bracket is
/// counted from the third field on.
fn read(stat: &str, status: &str) -> Option<Resources> {
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let kibibytes = |name: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    Some(Resources {
        cpu_seconds: (field(14)? + field(15)?) / TICKS_PER_SECOND,
        threads: field(20)?,
        started_at_seconds: Some(field(22)? / TICKS_PER_SECOND),
        virtual_bytes: kibibytes("VmSize:")? * 1024,
        resident_bytes: kibibytes("VmRSS:")? * 1024,
        open_files: None,
        max_files: None,
    })
}

fn boot_seconds(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("btime "))?;
    line.trim().parse().ok()
}

fn read_limit(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_confuse() {
        let text =
            "7 (a b) c) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 9 0 1234 4096000 25 1844 1";
        let status = "Name:\ta\nVmSize:\t    4000 kB\nVmRSS:\t     100 kB\n";
        let found = read(text, status).unwrap();
        assert_eq!((found.cpu_seconds, found.threads), (3, 9));
        assert_eq!(
            (found.virtual_bytes, found.resident_bytes),
            (4_096_000, 102_400)
        );
        assert_eq!(found.started_at_seconds, Some(12));
        assert_eq!(
            boot_seconds("cpu 1 2\nbtime 1767600000\n"),
            Some(1_767_600_000)
        );
        let limits = "Limit  Soft Limit  Hard Limit\nMax open files            1024                 524288               files\n";
        assert_eq!(read_limit(limits), Some(1024));
    }

    #[test]
    fn this_process_takes_something() {
        let found = measure().unwrap();
        assert!(found.resident_bytes > 0 && found.threads > 0);
        assert!(found.open_files.unwrap() > 0);
        assert!(found.started_at_seconds.unwrap() > 1_700_000_000);
    }
}
