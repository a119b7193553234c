//! `[edition.quality]`: what an edition must have before it is sent (ED-39).

use almanack_core::edition::{quality::Quality, rules::STORIES_MAX};

use super::{super::prelude::*, EditionKeys};

const SECTION: &str = QualityKeys::NAME;
sections! { QualityKeys }

/// One story with a text is enough: without any, something is wrong with the crawler, its token or
/// the network, and thirty bare titles are no edition.
const TEXT_PERCENT: u8 = 1;

settings! {
    /// What an edition must have before it is sent; below it is held and reported.
    struct QualityKeys in "edition.quality" {
        /// Least share of stories with a text beside their title, in percent; 0 asks for none.
        /// 除标题外还有正文摘要的文章的最低比例（百分数）；0 表示不要求。
        text_percent: u8 = count(0..=100).default(TEXT_PERCENT);
        /// Fewest stories of an edition.
        /// 一期日报的最少文章数。
        stories: usize = count(0..=STORIES_MAX).default(0);
        /// Ask every destination whether it is ready before anything is sent.
        /// 发送前询问每个目的地是否就绪。
        destinations: bool = truth().default(false);
    }
}

/// The standard; one that no edition can meet is refused.
pub(super) fn read(reader: &mut Reader<'_>, edition: &EditionKeys) -> Quality {
    let keys = QualityKeys::read(reader);
    if keys.stories > edition.stories {
        let (wanted, most) = (keys.stories, edition.stories);
        let what = format!("an edition of {most} stories can never have {wanted}");
        let hint = "make it at most edition.stories";
        reader.refuse(what, KeyPath::plain(SECTION, "stories"), hint);
    }
    Quality {
        text_percent_min: keys.text_percent,
        stories_min: keys.stories,
        destinations: keys.destinations,
    }
}
