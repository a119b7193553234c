//! Pages of editions.

use almanack_server::access::Access;
use almanack_testkit::edition_harness::{Call, InjectedFault};
use axum::http::Method;
use jiff::SignedDuration;

use crate::{
    browser::check_page,
    editions::{Newsstand, Stand, TODAY, pages::hostile},
    harness::World,
};

const LIST: &str = "/ui/editions";
const HERE: &str = "/ui/editions/2026-01-05";

fn at(act: &str) -> String {
    format!("{HERE}/{act}")
}

#[tokio::test]
async fn where_editions_are_not_configured_the_page_says_how() {
    let world = World::open();
    for page in [world.look(LIST).await, world.look_in_chinese(LIST).await] {
        assert_eq!(page.status, 200, "{}", page.body);
        check_page(&page);
        assert!(page.texts("pre")[0].contains("[edition]"));
    }
    let page = world.look(HERE).await;
    assert_eq!(page.status, 404);
    assert!(page.body.contains("editions are not configured"));
}

#[tokio::test]
async fn today_is_offered_before_it_has_begun_and_then_listed() {
    let stand = Newsstand::open().await;
    let page = stand.world.look(LIST).await;
    check_page(&page);
    let offered = page.attributes("section[aria-labelledby=first] form", "action");
    assert_eq!(offered, [at("run")]);
    let missing = stand.world.look(HERE).await;
    assert_eq!(missing.status, 404);
    check_page(&missing);
    stand.step().await;
    let page = stand.world.look(LIST).await;
    assert_eq!(page.texts("section[aria-labelledby=first]").len(), 0);
    let rows = page.texts("tr[data-row]");
    assert!(
        rows[0].starts_with("2026-01-05 today not started done list fetched current"),
        "{}",
        rows[0]
    );
    assert!(rows[0].contains("0 of 8"), "{}", rows[0]);
    assert_eq!(page.attributes("tr[data-row] a[data-open]", "href"), [HERE]);
}

#[tokio::test]
async fn an_edition_shows_everything_that_belongs_to_it() {
    let stand = Newsstand::published().await;
    for page in [
        stand.world.look(HERE).await,
        stand.world.look_in_chinese(HERE).await,
    ] {
        assert_eq!(page.status, 200, "{}", page.body);
        check_page(&page);
        assert_eq!(page.texts("tr[id^=story-]").len(), 8);
        assert_eq!(page.texts("tr[id^=batch-]").len(), 2);
        assert_eq!(
            page.texts("tr[id^=delivery-]").len(),
            3,
            "github, and two parts"
        );
    }
    let page = stand.world.look(HERE).await;
    let steps = page.texts("ol.steps li");
    assert_eq!(steps.len(), 5);
    assert!(steps[2].contains("2/2 batches"), "{}", steps[2]);
    let places = page.attributes("ul.grid a", "href");
    assert_eq!(places[7], "#story-8");
    let documents = page.attributes("section[aria-labelledby=document] a", "href");
    assert_eq!(documents[0], "/editions/2026-01-05");
    assert_eq!(documents[1], at("document?revision=1"));
    let document = stand.world.look(&documents[1]).await;
    assert_eq!(document.status, 200);
    check_page(&document);
    assert_eq!(document.texts("article h3").len(), 8);
    let none = stand.world.look(&at("document?revision=9")).await;
    assert_eq!(none.status, 404);
    let list = stand.world.look(LIST).await;
    let row = &list.texts("tr[data-row]")[0];
    assert!(row.contains("github confirmed telegram confirmed"), "{row}");
}

#[tokio::test]
async fn before_a_document_is_made_the_page_shows_what_it_would_be() {
    let stand = Newsstand::open().await;
    stand.step().await;
    stand.step().await;
    let page = stand.world.look(HERE).await;
    assert!(page.body.contains("This is a preview"), "{}", page.body);
    assert_eq!(page.texts("article h3").len(), 6, "the first batch");
    assert!(page.texts("main dl")[0].contains("1 of 2 batches"));
    assert_eq!(
        stand
            .editions
            .account(stand.editions.today())
            .await
            .unwrap()
            .edition
            .revision,
        0
    );
}

#[tokio::test]
async fn what_others_wrote_is_text_and_only_the_web_is_linked() {
    let stand = Stand {
        outside: hostile,
        ..Stand::default()
    };
    let stand = stand.open().await;
    for _ in 0..4 {
        stand.step().await;
    }
    for path in [
        HERE.to_owned(),
        at("document"),
        LIST.to_owned(),
        at("reset"),
    ] {
        let page = stand.world.look(&path).await;
        assert_eq!(page.status, 200, "{path}: {}", page.body);
        check_page(&page);
        for attack in [
            "<script>alert",
            "<img src=x",
            "href=\"javascript",
            "href=\"JaVa",
            "href=\"data:",
        ] {
            assert!(!page.body.contains(attack), "{path}: {attack}");
        }
    }
}

#[tokio::test]
async fn a_delivery_that_nobody_can_report_about_is_explained() {
    let stand = Newsstand::open().await;
    stand.news.decide(|call, _| match call {
        Call::Send(name, _) if name == "github" => InjectedFault::Lost,
        Call::Look(..) => {
            InjectedFault::Fails(almanack_core::edition::port::FailureClass::Transient)
        }
        _ => InjectedFault::Well,
    });
    for _ in 0..3 {
        stand.step().await;
    }
    let page = stand.world.look(HERE).await;
    let warnings = page.texts("section[aria-labelledby=deliveries] .warning");
    assert_eq!(warnings.len(), 1, "{}", page.body);
    assert!(
        warnings[0].contains("it may have arrived"),
        "{}",
        warnings[0]
    );
}

#[tokio::test]
async fn an_edition_is_queued_and_nobody_waits_for_it() {
    let stand = Newsstand::open().await;
    let answer = stand.world.fill(&at("run"), &[]).await;
    assert_eq!(answer.leads_to(), format!("{HERE}?did=queued"));
    let page = stand.world.look(answer.leads_to()).await;
    assert!(page.texts(".notice")[0].starts_with("Queued"));
    let task = stand
        .world
        .get("/api/v1/tasks/EDITION_RUN/edition:2026-01-05")
        .await;
    assert_eq!(task.json()["origin"], "ui:anonymous", "{}", task.body);
    assert_eq!(stand.news.calls(), [], "nothing was done yet");
    let published = Newsstand::published().await;
    let answer = published.world.fill(&at("run"), &[]).await;
    assert!(answer.leads_to().ends_with("?did=nothing"));
}

#[tokio::test]
async fn what_is_completed_is_published_after_a_question_that_counts() {
    let stand = Newsstand::open().await;
    assert_eq!(stand.world.look(&at("publish")).await.status, 404);
    stand.step().await;
    assert_eq!(
        stand.world.look(&at("publish")).await.status,
        409,
        "nothing is completed"
    );
    assert_eq!(stand.world.fill(&at("publish"), &[]).await.status, 409);
    stand.step().await;
    let question = stand.world.look(&at("publish")).await;
    assert!(
        question.texts("main p")[0].contains("the 6 completed stories"),
        "{}",
        question.body
    );
    assert!(question.texts("main p")[0].contains("leaves out 2"));
    let answer = stand.world.fill(&at("publish"), &[]).await;
    assert!(answer.leads_to().ends_with("?did=publishing"));
    let today = stand.editions.today();
    for _ in 0..100_000 {
        if stand.editions.account(today).await.unwrap().was_published() {
            break;
        }
        tokio::task::yield_now().await;
    }
    let page = stand.world.look(HERE).await;
    assert!(
        page.texts("main dl")[0].contains("published"),
        "{}",
        page.body
    );
    assert_eq!(
        page.texts("a[href$='/publish']").len(),
        0,
        "there is nothing to force any more"
    );
}

#[tokio::test]
async fn failed_stories_are_put_back_up_to_a_number() {
    let stand = Newsstand::open().await;
    stand.lose_titles();
    for _ in 0..3 {
        stand.step().await;
    }
    let page = stand.world.look(HERE).await;
    assert!(
        page.texts("tr[id^=story-]")[0].contains("failed"),
        "{}",
        page.body
    );
    for wrong in ["0", "9", "x"] {
        let answer = stand
            .world
            .fill(&at("retry"), &[("retries_max", wrong)])
            .await;
        assert_eq!(answer.status, 422, "{wrong}");
    }
    stand.world.clock.advance(SignedDuration::from_secs(1));
    let answer = stand.world.fill(&at("retry"), &[("retries_max", "")]).await;
    assert!(answer.leads_to().ends_with("?did=retried"));
    let again = stand
        .world
        .fill(&at("retry"), &[("retries_max", "1")])
        .await;
    assert!(again.leads_to().ends_with("?did=none"));
}

#[tokio::test]
async fn an_edition_begins_anew_after_a_question_that_says_what_is_lost() {
    let stand = Newsstand::published().await;
    let question = stand.world.look(&at("reset")).await;
    let seen_text = &question.texts("main p")[0];
    assert!(
        seen_text.contains("All 8 stories")
            && seen_text.contains("the 8 completed stories is lost"),
        "{seen_text}"
    );
    assert!(
        seen_text.contains("Readers keep the published document"),
        "{seen_text}"
    );
    let today = stand.editions.today();
    let before = stand.editions.account(today).await.unwrap();
    assert_eq!(before.counts().completed, 8, "it only asks");
    let answer = stand.world.fill(&at("reset"), &[]).await;
    assert!(answer.leads_to().ends_with("?did=reset"));
    let after = stand.editions.account(today).await.unwrap();
    assert_eq!((after.counts().pending, after.edition.revision), (8, 1));
}

#[tokio::test]
async fn nobody_acts_without_a_form_of_this_session_or_the_right_to() {
    let stand = Newsstand::published().await;
    let before = stand
        .editions
        .account(stand.editions.today())
        .await
        .unwrap();
    for act in ["run", "publish", "retry", "reset"] {
        assert_eq!(
            stand.world.fill_with("x", &at(act), &[]).await.status,
            403,
            "{act}"
        );
    }
    let after = stand
        .editions
        .account(stand.editions.today())
        .await
        .unwrap();
    assert_eq!(before, after);
    let stand = Stand {
        access: Access::Tokens,
        ..Stand::default()
    };
    let stand = stand.open().await;
    stand.step().await;
    let page = stand.ask(Method::GET, HERE, Some("read")).await;
    assert_eq!(page.status, 200, "{}", page.body);
    assert_eq!(page.texts("main form").len(), 0);
    let answer = stand.ask(Method::POST, &at("run"), Some("read")).await;
    assert_eq!(answer.status, 403);
}

#[tokio::test]
async fn days_that_are_none_are_reported() {
    let stand = Newsstand::open().await;
    for (path, status) in [
        ("/ui/editions/tomorrow", 422),
        ("/ui/editions/2030-01-01", 422),
        ("/ui/editions/2026-01-04", 404),
        ("/ui/editions?after=x", 422),
    ] {
        let page = stand.world.look(path).await;
        assert_eq!(page.status, status, "{path}");
        check_page(&page);
    }
    let page = stand.world.look(&format!("{LIST}?after={TODAY}")).await;
    assert_eq!(page.status, 200);
}

#[tokio::test]
async fn ed_41_what_a_destination_lacks_is_sent_again_or_skipped_on_its_page() {
    let stand = Newsstand::open().await;
    let form = format!("form[action='{}']", at("redeliver"));
    stand.refuse_at("telegram");
    while stand.step().await.after != almanack_core::edition::State::Aggregating {}
    let page = stand.world.look(HERE).await;
    check_page(&page);
    let offered = page.attributes(&format!("{form} option"), "value");
    assert_eq!(offered, ["telegram"], "github has it");
    let chosen = [("destination", "telegram"), ("part", ""), ("act", "resend")];
    let sent = stand.world.fill(&at("redeliver"), &chosen).await;
    assert_eq!(
        sent.header("location"),
        Some(at("x").replace("/x", "?did=resent").as_str())
    );
    let shown = stand.world.look(&format!("{HERE}?did=resent")).await;
    assert!(
        shown.body.contains("A node sends it again"),
        "{}",
        shown.body
    );
    let chosen = [("destination", "telegram"), ("act", "skip")];
    stand.world.fill(&at("redeliver"), &chosen).await;
    stand.step().await;
    let page = stand.world.look(HERE).await;
    assert_eq!(page.attributes(&form, "action").len(), 0, "nothing is left");
    assert!(page.body.contains("skipped by "), "{}", page.body);
}
