//! What entries say, in five languages: enough words that titles differ, few enough to read.
//!
//! Titles matter to readers of feeds as the last resort of telling entries apart, and the letters
//! matter because feeds come in the charsets of their languages.

use serde::Serialize;

use crate::chance::Chance;

/// What a feed is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// English.
    English,
    /// Chinese, simplified.
    Chinese,
    /// Japanese.
    Japanese,
    /// Russian.
    Russian,
    /// German.
    German,
}

/// Who, does what, where or when; and what stands between them.
struct Words {
    who: [&'static str; 12],
    does: [&'static str; 12],
    detail: [&'static str; 12],
    space: &'static str,
}

const ENGLISH: Words = Words {
    who: [
        "The harbour",
        "A small team",
        "Research & Development",
        "The city council",
        "Volunteers",
        "An old bakery",
        "The observatory",
        "Night trains",
        "Two rivals",
        "The library",
        "A new lighthouse",
        "The orchestra",
    ],
    does: [
        "opens its doors",
        "changes the timetable",
        "finds a better way",
        "asks for patience",
        "counts the birds",
        "wins a prize",
        "repairs the bridge",
        "publishes its data",
        "moves north",
        "says “thank you”",
        "returns",
        "starts over",
    ],
    detail: [
        "before dawn",
        "after ten years",
        "in the rain",
        "for the first time",
        "without a plan",
        "near the coast",
        "in spring",
        "with 3 < 4 votes",
        "once again",
        "at half price",
        "against all odds",
        "this weekend",
    ],
    space: " ",
};

const CHINESE: Words = Words {
    who: [
        "港口",
        "小团队",
        "研究院",
        "市议会",
        "志愿者",
        "老面包店",
        "天文台",
        "夜班列车",
        "两家公司",
        "图书馆",
        "新灯塔",
        "乐团",
    ],
    does: [
        "正式开放",
        "调整时刻表",
        "找到新办法",
        "请求耐心等待",
        "统计候鸟",
        "获得奖项",
        "修复大桥",
        "公布数据",
        "迁往北方",
        "表示感谢",
        "重新回归",
        "从头开始",
    ],
    detail: [
        "在黎明之前",
        "十年之后",
        "冒着大雨",
        "尚属首次",
        "毫无计划",
        "靠近海岸",
        "在春天",
        "以微弱优势",
        "再一次",
        "半价进行",
        "出人意料",
        "就在本周末",
    ],
    space: "，",
};

const JAPANESE: Words = Words {
    who: [
        "港",
        "小さなチーム",
        "研究所",
        "市議会",
        "ボランティア",
        "古いパン屋",
        "天文台",
        "夜行列車",
        "二つの会社",
        "図書館",
        "新しい灯台",
        "楽団",
    ],
    does: [
        "が開館",
        "が時刻表を変更",
        "が新しい方法を発見",
        "が協力を要請",
        "が渡り鳥を調査",
        "が受賞",
        "が橋を修復",
        "がデータを公開",
        "が北へ移転",
        "が感謝を表明",
        "が復活",
        "が再出発",
    ],
    detail: [
        "夜明け前に",
        "十年ぶりに",
        "雨の中で",
        "初めて",
        "計画なしで",
        "海岸近くで",
        "春に",
        "僅差で",
        "もう一度",
        "半額で",
        "予想に反して",
        "今週末",
    ],
    space: "　",
};

const RUSSIAN: Words = Words {
    who: [
        "Порт",
        "Небольшая команда",
        "Институт",
        "Городской совет",
        "Хор",
        "Старая пекарня",
        "Обсерватория",
        "Ночной поезд",
        "Музей",
        "Библиотека",
        "Новый маяк",
        "Оркестр",
    ],
    does: [
        "открывает двери",
        "меняет расписание",
        "ищет новый путь",
        "просит терпения",
        "считает птиц",
        "получает приз",
        "чинит мост",
        "публикует данные",
        "едет на север",
        "говорит «спасибо»",
        "возвращается",
        "начинает сначала",
    ],
    detail: [
        "до рассвета",
        "через десять лет",
        "под дождём",
        "впервые",
        "без плана",
        "у берега",
        "весной",
        "с малым перевесом",
        "ещё раз",
        "за полцены",
        "вопреки всему",
        "в эти выходные",
    ],
    space: " ",
};

const GERMAN: Words = Words {
    who: [
        "Der Hafen",
        "Ein kleines Team",
        "Das Institut",
        "Der Stadtrat",
        "Der Chor",
        "Eine alte Bäckerei",
        "Die Sternwarte",
        "Der Nachtzug",
        "Das Museum",
        "Die Bücherei",
        "Der Leuchtturm",
        "Das Orchester",
    ],
    does: [
        "öffnet die Türen",
        "ändert den Fahrplan",
        "findet einen Weg",
        "bittet um Geduld",
        "zählt Vögel",
        "gewinnt",
        "repariert die Brücke",
        "veröffentlicht Daten",
        "zieht nach Norden",
        "sagt „Danke“",
        "kehrt zurück",
        "fängt von vorne an",
    ],
    detail: [
        "vor dem Morgengrauen",
        "nach zehn Jahren",
        "im Regen",
        "zum ersten Mal",
        "ohne Plan",
        "an der Küste",
        "im Frühling",
        "mit knapper Mehrheit",
        "schon wieder",
        "zum halben Preis",
        "gegen jede Erwartung",
        "am Wochenende",
    ],
    space: " ",
};

impl Language {
    /// As in `xml:lang`.
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh-CN",
            Self::Japanese => "ja",
            Self::Russian => "ru",
            Self::German => "de",
        }
    }

    /// A headline.
    pub fn title(self, chance: &mut Chance) -> String {
        let words = self.words();
        let mut word = |from: &[&'static str; 12]| chance.pick(from).copied().unwrap_or_default();
        let (who, does, detail) = (word(&words.who), word(&words.does), word(&words.detail));
        // Japanese joins the first two by itself.
        let joint = if self == Self::Japanese {
            ""
        } else {
            words.space
        };
        format!("{who}{joint}{does}{}{detail}", words.space)
    }

    /// Some sentences, as plain text.
    pub fn text(self, chance: &mut Chance) -> String {
        let stop = match self {
            Self::Chinese | Self::Japanese => "。",
            _ => ". ",
        };
        let mut text = String::new();
        for _ in 0..chance.between(1, 4) {
            text.push_str(&self.title(chance));
            text.push_str(stop);
        }
        text
    }

    fn words(self) -> &'static Words {
        match self {
            Self::English => &ENGLISH,
            Self::Chinese => &CHINESE,
            Self::Japanese => &JAPANESE,
            Self::Russian => &RUSSIAN,
            Self::German => &GERMAN,
        }
    }
}
