//! Figures of measurements: percentiles, and a process's memory.

/// The percentile `share` of sorted numbers.
pub fn percentile<T: Copy>(sorted: &[T], share: usize) -> Option<T> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((sorted.len() * share / 100).min(last)).copied()
}

/// Median, 99th percentile and maximum, rounded to `decimals`.
pub fn half_most_all(mut numbers: Vec<f64>, decimals: i32) -> [f64; 3] {
    numbers.sort_by(f64::total_cmp);
    [50, 99, 100].map(|share| {
        let at = percentile(&numbers, share).unwrap_or_default();
        rounded(at, decimals)
    })
}

/// The number rounded to `decimals`.
pub fn rounded(number: f64, decimals: i32) -> f64 {
    let scale = 10_f64.powi(decimals);
    (number * scale).round() / scale
}

/// A line of a process's status in kilobytes, like `VmRSS`, where the system reports it. `process`
/// is a process id, or `self`.
pub fn memory_kb(process: &str, line: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|it| it.starts_with(line))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_numbers_in_order() {
        let shown = |numbers| format!("{:?}", half_most_all(numbers, 1));
        assert_eq!(shown(vec![3.0, 1.0, 2.04]), "[2.0, 3.0, 3.0]");
        assert_eq!(shown(Vec::new()), "[0.0, 0.0, 0.0]");
        assert_eq!(percentile(&[1.0, 2.0, 3.0, 4.0], 50), Some(3.0));
    }
}
