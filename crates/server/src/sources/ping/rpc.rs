//! The little of XML-RPC that pings need: a method and its texts, without a parser of XML. The call
//! is short, its form was never extended, and what is not understood is refused.

/// Most parameters that are looked at; `extendedPing` has five.
const PARAMETERS_MAX: usize = 5;

/// The addresses that a ping is about; `None` for another call.
pub(super) fn read(call: &str) -> Option<Vec<String>> {
    let (_, rest) = call.split_once("<methodName>")?;
    let (method, rest) = rest.split_once("</methodName>")?;
    if !matches!(
        method.trim(),
        "weblogUpdates.ping" | "weblogUpdates.extendedPing"
    ) {
        return None;
    }
    let texts = rest.split("<param>").skip(1).take(PARAMETERS_MAX).map(text);
    // The first is the weblog's name; a later one may be its tags.
    let is_web = |text: &String| text.starts_with("http://") || text.starts_with("https://");
    Some(texts.skip(1).filter(is_web).collect())
}

/// `<value><string>text</string></value>`, where the inner tag may be missing.
fn text(parameter: &str) -> String {
    let value = between(parameter, "<value>", "</value>").unwrap_or_default();
    let value = between(value, "<string>", "</string>").unwrap_or(value);
    let text = value.trim().replace("&lt;", "<").replace("&gt;", ">");
    let text = text.replace("&quot;", "\"").replace("&apos;", "'");
    text.replace("&amp;", "&")
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(open)?;
    rest.split_once(close).map(|(inner, _)| inner)
}

/// The answer to a ping. `message` is our own text, so it needs no escaping.
pub(super) fn answer(is_error: bool, message: &str) -> String {
    let error = i32::from(is_error);
    format!(
        "<?xml version=\"1.0\"?>\n<methodResponse><params><param><value><struct>\
         <member><name>flerror</name><value><boolean>{error}</boolean></value></member>\
         <member><name>message</name><value>{message}</value></member>\
         </struct></value></param></params></methodResponse>\n"
    )
}

/// The answer to another call.
pub(super) fn fault(message: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<methodResponse><fault><value><struct>\
         <member><name>faultCode</name><value><int>-32601</int></value></member>\
         <member><name>faultString</name><value><string>{message}</string></value></member>\
         </struct></value></fault></methodResponse>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(method: &str, parameters: &[&str]) -> String {
        let parameters = parameters.iter();
        let parameters = parameters.map(|it| format!("<param>\n <value>{it}</value></param>"));
        let parameters = parameters.collect::<Vec<_>>().concat();
        format!(
            "<?xml version=\"1.0\"?><methodCall><methodName> {method} </methodName>\
             <params>{parameters}</params></methodCall>"
        )
    }

    #[test]
    fn a_ping_names_addresses_and_nothing_else_is_understood() {
        let ping = "weblogUpdates.ping";
        let extended = "weblogUpdates.extendedPing";
        for (call, expected, why) in [
            (
                call(
                    ping,
                    &[
                        "A Weblog",
                        "<string>https://a.example/?b=1&amp;c=2</string>",
                    ],
                ),
                Some(vec!["https://a.example/?b=1&c=2"]),
                "the site",
            ),
            (
                call(
                    extended,
                    &[
                        "A",
                        "http://a.example/",
                        "",
                        "http://a.example/feed",
                        "tags|x",
                    ],
                ),
                Some(vec!["http://a.example/", "http://a.example/feed"]),
                "site and feed",
            ),
            (
                call(ping, &["https://a.example/"]),
                Some(vec![]),
                "only a name",
            ),
            (
                call(ping, &["A", "file:///etc"]),
                Some(vec![]),
                "no web address",
            ),
            (call("system.listMethods", &[]), None, "another method"),
            ("{}".to_owned(), None, "no call"),
            ("<methodName>weblogUpdates.ping".to_owned(), None, "cut off"),
        ] {
            let read = read(&call);
            let read = read.as_ref();
            let read = read.map(|all| all.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(read, expected, "{why}");
        }
    }
}
