#![allow(warnings, clippy::all, clippy::pedantic)]
use almanack_core::source::{policy::{Budget, Policy}, replay::*};
use jiff::SignedDuration;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let mut t = Traces::default();
    for l in std::fs::read_to_string(&a[1]).unwrap().lines() { t.line(l).unwrap(); }
    let half: u64 = a[2].parse().unwrap();
    let traces: Vec<Trace> = t.finish().into_iter().enumerate().filter(|(i, _)| half > 1 || (*i as u64) % 2 == half).map(|(_, t)| t).collect();
    let share: f64 = a[3].parse().unwrap();
    let rmin: f64 = a[4].parse().unwrap();
    let which = a.get(5).map(String::as_str).unwrap_or("classic5,classic15,fixed5,fixed15,miniflux5");
    let r = Replay::new(&traces);
    let m = |x| SignedDuration::from_mins(x);
    for w in which.split(',') {
        let (refp, floor) = if w.ends_with("15") { (&w[..w.len()-2], 15) } else { (&w[..w.len()-1], 5) };
        let refp: Policy = if refp == "fixed" { "fixed:1h".parse().unwrap() } else { refp.parse().unwrap() };
        let own = Budget { floor: m(5), ..Budget::default() };
        let other = r.runs(&refp, &own);
        let checks: u64 = other.iter().map(|(_, x)| x.checks).sum();
        let d: Vec<f64> = other.iter().flat_map(|(_, x)| x.delays_h.clone()).collect();
        let mean = d.iter().sum::<f64>() / d.len() as f64;
        let mut b = Budget { floor: m(floor), rate_min_per_day: rmin, ..Budget::default() };
        let mut found = r.calibrate_share(&Policy::Adaptive, checks, &b, share);
        let rep = r.report(&Policy::Adaptive, &found.budget);
        let o = &rep.overall;
        println!("{w} checks/d {:.2} ratio {:.4} mean {:.4} p95 {:.3} price {:.4}", o.checks_per_source_day, o.mean_delay_h / mean, o.mean_delay_h, o.p95_delay_h, found.budget.price_h);
        let (mut ma, mut me) = (0.0, 0.0);
        for c in &rep.classes {
            ma += c.figures.macro_mean_delay_h * c.figures.sources as f64; me += c.even.macro_mean_delay_h * c.even.sources as f64;
            println!("   {:12} n {:3} e {:6} c/d {:6.2} even {:.3} own {:.3} | fortnight {:.3} own {:.3}", c.frequency.to_string(), c.figures.sources, c.figures.entries, c.figures.checks_per_source_day,
                c.figures.mean_delay_h / c.even.mean_delay_h, c.figures.mean_delay_h / c.fixed.mean_delay_h,
                c.figures.early_delay_h.unwrap_or(0.0) / c.even.early_delay_h.unwrap_or(1.0), c.figures.early_delay_h.unwrap_or(0.0) / c.fixed.early_delay_h.unwrap_or(1.0));
        }
        println!("   macro {:.3}", ma / me);
    }
}
