//! Users: listed here, made and changed by command, because a password is typed where nobody looks on.

use almanack_core::sign_in::User;

use super::tokens::scope_name;
use crate::ui::prelude::*;

pub(super) fn section(viewer: &Viewer, users: &[User]) -> Markup {
    let lang = viewer.lang;
    let head = [
        lang.pick("Name", "名称"),
        lang.pick("Scope", "权限"),
        lang.pick("Created", "创建于"),
        lang.pick("Password set", "密码设置于"),
    ];
    let rows = html! {
        @for user in users {
            tr data-row {
                th scope="row" { (user.name) }
                td { (scope_name(lang, user.scope)) }
                td { (viewer.at(user.created_at)) }
                td { (viewer.at(user.changed_at)) }
            }
        }
    };
    let body = html! {
        @if users.is_empty() { (parts::empty(lang.pick("Nobody signs in with a password.", "没有使用密码登录的用户。"))) }
        @else { (parts::table(lang.pick("Users", "用户"), &head, &rows)) }
        p class="hint" { (lang.pick("Users are made, changed and removed by command.", "用户通过命令新建、更改和移除。")) }
        @for words in [&["user", "create", "ada", "--scope", "operate"][..], &["user", "password", "ada"], &["user", "remove", "ada"]] {
            (Equivalent::command(words).show(viewer))
        }
    };
    parts::section("users-title", lang.pick("Users", "用户"), &body)
}
