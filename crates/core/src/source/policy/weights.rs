//! The fitted weights.

use super::intensity::FEATURES;

/// One weight for each feature, in the order of the features.
pub(super) const WEIGHTS: [f32; FEATURES] = {
    let mut weights = [0.0; FEATURES];
    let mut place = 1;
    while place < 4 {
        weights[place] = 1.0;
        place += 1;
    }
    weights[5] = 0.3;
    place = 17;
    while place < 23 {
        weights[place] = 0.9;
        place += 1;
    }
    weights
};
