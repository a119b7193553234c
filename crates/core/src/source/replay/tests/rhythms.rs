//! Rhythms of sixteen real sources, and publication times drawn from them.
//!
//! A source is described by what was fitted to its recorded times, never by the times themselves:
//! how many entries it has a week, how much it publishes in each hour of the week and in each five
//! minutes of the hour, and how its gaps spread once those habits are taken out, which
//! distinguishes a steady source from one that comes in bursts. The sixteen lie at equal shares of
//! 173 sources sorted by how much they publish, from 28 entries a day to one a month.

use super::{Trace, hash_of};

/// Digits of the weights below, in ascending order.
const DIGITS: &str = "0123456789abcdefghijklmnopqrstuvwxyz";
/// Midnight before a Monday, UTC.
const MONDAY_S: i64 = 1_699_833_600;
/// Every cell of a week is five minutes.
const CELL_S: f64 = 300.0;
const CELLS: usize = 7 * 24 * 12;
const WEEK_S: f64 = 604_800.0;
/// What an hour has that no entry was seen in.
const LEAST: f64 = 0.02;

struct Rhythm {
    per_week: f64,
    /// A digit for each hour from Monday 00:00 UTC on.
    hours: &'static str,
    /// A digit for each five minutes of an hour.
    minutes: &'static str,
    /// The mean of each twentieth of the gaps, shortest first, in thousandths of the mean gap.
    gaps: [u32; 20],
}

/// Times of all of them: eight weeks, or as long as it takes to have seventy entries.
pub(super) fn traces() -> Vec<Trace> {
    let numbered = RHYTHMS.iter().enumerate();
    let drawn = numbered.map(|(number, rhythm)| {
        let source = format!("rhythm-{number}");
        let weeks = (70.0 / rhythm.per_week).max(8.0);
        Trace {
            published_s: rhythm.draw(&source, weeks),
            source,
        }
    });
    drawn.collect()
}

/// Times of more sources that publish twice or three times a month, fourteen weeks each.
pub(super) fn slow(count: usize) -> Vec<Trace> {
    let drawn = (0..count).map(|number| {
        let source = format!("slow-{number}");
        Trace {
            published_s: RHYTHMS[14].draw(&source, 14.0),
            source,
        }
    });
    drawn.collect()
}

impl Rhythm {
    /// Gaps are drawn in weeks of equal habit, and stretched onto the real week.
    fn draw(&self, source: &str, weeks: f64) -> Vec<i64> {
        let elapsed = self.elapsed();
        let mut times = Vec::new();
        let mut habit = 0.0;
        loop {
            habit += self.gap(source, times.len());
            if habit > weeks {
                return times;
            }
            let cell = elapsed.partition_point(|share| *share <= habit.fract()) - 1;
            let into = (habit.fract() - elapsed[cell]) / (elapsed[cell + 1] - elapsed[cell]);
            let into_s = (cell as f64 + into) * CELL_S;
            times.push(MONDAY_S + (habit.floor() * WEEK_S + into_s) as i64);
        }
    }

    /// The share of a week's entries before each cell.
    fn elapsed(&self) -> Vec<f64> {
        let weight = |digits: &str, at: usize| {
            let digit = DIGITS.find(&digits[at..=at]).unwrap();
            digit as f64 + LEAST
        };
        let cells =
            (0..CELLS).map(|cell| weight(self.hours, cell / 12) * weight(self.minutes, cell % 12));
        let cells: Vec<f64> = cells.collect();
        let whole: f64 = cells.iter().sum();
        let mut elapsed = vec![0.0];
        for cell in cells {
            elapsed.push(elapsed[elapsed.len() - 1] + cell / whole);
        }
        // Rounding must not leave the end of the week uncovered.
        elapsed[CELLS] = 1.0;
        elapsed
    }

    /// One of its gaps, by lot.
    fn gap(&self, source: &str, number: usize) -> f64 {
        let lot = hash_of(source, &number.to_string());
        let drawn = self.gaps[usize::try_from(lot % 20).unwrap()];
        f64::from(drawn) / 1_000.0 / self.per_week
    }
}

const RHYTHMS: [Rhythm; 16] = [
    Rhythm {
        per_week: 198.14,
        hours: "2dioebfjltjcedb31010000028hddbdkwzkdbjb5000000002anrdahikvkgaf64010000008edki9cdssmdfgb5100000014fglgaigyykdbc96000000002abbb8f9ccb68a9610000010266849a6be746b5201100000",
        minutes: "wrtyvuzuwuuq",
        gaps: [
            33, 76, 112, 145, 187, 234, 288, 352, 437, 544, 647, 769, 902, 1_069, 1_281, 1_469,
            1_771, 2_237, 2_843, 4_585,
        ],
    },
    Rhythm {
        per_week: 85.31,
        hours: "65ggd215379c84bfbcbbfpz779cbd11857ab86ahdgbbhnv877had106578c76afcddbhltbaafff217576ge6afgcgfhoy779cfg41658ae75afcjfhgnr846b69002245333453633446456bba211146655469d7aghb5",
        minutes: "za9979cbaaa8",
        gaps: [
            20, 55, 109, 172, 246, 320, 400, 484, 568, 661, 772, 898, 1_038, 1_172, 1_325, 1_509,
            1_752, 2_102, 2_609, 3_779,
        ],
    },
    Rhythm {
        per_week: 58.86,
        hours: "00czhimke5bfia752000000000bwkijie97gj94510000000008winhjg86fh86410000000006sjolkf79imc5310000000007phggfa8agjod440000000004pc755357djda920000000206e55222298631200000000",
        minutes: "zzvyuusywvzv",
        gaps: [
            15, 34, 47, 58, 72, 90, 112, 137, 170, 213, 274, 379, 525, 743, 1_051, 1_485, 2_021,
            2_660, 3_651, 6_253,
        ],
    },
    Rhythm {
        per_week: 39.54,
        hours: "5jfeaiimtvb67662000001003hhd9hnjkk996774000000005mhhdkpmqt544451100000005umcaghhuua47876000000004osf9jiqrza55a85000000007fedb8baeh544662000000015hdcbcebcg63244200000000",
        minutes: "tuustzxqtwwv",
        gaps: [
            5, 21, 38, 55, 75, 103, 142, 182, 228, 269, 316, 368, 433, 531, 643, 779, 958, 1_384,
            2_278, 11_149,
        ],
    },
    Rhythm {
        per_week: 31.82,
        hours: "zkfja9cf68821000000000jwrkcibaab9a711000000001fqsjchdcabbda21000000001jvuocle89b89931000000001jmtlaicb687771310000000058721234242432100000000012a5484358473400000000008e",
        minutes: "zsmrlntjtumf",
        gaps: [
            55, 140, 203, 263, 310, 358, 408, 460, 524, 601, 690, 790, 906, 1_029, 1_203, 1_425,
            1_648, 1_939, 2_441, 4_579,
        ],
    },
    Rhythm {
        per_week: 20.55,
        hours: "2200000000001csmnmkknhh53200000000001hsptmnorjg72200001000001ftnslmrsgj84200000000001hsovnnpxji55310000000001hzyrsortig612000000000004c787787471110000000000038564565461",
        minutes: "zllpsmnjjtnx",
        gaps: [
            41, 141, 221, 274, 341, 420, 512, 572, 662, 740, 821, 915, 1_003, 1_097, 1_213, 1_383,
            1_573, 1_821, 2_272, 3_881,
        ],
    },
    Rhythm {
        per_week: 16.44,
        hours: "6db52000000013595865688bagf74000000016786d998c8fetzc700000004abfbhfcdhcnevk850000000259b8dda8b9gbki83000000025cb8db7dbaf9fe630000000258a5a968a8eaif830000000246889879b7g",
        minutes: "ztsjmqoqsjmm",
        gaps: [
            1, 5, 10, 25, 63, 109, 145, 180, 215, 245, 287, 341, 397, 459, 538, 616, 720, 916,
            1_377, 13_210,
        ],
    },
    Rhythm {
        per_week: 13.1,
        hours: "b53211000001669cfihfhchbeb43341000038fglsxptznkhhb44321000038cikstutttnejc63321000039fgmtxsyytpgfa55221000027cgosurqvnng66211100000124569bacb766441210000001234667667654",
        minutes: "cqtnrgokpjzg",
        gaps: [
            1, 3, 11, 50, 124, 204, 275, 352, 434, 510, 602, 707, 922, 1_162, 1_450, 1_661, 1_902,
            2_251, 2_729, 4_557,
        ],
    },
    Rhythm {
        per_week: 10.41,
        hours: "655421000001499aecjeda97a9a6310000118hhhhjnrlgdbcbca410000128mnimsuyvjggddhb41000012aookqrvzxqjf89b6420000018ehejlotjfc93344100000002556567b7553111110000000133223444322",
        minutes: "qszlvjrnprru",
        gaps: [
            0, 1, 7, 15, 33, 60, 98, 152, 210, 305, 448, 584, 770, 945, 1_127, 1_601, 2_019, 2_479,
            3_474, 5_671,
        ],
    },
    Rhythm {
        per_week: 7.47,
        hours: "djc6310000138beddchkeccfhlh962000014aijiedkolehgfgd731000014achdebjmhedfpspb52000017empmmjuzqknpkmj943000015cikjgenrlgjk7763110000023685558a7556mqlb62000017fjslhjsxolno",
        minutes: "uowkuklzoiun",
        gaps: [
            11, 53, 97, 144, 202, 238, 308, 413, 522, 651, 803, 890, 964, 1_069, 1_192, 1_435,
            1_762, 2_216, 2_825, 4_073,
        ],
    },
    Rhythm {
        per_week: 5.78,
        hours: "9fifciwre7222110000000047ccb9fnhb511110000000002adifdkrnf522321000000003bghjdmvsg723211000000004ejklemzqj732221000000004000000000000000000000000112111221100000000000000",
        minutes: "z54566b67656",
        gaps: [
            14, 35, 58, 102, 139, 183, 238, 345, 445, 531, 611, 727, 859, 1_046, 1_258, 1_458,
            1_839, 2_346, 2_815, 4_774,
        ],
    },
    Rhythm {
        per_week: 3.56,
        hours: "00000123222574135332211000000123222463124322211000000233233585134433211000001366445af83687554211100015aa889lzg5agda97432000001222224631233232110000001332236852354332110",
        minutes: "z8989933a883",
        gaps: [
            79, 197, 255, 277, 294, 387, 454, 501, 579, 677, 768, 900, 1_030, 1_080, 1_215, 1_480,
            1_772, 2_173, 2_573, 3_004,
        ],
    },
    Rhythm {
        per_week: 1.0,
        hours: "15a7216cd8201221111100003eoj62gzym713553234200003dni52ewvl613443234200001477215ab7201111111100001598216cd8201221111100001486215aa720122111210000000000000000000000000000",
        minutes: "damggadmgmzd",
        gaps: [
            1, 2, 3, 3, 6, 7, 9, 10, 16, 22, 54, 146, 202, 771, 928, 1_299, 1_463, 1_557, 3_107,
            8_771,
        ],
    },
    Rhythm {
        per_week: 0.99,
        hours: "3cmj73dpzqb598521000000029ie52ajpk847642000000002aif53alqm947742000000002aif63ampm948742000000002ahe529jpm8476320000000002221012331111000000000014752148a831221100000000",
        minutes: "zpimkicmifuk",
        gaps: [
            273, 460, 546, 634, 698, 756, 807, 851, 893, 917, 960, 1_046, 1_100, 1_154, 1_196,
            1_265, 1_332, 1_400, 1_545, 1_972,
        ],
    },
    Rhythm {
        per_week: 0.61,
        hours: "fd79a414bkoecnsmklkddc9ab84662136bd87dgdacb99767kh89b415dnrhfpzrlpmhhfaca96562137dgc8djgcdc99866dc677315agicahnifhgbdb98a94552137bd87dhebca89756773452026aa75adc89866845",
        minutes: "umguzgjrdowb",
        gaps: [
            16, 50, 86, 161, 191, 259, 308, 372, 420, 505, 560, 682, 865, 978, 1_285, 1_712, 1_942,
            2_225, 2_850, 4_106,
        ],
    },
    Rhythm {
        per_week: 0.24,
        hours: "23599325559a89ed768532004bdom96dcdnqnpzwjfje7410258dd53977cfdelkb9a74210246ab43766bcbdgga7964200258de64887dhefmlc9c85210268ed54897didhlkcac84210258ef54a77ggdglkc9b94310",
        minutes: "nnzwiiqqfnqw",
        gaps: [
            2, 20, 41, 71, 90, 126, 147, 190, 233, 312, 378, 493, 647, 784, 1_005, 1_362, 1_685,
            2_184, 3_251, 6_318,
        ],
    },
];
