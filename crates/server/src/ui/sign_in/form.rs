//! The sign-in page and its messages. Typed secrets are never arguments here.

use crate::ui::page;
use crate::ui::prelude::*;

/// Why sign-in failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// A field is empty.
    Incomplete,
    /// Unknown, revoked, expired or wrong: the page does not say which.
    Wrong,
    TooMany {
        /// When the next attempt is allowed.
        free_at: Timestamp,
    },
}

/// The page; `said` precedes the forms.
pub(super) fn page(viewer: &Viewer, next: &str, name: &str, said: &Markup) -> Markup {
    let lang = viewer.lang;
    let body = html! {
        (said)
        (section("by-password", lang.pick("With name and password", "用户名与密码登录"), &form::form(viewer, "/ui/sign-in", &by_password(lang, next, name))))
        (section("by-token", lang.pick("With a token", "令牌登录"), &form::form(viewer, "/ui/sign-in", &by_token(lang, next))))
    };
    let title = lang.pick("Sign in", "登录");
    page::page(viewer, Place::Elsewhere, title, &body)
}

fn by_password(lang: Lang, next: &str, name: &str) -> Markup {
    html! {
        input type="hidden" name="next" value=(next);
        div class="fields" {
            label { (lang.pick("Name", "用户名"))
                input name="name" value=(name) required maxlength="100" autocomplete="username" autocapitalize="none" spellcheck="false";
            }
            label { (lang.pick("Password", "密码"))
                input name="password" type="password" required autocomplete="current-password";
            }
            button type="submit" class="primary" { (lang.pick("Sign in", "登录")) }
        }
        p class="hint" {
            (lang.pick("To create a user, an operator runs ", "由运维人员运行以下命令创建用户："))
            code { "almanack user create NAME" }
        }
    }
}

fn by_token(lang: Lang, next: &str) -> Markup {
    html! {
        input type="hidden" name="next" value=(next);
        div class="fields" {
            label { (lang.pick("Token", "令牌"))
                input name="token" type="password" required autocomplete="off" placeholder="alm_…";
            }
            button type="submit" { (lang.pick("Sign in with the token", "用令牌登录")) }
        }
        p class="hint" {
            (lang.pick("To create a token, run ", "运行以下命令创建令牌："))
            code { "almanack token create NAME --scope operate" }
        }
    }
}

pub(super) fn refused(viewer: &Viewer, refused: Refused) -> Markup {
    let lang = viewer.lang;
    let sentence = match refused {
        Refused::Incomplete => html! {
            (lang.pick("Fill in a name and a password, or a token.", "请填写用户名和密码，或填写令牌。"))
        },
        Refused::Wrong => html! {
            (lang.pick("Sign-in failed: wrong or expired name, password or token.", "登录失败：用户名、密码或令牌有误，或已失效。"))
        },
        Refused::TooMany { free_at } => html! {
            (lang.pick("Too many attempts. Try again at ", "尝试次数过多。请在此时间之后重试："))
            (viewer.at(free_at))
            (lang.pick("; until then even the right password is refused.", "；在此之前，即使密码正确也会被拒绝。"))
        },
    };
    html! { p class="wrong" role="alert" { (sentence) } }
}

/// The browser came back without the session.
pub(super) fn not_kept(lang: Lang) -> Markup {
    html! {
        p class="wrong" role="alert" {
            (pick!(lang;
                "Your credentials are right, but the browser did not keep the session. Browsers keep it only over HTTPS or on localhost: \
                 open this page over HTTPS (for example through a TLS proxy), allow cookies, and sign in again.",
                "登录信息正确，但浏览器没有保存会话。只有通过 HTTPS 或在本机（localhost）访问时，浏览器才会保存会话：请通过 HTTPS 打开本页（例如经由 TLS 代理），允许 Cookie，然后重新登录。"))
        }
    }
}

/// Signed out.
pub(super) fn left(lang: Lang) -> Markup {
    notice(&html! { (lang.pick("You have signed out.", "您已退出登录。")) })
}
