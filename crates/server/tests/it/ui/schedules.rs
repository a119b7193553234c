//! Pages of schedules.

use almanack_core::{finish::Outcome, plan::Origin, store::TokenStore, token::Scope};
use almanack_server::access::REMEMBERED_FOR;
use almanack_testkit::fixture::at;

use super::reading::{
    all, attributes, check_structure, fill, fill_as, form_key, in_chinese, words,
};
use super::tasks::follow;
use crate::{
    access::made,
    harness::{World, with},
    schedules::{HOURLY, NIGHTLY, in_file},
};
use axum::http::Method;

const HOUR: i64 = 3_600;
const PAGE: &str = "/ui/schedules/nightly";

async fn world() -> World {
    let world = World::open();
    assert_eq!(world.put(NIGHTLY, HOURLY).await.status, 201);
    world
}

/// Two slots fired, of which one went well and one did not, then a pause of two.
async fn lived() -> World {
    let world = world().await;
    for (hour, outcome) in [
        (1, Outcome::Done { detail: None }),
        (
            2,
            Outcome::GiveUp {
                error: "<script>alert(1)</script>".to_owned(),
            },
        ),
    ] {
        world.plan_at(at(hour * HOUR)).await;
        let task = world.claim(hour).await;
        world.clock.set(at(hour * HOUR + 90));
        world.end(&task, &outcome).await;
    }
    world
        .post(&format!("{NIGHTLY}/pause"), r#"{"note":"a <b> holiday"}"#)
        .await;
    world.clock.set(at(4 * HOUR + 60));
    world.post(&format!("{NIGHTLY}/resume"), "").await;
    world
}

#[tokio::test]
async fn the_list_reports_what_schedules_mean_do_and_did() {
    let world = lived().await;
    let page = world.get("/ui/schedules").await;
    assert_eq!(page.status, 200, "{}", page.body);
    check_structure(&page);
    let row = all(&page, "tr[data-row]").concat();
    for part in [
        "nightly",
        "active",
        "every hour",
        "0 * * * * UTC",
        "13:00:00 UTC",
        "1 h",
        "API and dashboard",
    ] {
        assert!(row.contains(part), "{part} in {row}");
    }
    let pictures = attributes(&page, "tr[data-row] svg", "aria-label");
    let text = "Last slots of nightly: 1 of 4 done, 2 skipped, 1 failed";
    assert_eq!(pictures, [text]);
    assert_eq!(
        attributes(&page, "tr[data-row] a[data-open]", "href"),
        [PAGE]
    );
    let chinese = in_chinese(&world, "/ui/schedules").await;
    assert!(words(&chinese).contains("每小时"), "{}", words(&chinese));
    assert!(words(&chinese).contains("启用"));
}

#[tokio::test]
async fn lists_are_filtered_searched_and_paged() {
    let world = World::open();
    for number in 0..60 {
        let path = format!("/api/v1/schedules/s{number:02}");
        assert_eq!(world.put(&path, HOURLY).await.status, 201);
    }
    in_file(&world, "from-file", Origin::File).await;
    let names = async |path: &str| {
        let page = world.get(path).await;
        assert_eq!(page.status, 200, "{}", page.body);
        (
            all(&page, "tr[data-row] th a"),
            attributes(&page, "nav.pager a[rel=next]", "href"),
        )
    };
    let (first, more) = names("/ui/schedules").await;
    assert_eq!(
        (first.len(), first[0].as_str(), more.len()),
        (25, "from-file", 1)
    );
    let (second, more) = names(&more[0]).await;
    assert_eq!((second.len(), second[0].as_str()), (25, "s24"));
    let (third, more) = names(&more[0]).await;
    assert_eq!((third.len(), more.len()), (11, 0));
    assert_eq!(names("/ui/schedules?origin=file").await.0, ["from-file"]);
    assert_eq!(names("/ui/schedules?q=S41").await.0, ["s41"]);
    let (found, more) = names("/ui/schedules?q=example.org").await;
    assert_eq!(
        (found.len(), more.len()),
        (25, 1),
        "the target is searched too"
    );
    assert!(more[0].contains("q=example.org"), "{more:?}");
    assert_eq!(
        names("/ui/schedules?state=paused").await.0,
        Vec::<String>::new()
    );
    assert_eq!(world.get("/ui/schedules?state=asleep").await.status, 422);
}

#[tokio::test]
async fn a_schedule_is_reported_in_full_and_nothing_of_others_is_markup() {
    let world = lived().await;
    let page = world.get(PAGE).await;
    assert_eq!(page.status, 200, "{}", page.body);
    check_structure(&page);
    assert!(!page.body.contains("<script>alert") && !page.body.contains("a <b> holiday"));
    let text = words(&page);
    for part in [
        "the schedule was paused",
        "by anonymous: a <b> holiday",
        "2 slots",
        "Only the latest missed slot fires",
        "Next 50 times",
        "POST https://example.org/hook",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(all(&page, "#times tbody tr").len(), 50);
    let firings = attributes(&page, "#slots td a", "href");
    assert!(
        firings.contains(&"/ui/tasks/DISPATCH/schedule:nightly%402026-01-05T09:00:00Z".to_owned()),
        "{firings:?}"
    );
    let chinese = words(&in_chinese(&world, PAGE).await);
    for part in ["日程处于暂停", "时点台账", "每小时", "接下来 50 次"] {
        assert!(chinese.contains(part), "{part} in {chinese}");
    }
    assert_eq!(world.get("/ui/schedules/unknown").await.status, 404);
}

#[tokio::test]
async fn why_is_answered_as_by_the_command() {
    let world = lived().await;
    let asked = world.get(&format!("{PAGE}?at=2026-01-05T11:00:00Z")).await;
    let answer = all(&asked, ".answer p").concat();
    assert!(
        answer.contains("was skipped: the schedule was paused by anonymous"),
        "{answer}"
    );
    let clock = world
        .get(&format!(
            "{PAGE}?clock=2026-01-05T12:00&zone=Europe%2FBerlin"
        ))
        .await;
    assert!(
        all(&clock, ".answer p")
            .concat()
            .contains("2026-01-05T11:00:00Z was skipped")
    );
    let twice = world
        .get(&format!(
            "{PAGE}?clock=2026-10-25T02:30&zone=Europe%2FBerlin"
        ))
        .await;
    assert_eq!(
        attributes(&twice, "section ul li a[href*='at=']", "href").len(),
        2
    );
    let nonsense = world.get(&format!("{PAGE}?clock=tomorrow&zone=Mars")).await;
    assert_eq!(nonsense.status, 200);
    assert!(
        words(&nonsense).contains("Unknown time zone"),
        "{}",
        words(&nonsense)
    );
}

#[tokio::test]
async fn a_schedule_is_paused_resumed_and_fired_by_forms() {
    let world = world().await;
    let state = async || world.get(NIGHTLY).await.json();
    let past = [("until", "2026-01-05T07:00"), ("zone", "UTC")];
    assert_eq!(
        fill(&world, &format!("{PAGE}/pause"), &past).await.status,
        422
    );
    assert_eq!(state().await["state"], "active");
    let fields = [
        ("note", "holiday"),
        ("until", "2026-01-05T13:00"),
        ("zone", "Europe/Berlin"),
    ];
    let paused = fill(&world, &format!("{PAGE}/pause"), &fields).await;
    let confirmed = follow(&world, &paused).await;
    assert_eq!(all(&confirmed, ".notice"), ["Schedule paused.Undo"]);
    let shown = state().await;
    assert_eq!(shown["paused"]["until"], "2026-01-05T12:00:00Z");
    assert_eq!(shown["paused"]["note"], "holiday");
    let page = world.get(&format!("{PAGE}?did=paused")).await;
    assert_eq!(all(&page, ".notice"), ["Schedule paused."]);
    assert!(all(&world.get(&format!("{PAGE}?did=you+won")).await, ".notice").is_empty());
    assert_eq!(
        fill(&world, &format!("{PAGE}/resume"), &[]).await.status,
        303
    );
    assert_eq!(state().await["state"], "active");
    assert_eq!(fill(&world, &format!("{PAGE}/fire"), &[]).await.status, 303);
    let asked = fill(&world, &format!("{PAGE}/fire"), &[]).await;
    assert_eq!(asked.status, 409);
    assert_eq!(
        attributes(&asked, "main input[name=force]", "value"),
        ["yes"]
    );
    world.clock.set(at(5));
    assert_eq!(
        fill(&world, &format!("{PAGE}/fire"), &[("force", "yes")])
            .await
            .status,
        303
    );
    assert_eq!(world.rows().await.len(), 2);
}

#[tokio::test]
async fn removing_asks_first_and_names_what_goes() {
    let world = world().await;
    let asked = world.get(&format!("{PAGE}/remove")).await;
    assert!(
        words(&asked).contains("Removes the schedule"),
        "{}",
        words(&asked)
    );
    let stale = fill(&world, &format!("{PAGE}/remove"), &[("revision", "7")]).await;
    assert_eq!(stale.status, 412, "it changed meanwhile");
    let removed = fill(&world, &format!("{PAGE}/remove"), &[("revision", "1")]).await;
    assert_eq!(
        removed.header("location"),
        Some("/ui/schedules?did=removed")
    );
    assert_eq!(world.get(NIGHTLY).await.json()["state"], "removed");
    let page = world.get(PAGE).await;
    assert!(
        all(&page, "#acts").is_empty(),
        "nothing to do with it any more"
    );
}

#[tokio::test]
async fn a_backfill_reports_the_count_before_it_fires() {
    let world = lived().await;
    let range = "from=2026-01-05T08:30&to=2026-01-05T12:00&zone=UTC&pace=10s";
    let asked = world.get(&format!("{PAGE}/backfill?{range}")).await;
    check_structure(&asked);
    assert!(
        words(&asked).contains("Slots in this range: 3; to fire: 1."),
        "{}",
        words(&asked)
    );
    assert_eq!(all(&asked, "button.danger"), ["Fire 1 slot"]);
    let before = world.rows().await.len();
    let fields = [
        ("from", "2026-01-05T08:30:00Z"),
        ("to", "2026-01-05T12:00:00Z"),
        ("pace", "10s"),
    ];
    let fired = fill(&world, &format!("{PAGE}/backfill"), &fields).await;
    assert_eq!(
        fired.header("location"),
        Some("/ui/schedules/nightly?did=backfilled")
    );
    assert_eq!(world.rows().await.len(), before + 1);
    let future = "from=2026-01-05T08:30&to=2027-01-05T12:00&zone=UTC";
    let refused = world.get(&format!("{PAGE}/backfill?{future}")).await;
    assert_eq!(refused.status, 422);
    assert!(
        words(&refused).contains("reaches into the future"),
        "{}",
        words(&refused)
    );
    assert_eq!(
        attributes(&refused, "input[name=to]", "value"),
        ["2027-01-05T12:00"],
        "what was typed is kept"
    );
}

const FIELDS: [(&str, &str); 5] = [
    ("name", "morning"),
    ("expression", "0 8 * * 1-5"),
    ("tz", "Europe/Berlin"),
    ("target", "webhook"),
    ("url", "https://example.org/hook"),
];

#[tokio::test]
async fn a_schedule_is_written_by_a_form_after_a_look_at_what_it_would_do() {
    let world = World::open();
    let blank = world
        .get("/ui/schedules/new?target=workflow&expression=%40daily")
        .await;
    check_structure(&blank);
    assert_eq!(
        attributes(&blank, "input[name=expression]", "value"),
        ["@daily"]
    );
    let looked: Vec<_> = FIELDS.into_iter().chain([("act", "check")]).collect();
    let looked = fill(&world, "/ui/schedules/new", &looked).await;
    assert_eq!(looked.status, 200, "{}", looked.body);
    check_structure(&looked);
    assert!(
        words(&looked).contains("at 08:00 on weekdays"),
        "{}",
        words(&looked)
    );
    assert!(
        looked
            .body
            .contains("almanack schedule put morning &#39;0 8 * * 1-5&#39;")
            || looked
                .body
                .contains("almanack schedule put morning '0 8 * * 1-5'")
    );
    assert_eq!(
        world.get("/api/v1/schedules/morning").await.status,
        404,
        "only looked"
    );
    let created = fill(&world, "/ui/schedules/new", &FIELDS).await;
    assert_eq!(
        created.header("location"),
        Some("/ui/schedules/morning?did=created")
    );
    let again = fill(&world, "/ui/schedules/new", &FIELDS).await;
    assert_eq!(again.status, 422, "a new one does not replace another");
    let mut wrong = FIELDS;
    wrong[1].1 = "0 25 * * <b>";
    let refused = fill(&world, "/ui/schedules/new", &wrong).await;
    assert_eq!(refused.status, 422);
    assert_eq!(
        attributes(&refused, "input[name=expression]", "aria-invalid"),
        ["true"]
    );
    assert!(
        all(&refused, ".fault pre").concat().contains("^^"),
        "{}",
        refused.body
    );
    assert_eq!(
        attributes(&refused, "input[name=url]", "value"),
        ["https://example.org/hook"]
    );
}

#[tokio::test]
async fn a_change_shows_before_and_after_and_holds_only_for_what_was_seen() {
    let world = world().await;
    let form = world.get(&format!("{PAGE}/change")).await;
    check_structure(&form);
    assert_eq!(attributes(&form, "input[name=revision]", "value"), ["1"]);
    assert_eq!(
        attributes(&form, "input[name=expression]", "value"),
        ["0 * * * *"]
    );
    let fields = |revision, act| {
        [
            ("expression", "0 */2 * * *"),
            ("target", "webhook"),
            ("url", "https://example.org/hook"),
            ("revision", revision),
            ("act", act),
        ]
    };
    let looked = fill(&world, &format!("{PAGE}/change"), &fields("1", "check")).await;
    assert!(
        words(&looked).contains("0 added, 12 removed, 12 unchanged"),
        "{}",
        words(&looked)
    );
    check_structure(&looked);
    let stale = fill(&world, &format!("{PAGE}/change"), &fields("9", "write")).await;
    assert_eq!(stale.status, 422);
    assert!(
        words(&stale).contains("it was expected to be at revision 9"),
        "{}",
        words(&stale)
    );
    let saved = fill(&world, &format!("{PAGE}/change"), &fields("1", "write")).await;
    assert_eq!(
        saved.header("location"),
        Some("/ui/schedules/nightly?did=changed")
    );
    let page = world.get(PAGE).await;
    assert!(
        all(&page, "#edits tbody")
            .concat()
            .contains("changed: expression"),
        "{}",
        words(&page)
    );
}

#[tokio::test]
async fn what_belongs_to_a_file_is_changed_there() {
    let world = World::open();
    in_file(&world, "nightly", Origin::File).await;
    let form = world.get(&format!("{PAGE}/change")).await;
    assert!(words(&form).contains("Managed by the configuration file; change it there"));
    assert!(all(&form, "main form").is_empty());
    let fields = [
        ("expression", "@daily"),
        ("url", "https://example.org/x"),
        ("revision", "1"),
    ];
    let refused = fill(&world, &format!("{PAGE}/change"), &fields).await;
    assert_eq!(refused.status, 422);
    assert!(words(&refused).contains("belongs to the configuration file; change it there"));
    assert_eq!(
        fill(&world, &format!("{PAGE}/remove"), &[("revision", "1")])
            .await
            .status,
        409
    );
    assert_eq!(
        fill(&world, &format!("{PAGE}/pause"), &[]).await.status,
        303,
        "a pause changes no definition"
    );
}

#[tokio::test]
async fn an_expression_is_tried() {
    let world = World::open();
    let path = "/ui/schedules/try?expression=30+2+*+*+*&tz=Europe%2FBerlin";
    world.clock.set("2026-03-20T00:00:00Z".parse().unwrap());
    let page = world.get(path).await;
    check_structure(&page);
    assert_eq!(all(&page, "[data-live] strong"), ["at 02:30 every day"]);
    assert_eq!(all(&page, "#tried tbody tr:not(.clock)").len(), 20);
    let clock = all(&page, "#tried tr.clock").concat();
    assert!(
        clock.contains("The clocks skip 2026-03-29 02:30; it fires at the end of the gap."),
        "{clock}"
    );
    assert!(
        all(&page, ".warnings")
            .concat()
            .contains("moves to the end of the gap")
    );
    let chinese = in_chinese(&world, path).await;
    assert_eq!(all(&chinese, "[data-live] strong"), ["每天 02:30"]);
    let refused = world
        .get("/ui/schedules/try?expression=0+8+*+*+MONDAY")
        .await;
    assert_eq!(refused.status, 200, "the page has an answer");
    assert_eq!(all(&refused, "#refused pre"), ["0 8 * * MONDAY ^^^^^^"]);
    let meant = attributes(&refused, "#refused a", "href");
    assert_eq!(meant, ["/ui/schedules/try?expression=0+8+*+*+MON"]);
    let zone = world
        .get("/ui/schedules/try?expression=%40daily&tz=Mars")
        .await;
    assert!(
        words(&zone).contains("unknown time zone Mars"),
        "{}",
        words(&zone)
    );
    assert_eq!(
        attributes(
            &world.get("/ui/schedules/try").await,
            "form[data-try]",
            "method"
        ),
        ["get"]
    );
}

#[tokio::test]
async fn only_those_who_may_act_see_acts_and_nobody_without_the_key() {
    let world = World::open();
    assert_eq!(world.put(NIGHTLY, HOURLY).await.status, 201);
    let command = [
        ("name", "x"),
        ("expression", "@daily"),
        ("target", "command"),
        ("argv", "id"),
    ];
    let refused = fill(&world, "/ui/schedules/new", &command).await;
    assert!(words(&refused).contains("a schedule that runs commands needs a token of scope admin"));
    assert_eq!(world.get("/api/v1/schedules/x").await.status, 404);
    for scope in [Scope::Read, Scope::Operate] {
        let (token, _) = made(scope.as_str(), scope);
        world.store.save_token(&token).await.unwrap();
    }
    world.clock.advance(REMEMBERED_FOR);
    let reader = [("authorization", "Bearer alm_read")];
    let operator = [("authorization", "Bearer alm_operate")];
    for path in ["/ui/schedules", PAGE] {
        let page = world.send(with(Method::GET, path, "", &reader)).await;
        assert_eq!(page.status, 200);
        assert!(
            all(&page, "main form[method=post], main a.button[href*=new]").is_empty(),
            "{path}"
        );
    }
    let form = world
        .send(with(Method::GET, &format!("{PAGE}/change"), "", &reader))
        .await;
    assert_eq!(form.status, 403);
    let key = form_key(&world, &reader).await;
    for act in ["pause", "resume", "fire", "remove", "backfill", "change"] {
        let path = format!("{PAGE}/{act}");
        assert_eq!(
            fill_as(&world, &path, &[], &key, &reader).await.status,
            403,
            "{act}"
        );
        assert_eq!(
            fill_as(&world, &path, &[("revision", "1")], "forged", &operator)
                .await
                .status,
            403,
            "{act}"
        );
    }
    let shown = with(Method::GET, NIGHTLY, "", &reader);
    let shown = world.send(shown).await.json();
    assert_eq!(
        (shown["revision"].as_i64(), world.rows().await.len()),
        (Some(1), 0)
    );
}

#[tokio::test]
async fn a_schedule_of_every_second_and_one_with_the_name_of_a_page_have_their_pages() {
    let world = World::open();
    let every_second = HOURLY.replace("0 * * * *", "* * * * * *");
    for name in ["try", "new"] {
        assert_eq!(
            world
                .put(&format!("/api/v1/schedules/{name}"), &every_second)
                .await
                .status,
            201
        );
    }
    world.post("/api/v1/schedules/try/pause", "").await;
    world.clock.set(at(200 * HOUR));
    world.post("/api/v1/schedules/try/resume", "").await;
    let list = world.get("/ui/schedules").await;
    let hrefs = attributes(&list, "a[data-open]", "href");
    assert_eq!(hrefs, ["/ui/schedules/%6Eew", "/ui/schedules/%74ry"]);
    let page = world.get(&hrefs[1]).await;
    assert_eq!(all(&page, "h1"), ["try"]);
    assert!(words(&page).contains("720000 slots"), "{}", words(&page));
    assert!(page.body.len() < 200_000, "{} bytes", page.body.len());
}
