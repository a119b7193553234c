use super::*;
use proptest::prelude::*;

/// Some 420 characters of an article about nothing of this.
const HARBOUR: &str = "The harbour was quiet that morning, and the first ferries left on time. \
    Fishermen mended their nets on the quay while the market opened its stalls. \
    By noon the council had voted to widen the old pier, a plan that had waited eleven years for its money. \
    Engineers expect the work to take two summers, and the ferries will keep running meanwhile. \
    No one in the cafés spoke about anything else for the rest of the day.";

/// Pages that are shown instead of an article.
const BLOCKS: &[(&str, &str)] = &[
    (
        "a bot check",
        "Just a moment...\n\nsite.example\n\nVerify you are human by completing the action below.\n\nsite.example needs to review the security of your connection before proceeding.\n\nRay ID: 8f2b6c1d2e3f4a5b\n\nPerformance & security by Cloudflare",
    ),
    (
        "an older bot check",
        "Checking your browser before accessing site.example.\nThis process is automatic. Your browser will redirect to your requested content shortly.\nPlease allow up to 5 seconds…",
    ),
    (
        "scripts and cookies",
        "Enable JavaScript and cookies to continue",
    ),
    (
        "blocked by the network",
        "You've been blocked by network security.\nTo continue, log in to your account or use your developer token\nIf you think you've been blocked by mistake, file a ticket below and we'll look into it.\nLog in\nFile a ticket",
    ),
    (
        "the same with a curled apostrophe",
        "You’ve been blocked by network security.\nIf you think you’ve been blocked by mistake, file a ticket below and we’ll look into it.",
    ),
    (
        "the shell of an application",
        "To use the Mastodon web application, please enable JavaScript. Alternatively, try one of the native apps for Mastodon for your platform.",
    ),
    (
        "another shell",
        "JavaScript is not available.\nWe've detected that JavaScript is disabled in this browser. Please enable JavaScript or switch to a supported browser to continue using the site. You can see a list of supported browsers in our Help Center.\nHelp Center\nTerms of Service Privacy Policy Cookie Policy Imprint Ads info © 2026 Corp.",
    ),
    (
        "the shortest shell",
        "You need to enable JavaScript to run this app.",
    ),
    (
        "a bundle of checks",
        "We've detected unusual activity from your computer network\nTo continue, please click the box below to let us know you're not a robot.\nWhy did this happen?\nPlease make sure your browser supports JavaScript and cookies and that you are not blocking them from loading. For more information you can review our Terms of Service and Cookie Policy.\nNeed Help?\nFor inquiries related to this message please contact our support team and provide the reference ID below.\nBlock reference ID: 3b1f",
    ),
    (
        "a search engine",
        "Our systems have detected unusual traffic from your computer network. This page checks to see if it's really you sending the requests, and not a robot. Why did this happen?\nIP address: 203.0.113.7\nTime: 2026-01-05T06:00:00Z\nURL: https://site.example/search",
    ),
    (
        "a gate of a cache",
        "Access Denied\nYou don't have permission to access \"http://site.example/news\" on this server.\nReference #18.2d3e1202.1767600000.1a2b3c4d\nhttps://errors.site.example/18.2d3e1202.1767600000.1a2b3c4d",
    ),
    (
        "an ad blocker's turn",
        "site.example\nPlease enable JS and disable any ad blocker",
    ),
    (
        "press and hold",
        "Before we continue...\nPress & Hold to confirm you are a human (and not a bot).\nReference ID 8c2f1b",
    ),
    (
        "a guard against crawlers",
        "Making sure you're not a bot!\nLoading...\nWhy am I seeing this?\nYou are seeing this because the administrator of this website has set up Anubis to protect the server against the scourge of AI companies aggressively scraping websites. This can and does cause downtime for the websites, which makes their resources inaccessible for everyone.\nAnubis is a compromise.\nSadly, you must enable JavaScript to get past this challenge.",
    ),
    (
        "a firewall",
        "Sorry, you have been blocked\nYou are unable to access site.example\nWhy have I been blocked?\nThis website is using a security service to protect itself from online attacks. The action you just performed triggered the security solution.\nCloudflare Ray ID: 8f2b6c1d2e3f4a5b • Your IP: 203.0.113.7",
    ),
    (
        "a login",
        "You must log in to continue.\nLog Into Facebook\nEmail or phone number\nPassword\nForgot account?",
    ),
    (
        "a login of colleagues",
        "Sign in to view more content\nCreate your free account or sign in to continue your search\nEmail or phone\nPassword\nForgot password?\nNew here? Join now\nBy clicking Continue to join or sign in, you agree to the User Agreement, Privacy Policy, and Cookie Policy.",
    ),
    (
        "a paywall",
        "Subscribe to continue reading\nBecome a paid subscriber to get access to the rest of this post and other exclusive content.\nAlready a subscriber? Sign in",
    ),
    (
        "a region",
        "Access denied. This content is not available in your region. If you believe this is a mistake, contact support.",
    ),
    (
        "a page that is gone",
        "404 Not Found\nThe page you are looking for may have been moved, had its name changed, or is temporarily unavailable.\nReturn to the home page or search the archive of our articles by date.",
    ),
    (
        "a check in Chinese",
        "安全验证\n请完成下方验证后继续操作，拖动滑块完成拼图。\n如有疑问请联系客服。",
    ),
    (
        "a login in Chinese",
        "请先登录\n登录后查看全文，没有账号？立即注册。",
    ),
    (
        "a service's error",
        "[reader] Error: Failed to goto https://site.example/: net::ERR_NAME_NOT_RESOLVED, the page could not be loaded within the time that was allowed for it, try again later or with another engine",
    ),
    (
        "a service's data",
        r#"{"data":null,"code":422,"name":"AssertionFailureError","status":42206,"message":"Failed to goto the page: it took longer than it may, and nothing of it can be shown to you now","readableMessage":"AssertionFailureError"}"#,
    ),
    (
        "a refusal to read by itself",
        "The sites robots.txt (https://site.example/robots.txt), specifies that autonomous fetching of this page is not allowed, <useragent>Fetcher</useragent>\n<url>https://site.example/a</url>\n<robots>\nUser-agent: *\nDisallow: /private and a hundred further lines that the site has written about everybody who comes along\n</robots>",
    ),
    (
        "another refusal",
        "According to its robots.txt, https://site.example/a does not allow autonomous fetching. Ask the user to open the page instead, or to paste what it says into this conversation.",
    ),
    ("nothing", ""),
    ("blanks", " \n\t\n "),
    ("too little", "Home About Contact © 2026"),
    ("too little in Chinese", "首页 关于我们 联系方式"),
    (
        "a title alone",
        "Harbour council votes to widen the old pier",
    ),
];

/// What is an article, whatever it is about.
const ARTICLES: &[(&str, &str)] = &[
    ("an article", HARBOUR),
    (
        "about a message",
        "“Access denied” is the most printed sentence in computing, and no one wrote it. \
        It was a label in a 1960s time-sharing manual, and every system since has copied it. \
        Researchers at two universities went through four decades of source code to find out why no one ever tried a kinder one. \
        Their answer is that the people who could have changed it never saw it.",
    ),
    (
        "about a bucket",
        "Last week our deploys began to fail with Access Denied. The bucket policy had not changed, the role had not changed, and the logs said 403 Forbidden for every object. \
        It took us two days to see that the account's default encryption key had been rotated, and that the new key's policy did not name the deploy role. \
        Adding one principal fixed everything. We now test key policies together with roles, and alert on the first failed upload instead of the hundredth.",
    ),
    (
        "about captchas",
        "For twenty years websites have asked us to prove that we are not robots. The captcha began as a research project at Carnegie Mellon, and its first customers were search engines that drowned in fake registrations. \
        Today machines solve the puzzles faster than people do, and every box that says “verify you are human” is mostly a collector of signals about the browser. \
        Accessibility groups have asked for its end since 2010. Regulators in three countries now listen, and the large vendors are quietly preparing for what comes next: tokens that a device signs on behalf of its owner.",
    ),
    (
        "about robots.txt",
        "The robots.txt file turned thirty this year. It was never a standard until 2022, no one enforces it, and yet most of the web's machines have kept to it. \
        Now that agents read pages for people, publishers ask whether autonomous fetching falls under it at all. Some say a person's agent is a browser; others say a reader that never looks at an advertisement is not a reader.",
    ),
    (
        "about a refusal",
        "Autonomous fetching and robots.txt do not go together well. My assistant said that it could not read my own weblog. \
        I had forbidden it myself, three years ago, in a file that I had forgotten, and so the tool did exactly as instructed. \
        The robots.txt said, in so many words, that autonomous fetching is not allowed. \
        What follows is a list of the agents that ask, those that do not, and how I changed my mind about both.",
    ),
    (
        "about scripts",
        "I browsed the web without scripts for a month. About one page in five asked me to enable JavaScript before it would show me anything, and most of these were articles that consist of nothing but text. \
        Banks were the worst, which surprised no one; libraries were the best, which surprised me. \
        At the end of the month I had read more, waited less and bought nothing at all, and I have kept the setting ever since.",
    ),
    (
        "about logins",
        "We removed our login wall in March, and here is what happened. Sign-ups fell by half in the first week and came back by the sixth. \
        People who had been asked to create a free account before they saw a single price now create one after they have found what they want. \
        Support tickets about forgotten passwords fell by a third. The only number that never recovered is the one we used to show investors.",
    ),
    (
        "a short one about logins",
        "The regulator fined the airline 2 million euros on Monday because customers had to log in to see their refunds. \
        The airline said that it would appeal. Its shares fell by one percent in Frankfurt.",
    ),
    (
        "a short one that quotes",
        "The forum changed its block page on Monday. Where visitors used to read “You’ve been blocked by network security”, \
        they now read \"Please log in to continue\" and nothing else. The company says that this is friendlier. \
        Moderators say that it hides what happened, and have begun to collect signatures.",
    ),
    (
        "that begins with a link",
        "[Home](https://site.example/) › Programming › Error: a history of the word\n\n\
        In the beginning programs said nothing when they failed. The first compilers printed a number, the second ones a number and a line. \
        Only when terminals became cheap did anybody think of words, and the first of them was Error, followed by a colon.",
    ),
    (
        "that ends with a wall",
        "The council voted on Tuesday to widen the old pier, eleven years after it was first proposed. Engineers expect the work to take two summers, during which the ferries will keep running from a floating stage that the town has rented from its neighbour across the bay. \
        Fishermen are glad about the deeper berths and angry about the price of them. The mayor, who had opposed the plan as a councillor, cast the deciding vote and then left the room without a word to anybody.\n\
        Already a subscriber? Sign in",
    ),
    (
        "in Chinese",
        "港务局周二宣布，老码头的扩建工程将于明年春天开工，工期预计两年，期间渡轮照常运行。渔民们对更深的泊位表示欢迎，却担心费用上涨。市长在投票后没有发表评论便离开了会场。",
    ),
    (
        "in Chinese, about a check",
        "安全验证为什么越来越难？本文回顾了验证码二十年的历史，从扭曲的字母到滑动拼图，再到看不见的行为分析。研究者发现，机器早已比人更擅长解题，而被挡在门外的往往是老人和视障用户。",
    ),
    (
        "in Japanese",
        "港の朝は静かだった。最初のフェリーは時刻通りに出航し、漁師たちは岸壁で網を繕っていた。昼までに議会は古い桟橋の拡張を可決した。工事には二年かかる見込みである。",
    ),
    (
        "code",
        "fn main() {\n    let name = std::env::args().nth(1);\n    match name {\n        Some(name) => println!(\"Hello, {name}\"),\n        None => eprintln!(\"usage: hello NAME\"),\n    }\n}\n\nThis is the whole program, and the rest of this page explains each of its lines.",
    ),
];

#[test]
fn ed_35_a_page_shown_instead_of_an_article_is_no_article() {
    for (why, text) in BLOCKS {
        let checked = check_article(text);
        let class = checked.as_ref().map_err(|failure| failure.class);
        assert_eq!(class, Err(FailureClass::Unusable), "{why}: {checked:?}");
    }
}

#[test]
fn ed_35_articles_pass_whatever_they_are_about() {
    for (why, text) in ARTICLES {
        assert!(
            check_article(text).is_ok(),
            "{why}: {:?}",
            check_article(text)
        );
    }
}

#[test]
fn ed_35_the_reason_says_what_is_shown() {
    let why = |text: &str| check_article(text).unwrap_err().detail;
    let reasons = [
        why(""),
        why("Home"),
        why("Enable JavaScript and cookies to continue"),
        why("[x] Error: no such page"),
        why(
            "The robots.txt of the site says that autonomous fetching of this page is not allowed.",
        ),
        why(&"x".repeat(TEXT_BYTES_MAX + 1)),
    ];
    insta::assert_snapshot!(reasons.join("\n"), @"
    the page has no text
    the page has too little text for an article
    the site shows a check or a login instead of the page
    the page could not be read: the site shows an error instead
    the site does not want to be read by programs
    the page is too large for an article
    ");
}

#[test]
fn ed_35_a_long_article_may_quote_all_of_them() {
    let quotes: Vec<&str> = BLOCKS.iter().map(|(_, text)| *text).collect();
    let article = format!("{HARBOUR}\n{}", quotes.join("\n"));
    assert!(article.chars().count() > BLOCK_CHARS_MAX);
    assert!(check_article(&article).is_ok());
}

#[test]
fn ed_35_articles_are_cut_between_characters() {
    let long = "日本語の文章。\n\n\n\n  \n".repeat(5000);
    let article = check_article(&long).unwrap();
    assert!(article.chars().count() <= ARTICLE_CHARS_MAX);
    assert!(article.chars().count() > ARTICLE_CHARS_MAX - 10);
    assert!(!article.contains("\n\n\n"));
    let noisy = HARBOUR.replace(' ', "\u{0} \r\u{7}");
    assert!(
        !check_article(&noisy)
            .unwrap()
            .contains(['\0', '\r', '\u{7}'])
    );
}

#[test]
fn what_is_quoted_does_not_count() {
    for (text, expected) in [
        ("it says “access denied” again", "it says  again"),
        ("it says \"no\", twice", "it says , twice"),
        ("an open \" mark", "an open \" mark"),
        ("two \"\nlines\"", "two \"\nlines\""),
        ("“no", "“no"),
        ("「不」好", "好"),
    ] {
        assert_eq!(sign::unquoted(text), expected);
    }
}

#[test]
fn sentences_end_where_people_end_them() {
    let text = "See robots.txt now. Really?!\nYes\n\n***\n是的。好";
    let sentences: Vec<&str> = sign::sentences(text).collect();
    assert_eq!(
        sentences,
        ["See robots.txt now.", "Really?!", "Yes", "是的。", "好"]
    );
}

proptest! {
    #[test]
    fn whatever_is_checked_is_bounded(text in "([a-z .!?\n\u{0}日é\\[\\]{}]{0,40}(access denied|please enable javascript)?){0,20}") {
        if let Ok(article) = check_article(&text) {
            prop_assert!(article.chars().count() <= ARTICLE_CHARS_MAX);
            prop_assert_eq!(check_article(&article), Ok(article.clone()), "checked twice");
        }
    }

    #[test]
    fn around_a_block_page_an_article_makes_it_one(at in 0_usize..BLOCKS.len()) {
        let (_, block) = BLOCKS[at];
        let article = format!("{}\n{block}", HARBOUR.repeat(8));
        prop_assert!(check_article(&article).is_ok());
    }
}
