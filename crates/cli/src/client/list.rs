//! Lists, page by page: however long one is, no more than a page of it is held.

use serde_json::Value;

use super::{Answer, Call, Client, object};
use crate::{
    columns::Column,
    failure::{Done, Exit, Result},
    output::Output,
};

/// Most items on a page that the API gives.
const PAGE_MAX: usize = 500;

/// A list of the API, and how people see it.
pub(crate) struct List {
    call: Call,
    /// The field of the body that holds the items.
    items: &'static str,
    columns: &'static [Column],
    /// The message if there are none.
    none: &'static str,
    /// How many at most.
    limit: usize,
    /// How else to see more of them.
    or_all: &'static str,
    /// The field that holds the subject of a firing, if what became of it is a column, too.
    firing: Option<&'static str>,
}

/// How far a list has been written.
struct Written {
    items: usize,
    /// A document of several pages has been begun.
    begun: bool,
}

impl Client {
    /// Every item of a list, of all its pages.
    pub(crate) async fn all(&self, call: Call, items: &str) -> Result<Vec<Value>> {
        let (mut all, mut cursor) = (Vec::new(), None);
        loop {
            let call = call.clone().query("limit", Some(PAGE_MAX));
            let page = self.call(call.query("cursor", cursor.take())).await?;
            all.extend(page.items(items).into_iter().map(object));
            cursor = page.next_cursor();
            if cursor.is_none() {
                return Ok(all);
            }
        }
    }
}

impl List {
    /// All of a list: the field of the body that holds the items, and their columns.
    pub(crate) fn new(
        call: Call,
        (items, columns): (&'static str, &'static [Column]),
        none: &'static str,
    ) -> Self {
        Self {
            call,
            items,
            columns,
            none,
            limit: usize::MAX,
            or_all: "",
            firing: None,
        }
    }

    /// So many at most.
    #[must_use]
    pub(crate) fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// At most so many, unless `--all` is given.
    #[must_use]
    pub(crate) fn limit_or_all(self, limit: usize) -> Self {
        let or_all = " or --all";
        Self {
            limit,
            or_all,
            ..self
        }
    }

    /// With what became of the firing whose subject this field holds.
    #[must_use]
    pub(crate) fn firing(self, field: &'static str) -> Self {
        let firing = Some(field);
        Self { firing, ..self }
    }

    /// Writes the list as the person or program wants it.
    pub(crate) async fn write(&self, client: &Client, output: &mut Output) -> Done {
        self.write_counted(client, output).await.map(|_| Exit::Ok)
    }

    /// The same; how many items there were.
    pub(crate) async fn write_counted(
        &self,
        client: &Client,
        output: &mut Output,
    ) -> Result<usize> {
        let mut written = Written {
            items: 0,
            begun: false,
        };
        let mut cursor: Option<String> = None;
        loop {
            let page_items = PAGE_MAX.min(self.limit - written.items);
            let call = self.call.clone().query("limit", Some(page_items));
            let page = client.call(call.query("cursor", cursor.take())).await?;
            let next = page.next_cursor();
            let count = page.items(self.items).len();
            let is_last = next.is_none() || written.items + count >= self.limit;
            self.page(client, &page, (&mut written, is_last), output)
                .await?;
            cursor = next;
            if is_last {
                break;
            }
        }
        if written.items == 0 && !output.json {
            output.note(&format!("{}\n", self.none));
        } else if cursor.is_some() {
            let more = self.limit.saturating_mul(2);
            let or_all = self.or_all;
            output.note(&format!("more rows: --limit {more}{or_all}\n"));
        }
        Ok(written.items)
    }

    async fn page(
        &self,
        client: &Client,
        page: &Answer,
        (written, is_last): (&mut Written, bool),
        output: &mut Output,
    ) -> Result<()> {
        let items = page.items(self.items);
        match (output.json, output.lines) {
            (_, true) => items.iter().try_for_each(|item| output.line(item))?,
            (true, false) if is_last && !written.begun => output.line(page.text())?,
            (true, false) => self.part(page, &items, written, is_last, output)?,
            (false, false) if !items.is_empty() => {
                let mut rows: Vec<Value> = items.iter().map(|item| object(item)).collect();
                if let Some(field) = self.firing {
                    client.add_firings(&mut rows, field).await?;
                }
                output.columns(self.columns, &rows, page.now, written.items == 0)?;
            }
            (false, false) => {}
        }
        written.items += items.len();
        Ok(())
    }

    /// A page of a document that is longer than a page: the items of all, and what else the last
    /// one says.
    fn part(
        &self,
        page: &Answer,
        items: &[&str],
        written: &mut Written,
        is_last: bool,
        output: &mut Output,
    ) -> Result<()> {
        if !written.begun {
            output.raw(&format!("{{\"{}\":[", self.items))?;
            written.begun = true;
        }
        for (at, item) in items.iter().enumerate() {
            let comma = if written.items + at > 0 { "," } else { "" };
            output.raw(&format!("{comma}{item}"))?;
        }
        if !is_last {
            return Ok(());
        }
        output.raw("]")?;
        let others = page.fields().into_iter();
        for (name, value) in others.filter(|(name, _)| name != self.items) {
            output.raw(&format!(",\"{name}\":{}", value.get()))?;
        }
        output.line("}")
    }
}
