//! Users: listed here, created and changed with the command line, where a password can be typed
//! unseen.

use almanack_core::sign_in::User;

use super::tokens::scope_name;
use crate::ui::prelude::*;

pub(super) fn section(viewer: &Viewer, users: &[User]) -> Markup {
    let lang = viewer.lang;
    let table = table! { lang; "Users", "用户"; or "No users.", "没有用户。";
        for (user in users) tr(data-row)
        "Name", "名称" { th scope="row" { (user.name) } }
        "Scope", "权限" { td { (scope_name(lang, user.scope)) } }
        "Created", "创建于" { td { (viewer.at(user.created_at)) } }
        "Password set", "密码设置于" { td { (viewer.at(user.changed_at)) } }
    };
    section! { lang; "users-title", "Users", "用户";
        (table)
        p class="hint" { (lang.pick("Create, change and remove users with the command line.", "请用命令行新建、更改和移除用户。")) }
        @for words in [&["user", "create", "ada", "--scope", "operate"][..], &["user", "password", "ada"], &["user", "remove", "ada"]] {
            (Equivalent::command(words).show(viewer))
        }
    }
}
