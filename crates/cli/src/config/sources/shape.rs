//! The keys of `[[source]]` and of its rules.

use std::borrow::Cow;

use super::super::{
    list::Variants,
    schedule::shape::{Field, choice, fields},
    table::Shape,
};

const READING_EXAMPLE: &str =
    "for example reading = { how = \"html\", item = \"article\", title = \"h2\" }";
const HOW: Shape = choice(&["feed", "html", "json", "sitemap"]);
const LINES: Shape = Shape::Texts(Cow::Borrowed(&[]));

/// The keys of `[[source]]`.
pub(crate) const SOURCE: &[Field] = fields! {
    /// Address of the source; sources are identified by it.
    /// 信源的地址，也是其标识。
    "address": Shape::Text, "for example address = \"https://example.org/feed.xml\"";
    /// Name; default: its own title.
    /// 名称；默认为其自身标题。
    "name": Shape::Text;
    /// Category: folders separated by `/`; a folder's own `/` is written `\/`.
    /// 分类：以 `/` 分隔的文件夹；文件夹名中的 `/` 写作 `\/`。
    "category": Shape::Text;
    /// When to check: `adaptive`, `classic`, `fixed:1h` or a schedule; default: `sources.policy`.
    /// 检查策略：`adaptive`、`classic`、`fixed:1h` 或调度表达式；默认 `sources.policy`。
    "policy": Shape::Text;
    /// Fixed cadence; `P7` does not check it.
    /// 固定节奏；`P7` 表示不检查。
    "cadence": choice(&["P0", "P1", "P2", "P3", "P4", "P5", "P6", "P7"]);
    /// How it is read; default: as a feed.
    /// 读取方式；默认作为订阅源。
    "reading": Shape::Reading;
    /// Further headers; a secret as `env:NAME` or `file:/path`.
    /// 其他请求头；机密写作 `env:NAME` 或 `file:/path`。
    "headers": Shape::Headers;
    /// Bearer token.
    /// Bearer 令牌。
    "bearer": Shape::Secret;
    /// User name for basic authentication.
    /// 基本认证的用户名。
    "user": Shape::Text;
    /// Password of that user.
    /// 该用户的密码。
    "password": Shape::Secret;
    /// Proxy to request it through.
    /// 请求所经的代理。
    "proxy": Shape::Text;
    /// User-Agent; default: the node's.
    /// User-Agent；默认为节点的。
    "user_agent": Shape::Text;
    /// Respect `robots.txt`; default: for pages only.
    /// 是否遵守 `robots.txt`；默认仅对网页。
    "robots": Shape::Truth;
    /// Keep and block rules.
    /// 保留与屏蔽规则。
    "filters": LINES;
    /// Texts that make a response a failure although its status is 200.
    /// 即使状态为 200 也使响应视为失败的文本。
    "error_texts": LINES;
    /// Fetch the whole text of new entries from their links.
    /// 从链接获取新条目的全文。
    "full_text": Shape::Truth;
    /// Page that people read it at.
    /// 供人阅读的网页。
    "site": Shape::Text;
};

/// Which of them say how it is requested.
pub(super) const FETCH: &[&str] = &[
    "headers",
    "bearer",
    "user",
    "password",
    "proxy",
    "user_agent",
    "robots",
];
/// Which of them are its other options.
pub(super) const OPTIONS: &[&str] = &["filters", "error_texts", "full_text", "site"];

const FEED: &[Field] = fields! {
    /// How it is read.
    /// 读取方式。
    "how": HOW;
};
const HTML: &[Field] = fields! {
    /// How it is read.
    /// 读取方式。
    "how": HOW;
    /// CSS selector of the entries.
    /// 条目的 CSS 选择器。
    "item": Shape::Text, "for example item = \"article\"";
    /// Selector of the title, inside an entry.
    /// 条目内标题的选择器。
    "title": Shape::Text, "for example title = \"h2\"";
    /// Selector of the link; default: the entry itself.
    /// 链接的选择器；默认为条目本身。
    "link": Shape::Text;
    /// Selector of the publication time.
    /// 发布时间的选择器。
    "date": Shape::Text;
    /// Selector of the summary.
    /// 摘要的选择器。
    "summary": Shape::Text;
};
const JSON: &[Field] = fields! {
    /// How it is read.
    /// 读取方式。
    "how": HOW;
    /// Path of all entries.
    /// 全部条目的路径。
    "items": Shape::Text, "for example items = \"$.posts[*]\"";
    /// Path of the title, from an entry.
    /// 条目内标题的路径。
    "title": Shape::Text, "for example title = \"$.title\"";
    /// Path of the link.
    /// 链接的路径。
    "link": Shape::Text;
    /// Path of the id; default: the link.
    /// 标识的路径；默认为链接。
    "id": Shape::Text;
    /// Path of the publication time.
    /// 发布时间的路径。
    "date": Shape::Text;
    /// Path of the summary.
    /// 摘要的路径。
    "summary": Shape::Text;
};
const SITEMAP: &[Field] = fields! {
    /// How it is read.
    /// 读取方式。
    "how": HOW;
    /// Only pages whose address contains this.
    /// 仅限地址包含此文本的页面。
    "containing": Shape::Text;
};

/// The keys of each way of reading.
pub(crate) const READINGS: &[(&str, &[Field])] = &[
    ("feed", FEED),
    ("html", HTML),
    ("json", JSON),
    ("sitemap", SITEMAP),
];

/// What a way of reading is decided by.
pub(in super::super) const READING: Variants = Variants {
    by: &Field {
        name: "how",
        words: ["How it is read.", "读取方式。"],
        shape: HOW,
        needed: Some(READING_EXAMPLE),
    },
    fields: fields_of_reading,
    example: READING_EXAMPLE,
};

fn fields_of_reading(how: &str) -> &'static [Field] {
    let mut readings = READINGS.iter();
    readings
        .find(|(name, _)| *name == how)
        .map_or(FEED, |(_, fields)| fields)
}
