//! The pages of error codes.

use almanack_server::problem::Code;

use crate::harness::{ARTICLE, World, at};

#[tokio::test]
async fn whoever_follows_the_type_of_a_problem_finds_what_to_do() {
    let world = World::open();
    let refused = world.put("/api/v1/tasks/OTHER/x", &at(0)).await.json();
    let page = world.look(refused["type"].as_str().unwrap()).await;
    assert_eq!(page.texts("h1"), ["Unknown kind"]);
    assert!(page.body.contains("docs/guide/callbacks.md"));
    for code in Code::ALL {
        let path = format!("/problems/{}", code.as_str());
        let page = world.look_in_chinese(&path).await;
        assert_eq!(page.status, 200, "{path}");
        let said = page.texts("main p").concat();
        assert!(said.contains("处理方法"), "{path}: {said}");
    }
}

#[tokio::test]
async fn a_code_that_does_not_exist_leads_to_all_of_them() {
    let world = World::open();
    let page = world.look("/problems/nothing").await;
    assert_eq!(page.status, 404);
    assert!(page.body.contains("/problems lists all"), "{}", page.body);
    let all = world.look("/problems").await;
    assert_eq!(all.texts("tbody tr").len(), Code::ALL.len());
}

#[tokio::test]
async fn a_page_of_an_error_leads_to_the_page_of_its_code() {
    let world = World::open();
    let page = world.look(&ARTICLE.replace("/api/v1", "/ui")).await;
    assert_eq!(page.status, 404);
    let links = page.attributes("main a", "href");
    assert!(
        links.contains(&"/problems/no_such_task".to_owned()),
        "{links:?}"
    );
}
