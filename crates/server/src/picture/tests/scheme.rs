//! The colours of both schemes have enough contrast with their background, as WCAG measures it.

use super::STYLE;

/// Both schemes, as names and colours.
fn schemes() -> [Vec<(String, [f64; 3])>; 3] {
    let blocks: Vec<&str> = STYLE.split("--pic-paper:").skip(1).collect();
    let blocks: [&str; 3] = blocks
        .try_into()
        .expect("light, preferred dark, chosen dark");
    blocks.map(|block| {
        let block = format!("--pic-paper:{}", block.split('}').next().unwrap());
        let lines = block.split(';').filter_map(|line| line.split_once(": #"));
        lines
            .map(|(name, hex)| {
                let part = |n: usize| f64::from(u8::from_str_radix(&hex[n..n + 2], 16).unwrap());
                (
                    name.trim().trim_start_matches("--pic-").to_owned(),
                    [part(0), part(2), part(4)],
                )
            })
            .collect()
    })
}

fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let light = |colour: [f64; 3]| {
        let [r, g, b] = colour.map(|part| match part / 255.0 {
            dark if dark <= 0.040_45 => dark / 12.92,
            part => ((part + 0.055) / 1.055).powf(2.4),
        });
        0.2126 * r + 0.7152 * g + 0.0722 * b
    };
    let (a, b) = (light(a) + 0.05, light(b) + 0.05);
    a.max(b) / a.min(b)
}

#[test]
fn colours_contrast_with_the_paper() {
    let [light, preferred, chosen] = schemes();
    assert_eq!(preferred, chosen, "the two ways to the dark scheme");
    for scheme in [light, chosen] {
        let colour = |wanted: &str| scheme.iter().find(|(name, _)| name == wanted).unwrap().1;
        for (name, found) in &scheme {
            let needed = match name.as_str() {
                "paper" | "line" | "shade" | "cell" => continue,
                "ink" | "faint" | "now" | "late" | "link" => 4.5,
                _ => 3.0,
            };
            for ground in ["paper", "shade"] {
                let seen = contrast(*found, colour(ground));
                assert!(seen >= needed, "{name} on {ground}: {seen:.2}");
            }
        }
    }
}
