use super::*;

fn describe_bytes(bytes: &[u8]) -> String {
    let failure = failure(bytes);
    assert_eq!(failure.class, FailureClass::NotAFeed, "{}", failure.detail);
    failure.detail
}

fn failure(bytes: &[u8]) -> Failure {
    let base = Url::parse("https://site.example/blog/").unwrap();
    let reading = almanack_core::source::reading::Reading::Feed;
    crate::feed::read(&reading, bytes, None, &base, jiff::Timestamp::UNIX_EPOCH).unwrap_err()
}

#[test]
fn ss_12_what_is_not_a_feed_is_described() {
    insta::assert_snapshot!(describe_bytes(b""), @"this is not a feed: the answer is empty");
    insta::assert_snapshot!(describe_bytes(b" \n"), @"this is not a feed: the answer is blank");
    insta::assert_snapshot!(describe_bytes(b"Service temporarily unavailable"), @"this is not a feed: it is plain text");
    insta::assert_snapshot!(describe_bytes(b"\x89PNG\r\n\x1a\n\0\0"), @"this is not a feed: it is a picture (PNG)");
    insta::assert_snapshot!(describe_bytes(b"\x01\x02\0\x03"), @"this is not a feed: it is a file, not text");
    insta::assert_snapshot!(describe_bytes(b"%PDF-1.7"), @"this is not a feed: it is a PDF document");
    insta::assert_snapshot!(describe_bytes(b"{\"items\": []}"), @"this is not a feed: it is JSON, which a custom source can read by paths");
    insta::assert_snapshot!(describe_bytes(b"[1, 2]"), @"this is not a feed: it is JSON, which a custom source can read by paths");
    insta::assert_snapshot!(describe_bytes(b"<urlset/>"), @"this is not a feed: it is a sitemap, which a custom source can read as one");
    insta::assert_snapshot!(describe_bytes(b"<opml version='2.0'/>"), @"this is not a feed: it is an OPML list of feeds, which can be imported");
    insta::assert_snapshot!(describe_bytes(b"<Error><Code>AccessDenied</Code></Error>"), @"this is not a feed: it is an error message in XML");
    insta::assert_snapshot!(describe_bytes(b"<svg/>"), @"this is not a feed: it is a picture (SVG)");
    insta::assert_snapshot!(describe_bytes(b"<invoice/>"), @"this is not a feed: it is XML, but its root is <invoice>");
    insta::assert_snapshot!(describe_bytes(b"<div>a piece of a page"), @"this is not a feed: it is XML, but its root is <div>");
    insta::assert_snapshot!(describe_bytes(b"<!DOCTYPE html><title> My \n blog </title><p>hello"), @"this is not a feed: it is a web page titled “My blog”");
    insta::assert_snapshot!(describe_bytes(b"<html><body>hello"), @"this is not a feed: it is a web page without a title");
    insta::assert_snapshot!(describe_bytes(b"<html><head><title>Blog</title><link rel='ALTERNATE' type='application/atom+xml' href='atom.xml'>"), @"this is not a feed: it is a web page titled “Blog”; its feed may be at https://site.example/blog/atom.xml");
}

#[test]
fn ss_12_a_login_page_instead_of_a_feed_is_reported() {
    let failure =
        failure(b"<!doctype html><title>Sign in</title><form><input type=password name=p></form>");
    assert_eq!(failure.class, FailureClass::Unauthorised);
    insta::assert_snapshot!(failure.detail, @"this is not a feed: it is a login page titled “Sign in”; without logging in there is nothing to read");
}
