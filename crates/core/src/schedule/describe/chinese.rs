//! Simplified Chinese. Dates come before times, and the larger unit before the smaller.

use super::{Days, Shape, Time, name, runs};
use crate::schedule::{
    expression::Every,
    timetable::{DayRule, EVERY, Table},
};

const WEEKDAYS: [&str; 7] = ["周日", "周一", "周二", "周三", "周四", "周五", "周六"];
const NTH: [&str; 5] = ["一", "二", "三", "四", "五"];

pub(super) fn every(every: Every) -> String {
    let text = match every.in_units(["天", "小时", "分钟", "秒"]) {
        (1, name) => format!("每{name}"),
        (count, name) => format!("每 {count} {name}"),
    };
    match every.phase_s {
        0 => text,
        phase_s => format!("{text}（错后 {phase_s} 秒）"),
    }
}

pub(super) fn table(table: &Table) -> String {
    let time = table.time();
    let mut dates: Vec<String> = year_words(table).into_iter().collect();
    let months = month_words(table);
    let days = day_words(table, months.is_none());
    let daily = matches!(time, Time::At(_)) || months.is_some() || !dates.is_empty();
    let days = days.or_else(|| daily.then(|| "每天".to_owned()));
    dates.extend(match (months, days) {
        (Some(months), Some(days)) => Some(format!("{months}的{days}")),
        (months, days) => months.or(days),
    });
    dates.push(time_words(&time));
    dates.join(" ")
}

fn time_words(time: &Time) -> String {
    match time {
        Time::At(clocks) => {
            let clocks: Vec<String> = clocks.iter().map(ToString::to_string).collect();
            clocks.join("、")
        }
        Time::Pace {
            seconds,
            minutes,
            hours,
        } => pace_words(seconds, minutes, hours),
    }
}

fn pace_words(seconds: &Shape, minutes: &Shape, hours: &Shape) -> String {
    let zero = Shape::List(vec![0]);
    if let (true, Shape::Step(step)) = (*seconds == zero && *minutes == zero, hours) {
        return format!("每 {step} 小时");
    }
    let flows = matches!(minutes, Shape::All | Shape::Step(_));
    let hours = match hours {
        Shape::All if flows => String::new(),
        Shape::All => "每小时".to_owned(),
        Shape::Step(step) => format!("每 {step} 小时中"),
        Shape::Run(first, last) => format!("{first:02}:00 至 {last:02}:59 "),
        Shape::List(list) => format!("{} 点", numbers(list)),
    };
    hours + &minute_words(seconds, minutes)
}

fn minute_words(seconds: &Shape, minutes: &Shape) -> String {
    let on_the_minute = *seconds == Shape::List(vec![0]);
    let seconds = match seconds {
        Shape::All => "每秒".to_owned(),
        Shape::Step(step) => format!("每 {step} 秒"),
        Shape::Run(first, last) => format!("第 {first} 至 {last} 秒"),
        Shape::List(list) => format!("第 {} 秒", numbers(list)),
    };
    let minutes = match minutes {
        Shape::All if on_the_minute => "每分钟".to_owned(),
        Shape::All if seconds.starts_with('每') => String::new(),
        Shape::All => "每分钟".to_owned(),
        Shape::Step(step) => format!("每 {step} 分钟"),
        Shape::Run(first, last) => format!("第 {first} 至 {last} 分钟"),
        Shape::List(list) => format!("第 {} 分钟", numbers(list)),
    };
    match (on_the_minute, minutes.is_empty()) {
        (true, _) => minutes,
        (false, true) => seconds,
        (false, false) => format!("{minutes}的{seconds}"),
    }
}

fn day_words(table: &Table, monthly: bool) -> Option<String> {
    let days = table.days().map(|days| month_days(&days, monthly));
    let weekdays = table.has_weekdays().then(|| weekday_words(table, monthly));
    match (days, weekdays) {
        (Some(days), Some(weekdays)) if table.rule == DayRule::Either => {
            Some(format!("{days}或{weekdays}"))
        }
        _ if table.rule == DayRule::Either => Some("每天".to_owned()),
        (Some(days), Some(weekdays)) => Some(format!("{days}（须为{weekdays}）")),
        (days, weekdays) => days.or(weekdays),
    }
}

fn month_days(days: &Days, monthly: bool) -> String {
    let mut parts = Vec::new();
    if !days.plain.is_empty() {
        parts.push(format!("{} 日", numbers(&days.plain)));
    }
    for day in &days.nearest {
        parts.push(format!("离 {day} 日最近的周一至周五"));
    }
    if days.last_workday {
        parts.push("最后一个周一至周五".to_owned());
    }
    for before in &days.from_end {
        parts.push(match before {
            0 => "最后一天".to_owned(),
            before => format!("倒数第 {} 天", before + 1),
        });
    }
    let text = parts.join("、");
    match (monthly, text.starts_with(|c: char| c.is_ascii_digit())) {
        (true, true) => format!("每月 {text}"),
        (true, false) => format!("每月{text}"),
        (false, _) => text,
    }
}

fn weekday_words(table: &Table, monthly: bool) -> String {
    let every: Vec<u32> = super::values(table.weekday_group(EVERY)).collect();
    let mut parts = runs(&every, "至", &|day| name(&WEEKDAYS, day));
    let month = if monthly { "每月" } else { "" };
    for (nth, day) in table.nth_weekdays() {
        let day = name(&WEEKDAYS, day);
        parts.push(match nth.and_then(|nth| NTH.get(nth as usize - 1)) {
            Some(nth) => format!("{month}第{nth}个{day}"),
            None => format!("{month}最后一个{day}"),
        });
    }
    for nth in table.nth_workdays() {
        parts.push(match nth {
            Some(nth) => format!("{month}第 {nth} 个工作日"),
            None => format!("{month}最后一个工作日"),
        });
    }
    parts.join("、")
}

fn month_words(table: &Table) -> Option<String> {
    let months = runs(&table.some_months()?, "至", &|month| format!("{month} 月"));
    Some(months.join("、"))
}

fn year_words(table: &Table) -> Option<String> {
    let (years, last) = table.some_years(|first, last| match last - first {
        0 => format!("{first} 年"),
        _ => format!("{first} 至 {last} 年"),
    })?;
    let last = last.map_or(String::new(), |last| format!("…{last}"));
    Some(format!("{}{last}", years.join("、")))
}

fn numbers(values: &[u32]) -> String {
    runs(values, " 至 ", &|value| value.to_string()).join("、")
}
