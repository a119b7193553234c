//! What Telegram decides, without HTTP.

use super::*;

const CHANNEL: &str = "@tides";

fn chats() -> Chats {
    let mut chats = Chats::default();
    chats.add(Chat::channel(-1001, CHANNEL));
    chats
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_767_600_000 + second).unwrap()
}

fn send(chats: &mut Chats, text: &str, second: i64, most: Option<u32>) -> Result<i64, Refusal> {
    let text = Formatted::plain(text);
    let sent = chats.send(CHANNEL, text, at(second), most);
    sent.map(|(_, message)| message.message_id)
}

#[test]
fn a_minute_has_room_for_so_many_messages() {
    let mut chats = chats();
    let refused = |retry_after_s| Err(Refusal::Limited { retry_after_s });
    for (second, expected) in [
        (0, Ok(1)),
        (10, Ok(2)),
        (10, refused(50)),
        (59, refused(1)),
        (60, Ok(3)),
        (61, refused(9)),
        (70, Ok(4)),
    ] {
        let sent = send(&mut chats, "x", second, Some(2));
        assert_eq!(sent, expected, "at {second} s");
    }
    assert_eq!(send(&mut chats, "x", 70, None), Ok(5), "no limit");
    assert_eq!(send(&mut chats, "x", 70, Some(0)), refused(60), "no room");
}

#[test]
fn the_length_is_counted_in_utf16() {
    let mut chats = chats();
    let emoji = "😀".repeat(TEXT_UNITS_MAX / 2);
    assert_eq!(send(&mut chats, &emoji, 0, None), Ok(1));
    let more = format!("{emoji}x");
    assert_eq!(send(&mut chats, &more, 0, None), Err(Refusal::TooLong));
    let chinese = "潮".repeat(TEXT_UNITS_MAX);
    assert_eq!(send(&mut chats, &chinese, 0, None), Ok(2));
    assert_eq!(send(&mut chats, " \n ", 0, None), Err(Refusal::EmptyText));
}

#[test]
fn a_chat_is_known_by_id_and_by_name() {
    let mut chats = chats();
    send(&mut chats, "x", 0, None).unwrap();
    for name in ["-1001", "@tides", "@TIDES"] {
        assert_eq!(chats.messages(name).len(), 1, "{name}");
    }
    for name in ["1001", "tides", "@", "", "@winds"] {
        assert_eq!(chats.messages(name).len(), 0, "{name}");
    }
}

#[test]
fn deleted_messages_are_counted_but_not_seen() {
    let mut chats = chats();
    send(&mut chats, "x", 0, None).unwrap();
    assert_eq!(chats.delete(CHANNEL, 1), Ok(()));
    assert_eq!(chats.delete(CHANNEL, 1), Err(Refusal::NothingToDelete));
    assert_eq!((chats.sent(CHANNEL), chats.messages(CHANNEL).len()), (1, 0));
    assert_eq!(send(&mut chats, "y", 0, None), Ok(2), "ids never repeat");
}
