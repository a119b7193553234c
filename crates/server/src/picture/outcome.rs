//! Outcomes by shape and colour: a picture is readable without seeing colours.

use super::prelude::*;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// Not run yet: a hollow circle.
    Planned,
    /// Succeeded: a disc.
    Done,
    /// Cancelled: a dash.
    Cancelled,
    /// Skipped, with a reason: a hatched square.
    Skipped,
    /// Running: a half-filled circle.
    Running,
    /// Failed: a cross.
    Failed,
    /// Outcome unknown: a triangle with a warning mark.
    Unknown,
}

impl Outcome {
    /// All outcomes; those that need attention come last, so that they are drawn on top.
    pub(crate) const ALL: [Self; 7] = [
        Self::Planned,
        Self::Done,
        Self::Cancelled,
        Self::Skipped,
        Self::Running,
        Self::Failed,
        Self::Unknown,
    ];

    /// Its class in the style sheet.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Skipped => "skipped",
            Self::Running => "running",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }

    pub(crate) fn name(self, lang: Lang) -> &'static str {
        words! { lang, self;
            Self::Planned => "planned", "计划中";
            Self::Done => "done", "完成";
            Self::Cancelled => "cancelled", "已取消";
            Self::Skipped => "skipped", "跳过";
            Self::Running => "running", "运行中";
            Self::Failed => "failed", "失败";
            Self::Unknown => "outcome unknown", "结果未知";
        }
    }

    /// Its shape around the origin, about nine wide and high.
    fn shape(self) -> &'static str {
        match self {
            Self::Planned => "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0",
            Self::Done => "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0",
            Self::Cancelled => "M-4.5 0h9",
            Self::Skipped => "M-4-4h8v8h-8zM-4 0l4-4M-4 4l8-8M0 4l4-4",
            Self::Running => {
                "M-4.7 0a4.7 4.7 0 1 0 9.4 0a4.7 4.7 0 1 0-9.4 0M0-3.3v6.6a3.3 3.3 0 0 1 0-6.6"
            }
            Self::Failed => "M-3.8-3.8l7.6 7.6M-3.8 3.8l7.6-7.6",
            Self::Unknown => "M0-5.5l5.8 10.3h-11.6zM-.8-1.8h1.6v3.2h-1.6zM-.8 2.2h1.6v1.5h-1.6z",
        }
    }

    /// Its shape, at the origin.
    pub(crate) fn glyph(self) -> Markup {
        html! { path class={"o " (self.class())} d=(self.shape()) {} }
    }

    /// Its shape as an icon beside a text.
    pub(crate) fn icon(self) -> Markup {
        icon(&self.glyph())
    }
}

/// A shape around the origin as an icon beside a text.
pub(crate) fn icon(ink: &Markup) -> Markup {
    html! { svg.icon viewBox="-7 -7 14 14" aria-hidden="true" { (ink) } }
}

/// Counts by outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts([usize; Outcome::ALL.len()]);

impl Counts {
    pub(crate) fn of(&self, outcome: Outcome) -> usize {
        self.0[outcome as usize]
    }

    pub(crate) fn total(&self) -> usize {
        self.0.iter().sum()
    }

    /// The outcomes that occur.
    pub(crate) fn present(&self) -> impl Iterator<Item = Outcome> + '_ {
        Outcome::ALL
            .into_iter()
            .filter(|outcome| self.of(*outcome) > 0)
    }

    /// `12 done, 2 failed`, most frequent first.
    pub(crate) fn words(&self, lang: Lang) -> String {
        let mut present: Vec<Outcome> = self.present().collect();
        present.sort_by_key(|outcome| std::cmp::Reverse(self.of(*outcome)));
        let parts = present.into_iter().map(|outcome| {
            let (count, name) = (self.of(outcome), outcome.name(lang));
            say!(lang, "{count} {name}", "{count} 次{name}")
        });
        let parts: Vec<_> = parts.collect();
        if parts.is_empty() {
            return lang.pick("none", "无").to_owned();
        }
        parts.join(lang.pick(", ", "，"))
    }
}

impl FromIterator<Outcome> for Counts {
    fn from_iter<T: IntoIterator<Item = Outcome>>(outcomes: T) -> Self {
        let mut counts = Self::default();
        for outcome in outcomes {
            counts.0[outcome as usize] += 1;
        }
        counts
    }
}

/// The legend of shapes.
pub(crate) fn legend(outcomes: impl IntoIterator<Item = Outcome>, lang: Lang) -> Markup {
    html! {
        ul.legend {
            @for outcome in outcomes { li { (outcome.icon()) (outcome.name(lang)) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[test]
    fn outcomes_are_counted_under_their_names() {
        for (number, outcome) in Outcome::ALL.into_iter().enumerate() {
            assert_eq!(outcome as usize, number);
            assert_eq!(Counts::from_iter([outcome, outcome]).of(outcome), 2);
        }
        let counts = Counts::from_iter([Outcome::Failed, Outcome::Done, Outcome::Done]);
        assert_eq!(counts.words(Lang::English), "2 done, 1 failed");
        assert_eq!(counts.words(Lang::Chinese), "2 次完成，1 次失败");
        assert_eq!(Counts::default().words(Lang::English), "none");
    }

    #[test]
    fn every_outcome_has_a_shape_of_its_own() {
        for (number, outcome) in Outcome::ALL.iter().enumerate() {
            for other in &Outcome::ALL[number + 1..] {
                assert_ne!(outcome.shape(), other.shape());
                assert_ne!(outcome.class(), other.class());
            }
        }
    }

    #[test]
    fn a_legend_names_shapes() {
        assert_snapshot!(legend([Outcome::Done], Lang::English).into_string(), @r#"<ul class="legend"><li><svg class="icon" viewBox="-7 -7 14 14" aria-hidden="true"><path class="o done" d="M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0"></path></svg>done</li></ul>"#);
    }
}
