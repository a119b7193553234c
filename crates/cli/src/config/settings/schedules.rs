//! `[schedules]`, `[github]`, `[command]` and `[tick]`: what schedules need of a node.

use std::path::Component;

use almanack_adapters::{github::API_URL, signature::SigningKey};

use super::{
    calls::signing_key,
    prelude::*,
    released::{Released, released},
};

sections! { Schedules, Github, Command, Tick }

impl Show for PathBuf {
    fn show(&self) -> String {
        format!("\"{}\"", self.display())
    }
}

settings! {
    /// Files with schedules, besides `[[schedule]]`.
    pub(crate) struct Schedules in "schedules" {
        /// File with schedules in the DISPATCH format.
        /// DISPATCH 格式的调度文件。
        dispatch: Option<PathBuf> =
            path().unset("(none; or set DISPATCH)").beside_file().reloadable();
        /// How often to look whether a file with schedules has changed; 0s looks only on SIGHUP.
        /// 检查调度文件是否变化的间隔；0s 表示仅在收到 SIGHUP 时检查。
        reload: Option<SignedDuration> = duration(seconds(0), days(1)).default(seconds(5))
            .map(|every| Some(every).filter(|every| !every.is_zero())).reloadable();
        /// Secrets that headers of webhooks may name, like `env:HOOK_TOKEN@hooks.example`: a reference or a prefix with `*`, and the host that receives it.
        /// Webhook 请求头可以引用的机密，如 `env:HOOK_TOKEN@hooks.example`：引用或以 `*` 结尾的前缀，以及接收它的主机。
        secrets: Vec<Released> = texts(released).default(Vec::new()).reloadable();
    }
}

settings! {
    /// Access to GitHub, to start workflows.
    pub(crate) struct Github in "github" {
        /// Base address of the GitHub API.
        /// GitHub API 的基础地址。
        api_url: String = address().default(API_URL.to_owned());
        /// Token that starts workflows.
        /// 启动工作流所用的令牌。
        token: Option<Secret> = secret().unset("(none; workflows cannot be started)")
            .also(&["PAT", "GH_TOKEN"]).reloadable();
    }
}

settings! {
    /// Commands that schedules may run on this machine.
    pub(crate) struct Command in "command" {
        /// Allow schedules to run programs on this machine.
        /// 允许调度在本机运行程序。
        enabled: bool = truth().default(false).reloadable();
        /// Programs and folders that may be run, by full path; an empty list allows all.
        /// 允许运行的程序和目录，写完整路径；列表为空则全部允许。
        programs: Vec<PathBuf> = texts(full_path).default(Vec::new()).reloadable();
        /// Working directory of commands.
        /// 命令的工作目录。
        directory: PathBuf = path().default(PathBuf::from(".")).reloadable();
        /// Names of environment variables that commands inherit.
        /// 命令继承的环境变量名。
        environment: Vec<String> = texts(variable).default(Vec::new()).reloadable();
    }
}

/// A name alone would run whatever is first in the search path.
fn full_path(text: &str) -> Read<PathBuf> {
    let path = PathBuf::from(text);
    let plain = path.components().all(|part| part != Component::ParentDir);
    if path.is_absolute() && plain {
        return Ok(path);
    }
    let hint = "write the full path of a program or a folder, like \"/usr/bin/rsync\"";
    Err(Problem::new(format!("`{text}` is not a full path"), hint))
}

fn variable(text: &str) -> Read<String> {
    let fits = !text.is_empty() && !text.contains(['=', '\0']);
    let what = format!("`{text}` is not the name of a variable");
    let hint = "write only the name; its value comes from this process";
    fitting(text, fits, what, hint)
}

settings! {
    /// `POST /tick` from an outside timer.
    pub(crate) struct Tick in "tick" {
        /// Key that signs `POST /tick`; without one, a tick needs a token.
        /// 为 `POST /tick` 签名的密钥；未设置时 tick 需要令牌。
        secret: Option<SigningKey> = signing_key().unset("(a tick needs a token)").reloadable();
    }
}
