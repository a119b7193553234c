use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, KOI8_R, SHIFT_JIS, WINDOWS_874, WINDOWS_1251, WINDOWS_1253, WINDOWS_1255,
    WINDOWS_1257,
};

use super::*;

const CHINESE: &str = "今天的新闻很多，明天也是。港口在早晨开放";
const TAIWANESE: &str = "今天的新聞很多，明天也是。港口在早晨開放";
const JAPANESE: &str = "港は朝に開き、フェリーは定刻に出発した。ニュースは毎日更新されます";
const KOREAN: &str = "항구는 아침에 문을 열고 여객선은 제시간에 떠났다";
const RUSSIAN: &str = "Порт открывает двери, и паромы уходят вовремя";
const GREEK: &str = "Το λιμάνι ανοίγει τις πύλες του και τα πλοία φεύγουν";
const HEBREW: &str = "הנמל פותח את שעריו והמעבורות יוצאות בזמן";
const FRENCH: &str = "Le port a été fermé dès l'aube, où les bateaux étaient amarrés";

/// Every encoding that feeds come in, under the name that they declare.
const ENCODINGS: [(&Encoding, &str, &str); 12] = [
    (GBK, "GBK", CHINESE),
    (GBK, "gb2312", CHINESE),
    (GBK, "gb18030", CHINESE),
    (BIG5, "Big5", TAIWANESE),
    (SHIFT_JIS, "Shift_JIS", JAPANESE),
    (EUC_JP, "EUC-JP", JAPANESE),
    (EUC_KR, "EUC-KR", KOREAN),
    (WINDOWS_1251, "windows-1251", RUSSIAN),
    (KOI8_R, "KOI8-R", RUSSIAN),
    (WINDOWS_1253, "windows-1253", GREEK),
    (WINDOWS_1255, "windows-1255", HEBREW),
    (WINDOWS_1252, "ISO-8859-1", FRENCH),
];

fn check(bytes: &[u8], content_type: Option<&str>, expected: &str, why: &str) {
    assert_eq!(decode(bytes, content_type), expected, "{why}");
}

fn xml(encoding: &str, text: &str) -> String {
    format!("<?xml version=\"1.0\" encoding=\"{encoding}\"?><a>{text}</a>")
}

fn encode(encoding: &'static Encoding, text: &str) -> Vec<u8> {
    let (bytes, _, had_errors) = encoding.encode(text);
    assert!(!had_errors, "{} cannot write {text}", encoding.name());
    bytes.into_owned()
}

/// A document in an encoding, whatever header and document declare, reads as written.
fn check_declared(encoding: &'static Encoding, header: &str, document: &str) {
    let content_type = format!("application/xml; charset={header}");
    let why = format!("{} as {header}: {document}", encoding.name());
    let bytes = encode(encoding, document);
    check(&bytes, Some(&content_type), document, &why);
}

#[test]
fn ss_19_a_header_of_utf_8_does_not_hide_what_the_document_declares() {
    for (encoding, name, text) in ENCODINGS {
        check_declared(encoding, "utf-8", &xml(name, text));
        check_declared(encoding, "utf-8", &xml(name, text).replace('"', "'"));
        let page = format!("<html><head><meta charset={name}></head>{text}");
        check_declared(encoding, "UTF-8", &page);
        let older =
            format!("<meta http-equiv=content-type content='text/html; charset={name}'><p>{text}");
        check_declared(encoding, "UTF-8", &older);
    }
}

#[test]
fn ss_19_a_document_that_claims_utf_8_does_not_hide_what_the_header_declares() {
    for (encoding, name, text) in ENCODINGS {
        check_declared(encoding, name, &xml("utf-8", text));
        check_declared(encoding, name, &format!("<a>{text}</a>"));
    }
}

#[test]
fn ss_19_a_servers_default_does_not_hide_what_the_document_declares() {
    for (encoding, name, text) in ENCODINGS {
        check_declared(encoding, "ISO-8859-1", &xml(name, text));
        check_declared(encoding, "us-ascii", &xml(name, text));
    }
}

#[test]
fn ss_19_of_two_declarations_that_can_be_read_the_bytes_decide() {
    for (encoding, one, another, text) in [
        (GBK, "GBK", "EUC-KR", CHINESE),
        (EUC_KR, "GBK", "EUC-KR", KOREAN),
        (BIG5, "GBK", "Big5", TAIWANESE),
        (EUC_JP, "EUC-JP", "EUC-KR", JAPANESE),
        (SHIFT_JIS, "Shift_JIS", "EUC-JP", JAPANESE),
        (WINDOWS_1251, "windows-1251", "windows-1252", RUSSIAN),
        (WINDOWS_1251, "windows-1251", "KOI8-R", RUSSIAN),
        (WINDOWS_1252, "windows-1251", "windows-1252", FRENCH),
        (WINDOWS_1253, "windows-1252", "windows-1253", GREEK),
    ] {
        check_declared(encoding, one, &xml(another, text));
        check_declared(encoding, another, &xml(one, text));
    }
}

#[test]
fn ss_19_what_nobody_declares_is_detected() {
    for (encoding, name, text) in ENCODINGS {
        let document = format!("<a>{text}</a>");
        let bytes = encode(encoding, &document);
        check(&bytes, None, &document, name);
        check(&bytes, Some("text/xml; charset=utf-8"), &document, name);
        let wrong = xml("utf-8", text);
        check(&encode(encoding, &wrong), None, &wrong, name);
    }
    for (encoding, declared, text) in [
        (WINDOWS_1251, "iso-8859-1", RUSSIAN),
        (SHIFT_JIS, "iso-8859-1", JAPANESE),
        (EUC_JP, "iso-8859-1", JAPANESE),
        (GBK, "windows-1252", CHINESE),
        (WINDOWS_1252, "windows-1251", FRENCH),
        (WINDOWS_1252, "Shift_JIS", FRENCH),
        (KOI8_R, "ISO-8859-2", RUSSIAN),
    ] {
        check_declared(encoding, declared, &xml(declared, text));
    }
}

#[test]
fn ss_19_the_country_is_a_hint_where_the_text_is_short() {
    for (host, encoding, text) in [
        ("gang.example.cn", GBK, "港口"),
        ("XINWEN.EXAMPLE.CN.", GBK, "新闻"),
        ("minato.example.jp", SHIFT_JIS, "港は朝"),
        ("zinios.example.lt", WINDOWS_1257, "žinios"),
        ("tha.example.th", WINDOWS_874, "ไม่"),
    ] {
        let bytes = encode(encoding, text);
        assert_ne!(decode(&bytes, None), text, "too short without a hint");
        assert_eq!(decode_from(Some(host), &bytes, None), text, "{host}");
    }
    for host in ["", ".", "127.0.0.1", "[::1]", "порт.рф", "a b", "xn--p1ai"] {
        let text = decode_from(Some(host), &encode(WINDOWS_1251, RUSSIAN), None);
        assert_eq!(text, RUSSIAN, "{host:?} is no country that says otherwise");
    }
}

#[test]
fn ss_19_a_few_western_characters_stay_western() {
    for text in [
        "naïve",
        "£5",
        "Œuvre",
        "«é»",
        "±",
        "ßß",
        "§§",
        "Crème brûlée",
        "Año",
        "créées",
        "100 €",
    ] {
        let document = format!("<a>{text}</a>");
        let bytes = encode(WINDOWS_1252, &document);
        check(&bytes, None, &document, "nothing declared");
        check(
            &bytes,
            Some("text/xml; charset=utf-8"),
            &document,
            "declared wrongly",
        );
        for host in [
            "site.example.tw",
            "site.example.jp",
            "site.example.kr",
            "site.example.ru",
        ] {
            let declared = Some("text/xml; charset=iso-8859-1");
            let read = decode_from(Some(host), &bytes, declared);
            assert_eq!(read, document, "declared, on {host}");
        }
    }
}

#[test]
fn ss_19_iso_2022_jp_is_read_by_its_escapes() {
    for (document, why) in [
        (xml("ISO-2022-JP", JAPANESE), "declared"),
        (xml("utf-8", JAPANESE), "declared wrongly"),
        (format!("<a>{JAPANESE}</a>"), "not declared"),
    ] {
        let bytes = encode(ISO_2022_JP, &document);
        assert!(bytes.is_ascii());
        for content_type in [
            None,
            Some("text/xml; charset=utf-8"),
            Some("text/xml; charset=iso-2022-jp"),
        ] {
            check(&bytes, content_type, &document, why);
        }
    }
    for text in [xml("iso-2022-jp", "plain"), xml("iso-2022-jp", JAPANESE)] {
        check(text.as_bytes(), None, &text, "declared, but it is UTF-8");
    }
    let other = xml("iso-2022-jp", JAPANESE);
    let bytes = encode(SHIFT_JIS, &other);
    check(&bytes, None, &other, "declared, but it is Shift_JIS");
    check(b"a \x1b[1mb", None, "a \x1b[1mb", "an escape of a terminal");
}

#[test]
fn ss_12_wrong_charset_does_not_lose_the_feed() {
    for (declared, text, why) in [
        ("utf-8", "né", "as declared"),
        ("iso-8859-1", "né", "a template's default"),
        ("windows-1251", "né", "a template's default"),
        ("gbk", CHINESE, "would be other characters, all valid"),
        (
            "utf-16",
            "né",
            "the declaration could not be read if it were true",
        ),
        ("klingon", "né", "an unknown name"),
    ] {
        let document = xml(declared, text);
        check(document.as_bytes(), None, &document, why);
        let header = format!("application/xml; charset={declared}");
        check(document.as_bytes(), Some(&header), &document, why);
    }
}

#[test]
fn what_is_declared_is_believed_where_the_bytes_allow_it() {
    for (encoding, name, text) in [
        (GBK, "GB2312", "联通"),
        (SHIFT_JIS, "shift_jis", "日本語"),
        (WINDOWS_1251, "windows-1251", "Привет"),
        (WINDOWS_1252, "ISO-8859-1", "né"),
    ] {
        let document = xml(name, text);
        check(
            &encode(encoding, &document),
            Some("text/xml"),
            &document,
            name,
        );
        let bare = format!("<a>{text}</a>");
        let header = format!("text/xml; Charset=\"{name}\"; q=1");
        check(&encode(encoding, &bare), Some(&header), &bare, name);
        let page = format!("<html><META charset='{name}'>{text}");
        check(&encode(encoding, &page), Some("text/html"), &page, name);
    }
}

#[test]
fn marks_and_two_byte_texts_are_recognised() {
    let utf16 = |text: &str| text.encode_utf16().collect::<Vec<_>>();
    let little: Vec<u8> = utf16("<a>né</a>")
        .into_iter()
        .flat_map(u16::to_le_bytes)
        .collect();
    let big: Vec<u8> = utf16("\u{feff}<a>né</a>")
        .into_iter()
        .flat_map(u16::to_be_bytes)
        .collect();
    check(&little, None, "<a>né</a>", "no mark");
    check(
        &big,
        Some("text/xml; charset=utf-8"),
        "<a>né</a>",
        "a mark wins",
    );
    check(
        b"\xef\xbb\xbf<a>",
        Some("x; charset=latin1"),
        "<a>",
        "a mark wins",
    );
}

#[test]
fn what_cannot_be_decoded_is_marked() {
    check(b"n\xe9", None, "né", "the web's old default");
    check("né été \u{e9}".as_bytes(), None, "né été é", "plain");
    check(
        b"n\xc3\xa9 \xc3\xa9 \xff",
        None,
        "né é \u{fffd}",
        "mostly UTF-8",
    );
    let mut broken = xml("windows-1251", RUSSIAN).into_bytes();
    broken.push(0xff);
    let expected = format!("{}\u{fffd}", xml("windows-1251", RUSSIAN));
    check(
        &broken,
        None,
        &expected,
        "mostly UTF-8, whatever it declares",
    );
    check(b"", None, "", "nothing");
}

#[test]
fn a_long_start_in_ascii_does_not_hide_the_rest_from_the_detector() {
    let document = format!("<a>{}</a><b>{RUSSIAN}</b>", "x".repeat(2 * DETECTED_BYTES));
    let bytes = encode(WINDOWS_1251, &document);
    check(&bytes, None, &document, "the first 64 KiB say nothing");
}
