//! What stories, articles and comments say: drawn sentences that read like news about computers.
//!
//! Paragraphs are long and end in full stops, because extractors judge text by that; titles carry
//! `&`, `<` and quotes, because whoever forgets to escape them must be found out.

use crate::{chance::Chance, feeds::language::Language};

const WHO: [&str; 16] = [
    "A small database",
    "The new scheduler",
    "An open \"smart\" meter",
    "A compiler for spreadsheets",
    "The city's bus network",
    "R&D at a paper mill",
    "An amateur telescope",
    "A forgotten file format",
    "The kernel's oldest driver",
    "A library's card catalogue",
    "One engineer's garage",
    "A weather station",
    "The public archive",
    "A tiny web server",
    "An orbital camera",
    "The tide predictor",
];

const DOES: [&str; 16] = [
    "now runs",
    "was rewritten",
    "keeps time",
    "survives power cuts",
    "answers queries",
    "drops its cloud",
    "reads old tapes",
    "counts to a trillion",
    "finds its own bugs",
    "fits in a browser",
    "beats the benchmark",
    "goes open source",
    "saves a harbour",
    "loses a lawsuit",
    "learns to wait",
    "returns to analogue",
];

const HOW: [&str; 16] = [
    "in # lines of code",
    "with a < # ms budget",
    "after # days",
    "on a $# computer",
    "for # villages",
    "without any network",
    "since version #",
    "using # coins & a clock",
    "at # requests a second",
    "in # kilobytes",
    "by accident",
    "and why it matters",
    "on one core",
    "for the #th time",
    "despite # warnings",
    "(#)",
];

const OPENINGS: [&str; 12] = [
    "Nobody expected much when the first prototype was switched on",
    "The team had planned # weeks for the change",
    "According to the maintainers, the hardest part was deciding what to leave out",
    "Early measurements showed that # percent of the work was waiting",
    "The original authors had left a note in the margin of their notebook",
    "Most users will never notice the difference",
    "Over the winter the group rebuilt the measuring equipment from spare parts",
    "Two independent laboratories repeated the experiment # times",
    "The documentation had promised this behaviour for years",
    "What began as a weekend project now serves # towns along the coast",
    "A careful reading of the logs told another story",
    "The budget for the whole undertaking was below # euros",
];

const TURNS: [&str; 12] = [
    "yet the results were stable enough to be published",
    "and every failure since then has been recorded in public",
    "which explains why the old design was kept for so long",
    "so the next release will change the default",
    "because a clock that is wrong by # seconds is worse than none",
    "although the price of storage had fallen by half in the meantime",
    "and that is where the interesting trade-off begins",
    "but only after the queue had been made visible to everybody",
    "while the competing approach needed # times the memory",
    "even though the tests had passed on every machine they owned",
    "and the neighbours started to ask for copies of the plans",
    "as anybody can verify with the data they released",
];

const REMARKS: [&str; 12] = [
    "I ran something like this for # years and the backups were the hard part.",
    "The article buries the lede: it is the scheduling, not the storage.",
    "Does anyone know how this compares with the approach from # years ago?",
    "I don't think \"simple\" means what the author thinks it means.",
    "We tried it at work; it cut our bill by # percent & nobody noticed.",
    "If a < b then the second graph makes no sense to me.",
    "It's refreshing to see measurements with error bars.",
    "The licence is the real news here.",
    "My grandfather kept tide tables by hand, and they were just as accurate.",
    "This breaks as soon as two nodes disagree about the time.",
    "Previously discussed, with # comments, under another title.",
    "Great write-up, but the font hurts my eyes.",
];

/// Keeps one draw of a text with its number filled in.
fn filled(chance: &mut Chance, from: &[&'static str]) -> String {
    let text = chance.pick(from).copied().unwrap_or_default();
    let number = chance.between(2, 99).to_string();
    text.replace('#', &number)
}

/// A headline.
pub fn title(chance: &mut Chance) -> String {
    let (who, does, how) = (
        filled(chance, &WHO),
        filled(chance, &DOES),
        filled(chance, &HOW),
    );
    format!("{who} {does} {how}")
}

/// A sentence about the news.
fn sentence(chance: &mut Chance) -> String {
    let (opening, turn) = (filled(chance, &OPENINGS), filled(chance, &TURNS));
    format!("{opening}, {turn}.")
}

/// The paragraphs of an article.
pub fn paragraphs(language: Language, chance: &mut Chance) -> Vec<String> {
    let count = chance.between(5, 9);
    let paragraph = |_| match language {
        Language::English => {
            let sentences = chance.between(3, 5);
            let all: Vec<String> = (0..sentences).map(|_| sentence(chance)).collect();
            all.join(" ")
        }
        other => (0..4).map(|_| other.text(chance)).collect(),
    };
    (0..count).map(paragraph).collect()
}

/// The paragraphs of an article about being locked out: it says everything a block page says, and
/// is none.
pub fn about_blocking(chance: &mut Chance) -> Vec<String> {
    let topical = [
        "For a year the author collected every page that greeted a polite crawler with the words \
         \"Access Denied\". The collection holds thousands of them, and most were sent with the \
         status 200, as if refusing were an article.",
        "A file called robots.txt asks programs to stay away, and it was never meant to be more \
         than a request. Autonomous fetching by assistants has turned that courtesy into a wall: \
         sites now disallow everything and hope that nobody asks why.",
        "\"Please enable JavaScript\" and \"verify you are human\" are the two sentences that \
         appear most often. Neither tells the reader what went wrong, and a program that takes \
         them for news will summarise a locked door.",
    ];
    let mut all: Vec<String> = topical.map(str::to_owned).to_vec();
    all.extend(paragraphs(Language::English, chance));
    all
}

/// What somebody says about a story, paragraph by paragraph.
pub fn remarks(chance: &mut Chance) -> Vec<String> {
    let count = chance.between(1, 3);
    (0..count).map(|_| filled(chance, &REMARKS)).collect()
}

/// Somebody's name on the site.
pub fn author(chance: &mut Chance) -> String {
    const NAMES: [&str; 12] = [
        "tidewatcher",
        "pg_fan",
        "nightowl",
        "saltmarsh",
        "kernelpanic",
        "mulberry",
        "octant",
        "quietfox",
        "rivet",
        "sundial",
        "tern",
        "yarrow",
    ];
    format!("{}{}", filled(chance, &NAMES), chance.below(90) + 10)
}
