//! The fleet's price: one number that makes all sources together spend what they may.
//!
//! With gaps of √(2μ/λ), checks go with 1/√μ, so the price that would have given the wanted number
//! is the present one times (made ÷ wanted)². Steps are damped and bounded: yesterday's number is
//! noisy, floors and ceilings bend the law, and a controller that swings is worse than a slow one.

/// Prices stay within these, so that no mishap drives one beyond coming back.
const PRICE_MIN_H: f64 = 1e-5;
const PRICE_MAX_H: f64 = 1e4;
/// One step changes the price by at most this factor, either way.
const STEP_MAX: f64 = 2.0;

/// The next price, in hours of delay a check is worth, from how many checks the fleet made a day
/// at this price and how many it is wanted to make.
pub fn steer(price_h: f64, made_per_day: f64, wanted_per_day: f64) -> f64 {
    let price_h = if price_h.is_finite() { price_h } else { 1.0 };
    let price_h = price_h.clamp(PRICE_MIN_H, PRICE_MAX_H);
    if !(made_per_day.is_finite() && wanted_per_day.is_finite()) || wanted_per_day <= 0.0 {
        return price_h;
    }
    // The full step would be the square; its root overshoots nowhere and closes half the distance.
    let step = (made_per_day / wanted_per_day).clamp(1.0 / STEP_MAX, STEP_MAX);
    (price_h * step).clamp(PRICE_MIN_H, PRICE_MAX_H)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever the fleet's law, as long as dearer checks are not more checks.
        #[test]
        fn ss_15_the_price_settles_where_the_budget_is_spent(
            start in 1e-4_f64..1e3, scale in 1.0_f64..1e5, power in 0.1_f64..0.9, wanted in 0.05_f64..20.0,
        ) {
            let made = |price: f64| scale * price.powf(-power);
            let aim = made(1.0) * wanted;
            let best = (made(1.0) / aim).powf(1.0 / power);
            prop_assume!((1e-4..1e3).contains(&best));
            let mut price = start;
            for _ in 0..200 {
                price = steer(price, made(price), aim);
            }
            prop_assert!((made(price) / aim - 1.0).abs() < 0.01, "{} of {aim}", made(price));
        }

        #[test]
        fn ss_15_one_step_is_bounded(price: f64, made: f64, wanted: f64) {
            let next = steer(price, made, wanted);
            prop_assert!((PRICE_MIN_H..=PRICE_MAX_H).contains(&next));
            if (PRICE_MIN_H..=PRICE_MAX_H).contains(&price) {
                prop_assert!(next <= price * STEP_MAX && next >= price / STEP_MAX);
            }
        }
    }
}
