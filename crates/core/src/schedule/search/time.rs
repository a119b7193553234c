//! The time of day: hour, minute and second, each found by its lowest or highest bit.

use crate::schedule::timetable::Table;

impl Table {
    #[inline]
    pub(in crate::schedule) fn time_at_or_after(&self, time: u32) -> Option<u32> {
        let (hour, minute, second) = (time / 3_600, time / 60 % 60, time % 60);
        if (self.hours >> hour) & 1 == 1 {
            if (self.minutes >> minute) & 1 == 1 {
                let seconds = self.seconds >> second;
                if seconds != 0 {
                    return Some(time + seconds.trailing_zeros());
                }
            }
            let minutes = self.minutes >> (minute + 1);
            if minutes != 0 {
                let minute = minute + 1 + minutes.trailing_zeros();
                return Some(hour * 3_600 + minute * 60 + self.seconds.trailing_zeros());
            }
        }
        let hours = self.hours >> (hour + 1);
        if hours == 0 {
            return None;
        }
        let hour = hour + 1 + hours.trailing_zeros();
        Some(hour * 3_600 + self.minutes.trailing_zeros() * 60 + self.seconds.trailing_zeros())
    }

    pub(in crate::schedule) fn time_at_or_before(&self, time: u32) -> Option<u32> {
        let (hour, minute, second) = (time / 3_600, time / 60 % 60, time % 60);
        if (self.hours >> hour) & 1 == 1 {
            if (self.minutes >> minute) & 1 == 1
                && let Some(second) = (self.seconds & up_to(second)).checked_ilog2()
            {
                return Some(hour * 3_600 + minute * 60 + second);
            }
            if let Some(minute) = (self.minutes & (up_to(minute) >> 1)).checked_ilog2() {
                return Some(hour * 3_600 + minute * 60 + self.seconds.ilog2());
            }
        }
        let hour = (u64::from(self.hours) & (up_to(hour) >> 1)).checked_ilog2()?;
        Some(hour * 3_600 + self.minutes.ilog2() * 60 + self.seconds.ilog2())
    }

    #[inline]
    pub(super) fn first_time(&self) -> u32 {
        self.hours.trailing_zeros() * 3_600
            + self.minutes.trailing_zeros() * 60
            + self.seconds.trailing_zeros()
    }

    /// INVARIANT: no set of a compiled table is empty, because every list has an item.
    pub(super) fn last_time(&self) -> u32 {
        self.hours.ilog2() * 3_600 + self.minutes.ilog2() * 60 + self.seconds.ilog2()
    }
}

/// The bits from 0 to this one.
fn up_to(bit: u32) -> u64 {
    u64::MAX >> (63 - bit)
}
