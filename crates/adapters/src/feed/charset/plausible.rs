//! Whether decoded text is one that people write.
//!
//! Every sequence of bytes is valid in an encoding of single bytes, so validity proves nothing
//! there. What gives a wrong one away is the company of its letters: no language writes whole words
//! in accented letters (`Ïîðò` is Порт), and none puts a Cyrillic, Greek, Hebrew or Arabic letter
//! into a word of Latin ones (`nй` is né).

/// Words of so many letters have one without an accent.
const ACCENTED_MAX: usize = 3;
/// One character in so many may be one that nobody types: publishers paste strange things.
const NOISE_SHARE: usize = 20;

/// What was counted of the characters beyond ASCII.
#[derive(Default)]
struct Count {
    letters: usize,
    odd_letters: usize,
    all: usize,
    noise: usize,
}

pub(super) fn is_plausible(text: &str) -> bool {
    let mut count = Count::default();
    for word in text.split(|char: char| !char.is_alphabetic()) {
        count.word(word);
    }
    for char in text.chars().filter(|char| !char.is_ascii()) {
        count.all += 1;
        count.noise += usize::from(is_noise(char));
    }
    count.odd_letters * 2 <= count.letters && count.noise * NOISE_SHARE <= count.all
}

impl Count {
    fn word(&mut self, word: &str) {
        let letters = word.chars().filter(|char| !char.is_ascii());
        let latin = letters.clone().filter(|char| is_accented(*char)).count();
        let foreign = letters.clone().filter(|char| is_other_alphabet(*char));
        let foreign = foreign.count();
        let all = letters.count();
        self.letters += all;
        if word.contains(|char: char| char.is_ascii_alphabetic()) {
            self.odd_letters += foreign;
        } else if latin == all && latin > ACCENTED_MAX {
            self.odd_letters += latin;
        }
    }
}

fn is_accented(char: char) -> bool {
    matches!(char, '\u{80}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
}

/// Alphabets with encodings of single bytes. Characters that are words stand beside Latin letters
/// in every text.
fn is_other_alphabet(char: char) -> bool {
    matches!(char, '\u{370}'..='\u{6ff}')
}

/// Control characters, and those that no standard assigns.
fn is_noise(char: char) -> bool {
    matches!(char, '\u{80}'..='\u{9f}' | '\u{e000}'..='\u{f8ff}')
}
