//! Where `H` lands: the same place for the same schedule, today and after every restart.
//!
//! The hash is part of what a schedule means. Changing it moves every hashed schedule of every
//! user, so it is written out here instead of borrowed from a library that may improve it.

use super::field::Field;

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// 64 bits that depend on the schedule's name and the field.
///
/// The field takes part so that `H H * * *` spreads over all 1,440 minutes of a day. FNV-1a is
/// followed by a finalizer, because its low bits alone are poor and we take remainders.
pub(super) fn of(name: &str, field: Field) -> u64 {
    mix(name.bytes().chain([0xff, field.index()]))
}

/// 64 bits that depend on a name and on what they are for, the same for ever.
pub fn hash_of(name: &str, purpose: &str) -> u64 {
    mix(name.bytes().chain([0xfe]).chain(purpose.bytes()))
}

fn mix(bytes: impl Iterator<Item = u8>) -> u64 {
    finish(bytes.fold(FNV_OFFSET, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME)
    }))
}

/// The finalizer of `MurmurHash3`: every bit of the input moves half the bits of the output.
fn finish(mut hash: u64) -> u64 {
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

/// A value from `min` to `max`.
pub(super) fn pick(hash: u64, min: u16, max: u16) -> u16 {
    let choices = u64::from(max.saturating_sub(min)) + 1;
    min + u16::try_from(hash % choices).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_hash_never_changes() {
        assert_eq!(of("nightly", Field::Minute), 0x5b1b_714d_dad2_a966);
        assert_eq!(of("", Field::Second), 0x6697_e696_89e5_177a);
    }

    #[test]
    fn names_spread_over_the_whole_day() {
        let minutes: BTreeSet<(u16, u16)> = (0..20_000)
            .map(|number| {
                let name = format!("schedule-{number}");
                let hour = pick(of(&name, Field::Hour), 0, 23);
                (hour, pick(of(&name, Field::Minute), 0, 59))
            })
            .collect();
        assert_eq!(minutes.len(), 1_440, "every minute of the day is used");
    }
}
