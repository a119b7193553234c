//! `[edition.caps]`: how much models may cost an edition in a day and in a month (ED-44).

use almanack_core::edition::allowance::{Caps, Money, Price};

use super::{super::prelude::*, Model};

const SECTION: &str = CapKeys::NAME;
/// More than anybody pays for, and far from what a database counts to.
const TOKENS_MAX: u64 = 1_000_000_000_000;
sections! { CapKeys }

settings! {
    /// How much models may cost the editions of a name; what does not fit is written without a model.
    struct CapKeys in "edition.caps" {
        /// Tokens of a day, read and written together.
        /// 每日令牌数上限（输入与输出合计）。
        tokens_per_day: Option<u64> = count(1..=TOKENS_MAX).unset("(no cap)");
        /// Tokens of a calendar month.
        /// 每个自然月的令牌数上限。
        tokens_per_month: Option<u64> = count(1..=TOKENS_MAX).unset("(no cap)");
        /// Cost of a day, like `"0.50"`, in the currency of the prices of `edition.model`.
        /// 每日费用上限，如 `"0.50"`，货币与 `edition.model` 的价格一致。
        money_per_day: Option<Money> = text_as(money).unset("(no cap)");
        /// Cost of a calendar month, like `"10"`.
        /// 每个自然月的费用上限，如 `"10"`。
        money_per_month: Option<Money> = text_as(money).unset("(no cap)");
    }
}

settings! {
    /// What a model costs.
    pub(super) struct PriceKeys {
        /// Price of a million tokens that the model reads, like `"0.27"`, in any one currency.
        /// 模型读取每百万令牌的价格，如 `"0.27"`，货币自定但须统一。
        price_in: Option<Money> = text_as(money).unset("(not counted)");
        /// Price of a million tokens that the model writes.
        /// 模型写出每百万令牌的价格。
        price_out: Option<Money> = text_as(money).unset("(not counted)");
    }
}

impl Show for Money {
    fn show(&self) -> String {
        format!("\"{self}\"")
    }
}

fn money(text: &str) -> Read<Money> {
    let what = || format!("`{text}` is not an amount of money up to {}", Money::MAX);
    Money::parse(text)
        .ok_or_else(|| Problem::new(what(), "write a decimal number in quotes, like \"0.27\""))
}

impl PriceKeys {
    /// The price, if both directions have one; half of it is refused.
    pub(super) fn price(&self, reader: &mut Reader<'_>, section: &'static str) -> Option<Price> {
        let missing = match (self.price_in, self.price_out) {
            (Some(input), Some(output)) => return Some(Price { input, output }),
            (None, None) => return None,
            (Some(_), None) => "price_out",
            (None, Some(_)) => "price_in",
        };
        let what = format!("{section}.{missing} is missing: a price has both directions");
        let hint = "write \"0\" for what costs nothing";
        reader.refuse(what, KeyPath::plain(section, missing), hint);
        None
    }
}

/// The caps; contradictory ones and money without a price are refused.
pub(super) fn read(reader: &mut Reader<'_>, models: &[Model]) -> Caps {
    let keys = CapKeys::read(reader);
    let caps = Caps {
        tokens_per_day: keys.tokens_per_day,
        tokens_per_month: keys.tokens_per_month,
        money_per_day: keys.money_per_day,
        money_per_month: keys.money_per_month,
    };
    let exceeds = |day: Option<u64>, month: Option<u64>| day.zip(month).is_some_and(|(d, m)| d > m);
    let micros = |money: Option<Money>| money.map(|money| money.0);
    let money = (micros(caps.money_per_day), micros(caps.money_per_month));
    for (what, is_wrong) in [
        (
            "tokens_per_day",
            exceeds(caps.tokens_per_day, caps.tokens_per_month),
        ),
        ("money_per_day", exceeds(money.0, money.1)),
    ] {
        if is_wrong {
            let text = format!("edition.caps.{what} is more than the cap of a month");
            reader.refuse(
                text,
                KeyPath::plain(SECTION, what),
                "make it at most that of a month",
            );
        }
    }
    let limited = [
        ("money_per_day", caps.money_per_day),
        ("money_per_month", caps.money_per_month),
    ];
    let limited = limited.into_iter().find(|(_, cap)| cap.is_some());
    if let Some((name, _)) = limited
        && let Some(model) = models.iter().find(|model| model.price.is_none())
    {
        let what = format!(
            "edition.caps.{name} needs the price of the model `{}`",
            model.model
        );
        let hint = "set price_in and price_out beside its name, \"0\" for one that costs nothing";
        reader.refuse(what, KeyPath::plain(SECTION, name), hint);
    }
    caps
}
