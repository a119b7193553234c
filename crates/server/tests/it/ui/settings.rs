//! The page of configuration, tokens and users.

use almanack_core::{store::TokenStore, token::Scope};
use almanack_server::access::Access;
use almanack_store::sqlite::SqliteStore;
use axum::http::Method;
use sha2::{Digest, Sha256};

use super::reading::{all, attributes, check_structure, fill_as, form_key, words};
use crate::{
    access::made,
    harness::{Answer, World, with},
};

struct House {
    world: World,
}

impl House {
    async fn new() -> Self {
        let store = SqliteStore::in_memory().unwrap();
        for scope in Scope::ALL {
            store
                .save_token(&made(scope.as_str(), scope).0)
                .await
                .unwrap();
        }
        Self {
            world: World::with(store, Access::Tokens),
        }
    }

    fn shown(scope: Scope) -> String {
        format!("Bearer {}", made(scope.as_str(), scope).1)
    }

    async fn get(&self, path: &str, scope: Scope, lang: &str) -> Answer {
        let shown = Self::shown(scope);
        let headers = [("authorization", &*shown), ("accept-language", lang)];
        self.world.send(with(Method::GET, path, "", &headers)).await
    }

    async fn post(&self, path: &str, scope: Scope, fields: &[(&str, &str)]) -> Answer {
        let shown = Self::shown(scope);
        let headers = [("authorization", &*shown)];
        let key = form_key(&self.world, &headers).await;
        fill_as(&self.world, path, fields, &key, &headers).await
    }

    async fn names(&self) -> Vec<String> {
        let tokens = self.world.store.load_tokens().await.unwrap();
        tokens.into_iter().map(|token| token.name).collect()
    }
}

#[tokio::test]
async fn tokens_and_users_are_for_admins() {
    let house = House::new().await;
    let page = house.get("/ui/settings", Scope::Admin, "en").await;
    assert_eq!(page.status, 200, "{}", page.body);
    check_structure(&page);
    let rows = all(&page, "section[aria-labelledby=tokens-title] tr[data-row]");
    assert_eq!(rows.len(), 4, "{rows:?}");
    assert!(words(&page).contains("No users."));
    for token in house.world.store.load_tokens().await.unwrap() {
        assert!(!page.body.contains(&token.hash), "no hash on a page");
    }
    let chinese = house.get("/ui/settings", Scope::Admin, "zh-CN").await;
    assert!(words(&chinese).contains("令牌"), "{}", words(&chinese));
    for scope in [Scope::Read, Scope::Operate] {
        let page = house.get("/ui/settings", scope, "en").await;
        assert_eq!(page.status, 200);
        assert!(all(&page, "main form[method=post]").is_empty(), "{scope}");
        assert!(!words(&page).contains("Revoke"), "{scope}");
        let fields = [("name", "mine"), ("scope", "admin")];
        assert_eq!(
            house
                .post("/ui/settings/tokens", scope, &fields)
                .await
                .status,
            403,
            "{scope}"
        );
        let revoke = "/ui/settings/tokens/admin/revoke";
        assert_eq!(house.get(revoke, scope, "en").await.status, 403, "{scope}");
        assert_eq!(house.post(revoke, scope, &[]).await.status, 403, "{scope}");
    }
    assert_eq!(house.names().await, ["admin", "operate", "read", "work"]);
}

#[tokio::test]
async fn a_new_token_is_shown_once_and_works() {
    let house = House::new().await;
    let fields = [("name", "ci"), ("scope", "operate"), ("days", "90")];
    let page = house
        .post("/ui/settings/tokens", Scope::Admin, &fields)
        .await;
    assert_eq!(page.status, 200, "{}", page.body);
    let secret = all(&page, ".notice code").concat();
    assert!(
        secret.starts_with("alm_") && secret.len() == 4 + 43,
        "{secret}"
    );
    assert_eq!(page.header("cache-control"), Some("no-store"));
    let hash = format!("{:x}", Sha256::digest(&secret));
    let token = house.world.store.load_token(&hash).await.unwrap().unwrap();
    assert_eq!((&*token.name, token.scope), ("ci", Scope::Operate));
    let lives = token.expires_at.unwrap().duration_since(token.created_at);
    assert_eq!(lives.as_hours(), 90 * 24);
    let again = house.get("/ui/settings", Scope::Admin, "en").await;
    assert!(!again.body.contains(&secret), "shown once");
    assert!(words(&again).contains("ci"));
    let headers = [("authorization", &*format!("Bearer {secret}"))];
    let used = house
        .world
        .send(with(Method::GET, "/api/v1/tasks", "", &headers))
        .await;
    assert_eq!(used.status, 200);
}

#[tokio::test]
async fn a_token_that_cannot_be_made_leaves_the_form_filled_in() {
    let house = House::new().await;
    for (name, scope, days) in [
        ("two words", "read", "1"),
        ("<b>", "read", "1"),
        ("", "read", "1"),
        ("ci", "everything", "1"),
        ("ci", "read", "0"),
        ("ci", "read", "soon"),
        ("ci", "read", "99999999999999999"),
        ("read", "read", "1"),
    ] {
        let fields = [("name", name), ("scope", scope), ("days", days)];
        let page = house
            .post("/ui/settings/tokens", Scope::Admin, &fields)
            .await;
        assert_eq!(page.status, 422, "{fields:?}");
        assert_eq!(all(&page, "main [role=alert]").len(), 1, "{fields:?}");
        assert_eq!(attributes(&page, "input[name=days]", "value"), [days]);
    }
    assert_eq!(house.names().await, ["admin", "operate", "read", "work"]);
}

#[tokio::test]
async fn a_token_is_revoked_after_a_question() {
    let house = House::new().await;
    let path = "/ui/settings/tokens/operate/revoke";
    let question = house.get(path, Scope::Admin, "en").await;
    check_structure(&question);
    assert!(words(&question).contains("The token (scope operate) stops working"));
    assert!(words(&question).contains("almanack token revoke operate"));
    assert!(!words(&question).contains("signed in with this token"));
    let own = house
        .get("/ui/settings/tokens/admin/revoke", Scope::Admin, "en")
        .await;
    assert!(words(&own).contains("signed in with this token"));
    let answer = house.post(path, Scope::Admin, &[]).await;
    assert_eq!(answer.header("location"), Some("/ui/settings?did=revoked"));
    let page = house
        .get("/ui/settings?did=revoked", Scope::Admin, "en")
        .await;
    assert!(all(&page, ".notice").concat().contains("revoked"));
    let tokens = house.world.store.load_tokens().await.unwrap();
    let revoked = tokens.iter().filter(|token| token.revoked_at.is_some());
    assert_eq!(revoked.count(), 1);
    assert_eq!(house.get(path, Scope::Admin, "en").await.status, 404);
    assert_eq!(house.post(path, Scope::Admin, &[]).await.status, 404);
}

/// On an open node, every client may operate and none is admin.
#[tokio::test]
async fn without_tokens_the_page_says_where_they_are_made() {
    let world = World::open();
    let page = world.get("/ui/settings").await;
    assert_eq!(page.status, 200);
    assert!(
        words(&page).contains("almanack token list"),
        "{}",
        words(&page)
    );
    assert!(words(&page).contains("node.slots"), "{}", words(&page));
    let found = world.get("/ui/settings?q=SLOTS").await;
    let rows = all(&found, "#configuration tr[data-row]");
    assert_eq!(rows, ["node.slots Takes effect after a restart.16default"]);
    let none = world.get("/ui/settings?q=%3Cscript%3E").await;
    assert!(!none.body.contains("<script>") || none.body.matches("<script").count() == 1);
    assert!(all(&none, "#configuration tr[data-row]").is_empty());
}
