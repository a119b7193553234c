//! Statements about run logs. Pieces are packed here, on the caller's side of the database: what is
//! written holds a connection, or the one writer's thread, for as short as can be.

use std::io::{Read as _, Write as _};

use almanack_core::{
    store::{
        Error, LogExtent, LogPage, LogPiece, LogWrite, PIECE_BYTES_MAX, Result, RunId, RunLogStore,
    },
    task::TaskId,
};
use async_trait::async_trait;
use flate2::{Compression, read::DeflateDecoder, write::DeflateEncoder};
use jiff::Timestamp;

use crate::{
    database::{Access::Transaction, Database, SqlStore},
    row::{Row, Value, listing, many, most, unreadable, values},
    session::Session,
    unavailable,
};

/// The piece that is still growing is written again in its place.
pub(crate) const APPEND: &str = "insert into run_log \
     (task_id, term, at_byte, bytes, written_at_us, packed) values ($1, $2, $3, $4, $5, $6) \
     on conflict (task_id, term, at_byte) do update set bytes = excluded.bytes, \
     written_at_us = excluded.written_at_us, packed = excluded.packed";
pub(crate) const CUT: &str = "delete from run_log where task_id = $1 and term = $2 \
     and at_byte >= $3 and at_byte + bytes <= $4";
/// Of two nodes that report at once the second meets the first's row, and asks again. The two texts
/// differ only in what they call the type of the packed text.
macro_rules! report {
    ($packed:literal) => {
        concat!(
            "insert into run_log (task_id, term, at_byte, bytes, written_at_us, packed) \
             select cast($1 as bigint), cast($2 as bigint), coalesce(max(at_byte + bytes), 0), \
             cast($3 as bigint), cast($4 as bigint), cast($5 as ",
            $packed,
            ") from run_log where task_id = cast($1 as bigint) and term = cast($2 as bigint) \
             having coalesce(max(at_byte + bytes), 0) < cast($6 as bigint)"
        )
    };
}
pub(crate) const REPORT_SQLITE: &str = report!("blob");
pub(crate) const REPORT_POSTGRES: &str = report!("bytea");
/// A piece is no longer than [`PIECE_BYTES_MAX`], so none that begins before `$3` reaches `$4`.
pub(crate) const LOAD: &str = "select at_byte, packed from run_log where task_id = $1 \
     and term = $2 and at_byte > $3 and at_byte + bytes > $4 order by at_byte limit $5";
pub(crate) const LOAD_EXTENTS: &str = "select term, cast(sum(bytes) as bigint), \
     max(at_byte + bytes), max(written_at_us) from run_log where task_id = $1 \
     group by term order by term";
/// Oldest first. SQLite finds the rows by their key again, PostgreSQL by where they lie.
pub(crate) const PRUNE_SQLITE: &str = "delete from run_log where rowid in \
     (select rowid from run_log where written_at_us < ?1 order by written_at_us limit ?2)";
pub(crate) const PRUNE_POSTGRES: &str = "delete from run_log where ctid = any (array( \
     select ctid from run_log where written_at_us < $1 order by written_at_us limit $2))";

/// How often a report gives way to another node's before it fails.
const REPORT_TRIES: usize = 10;

#[async_trait]
impl<D: Database> RunLogStore for SqlStore<D> {
    async fn append_run_logs(&self, writes: Vec<LogWrite>) -> Result<()> {
        if writes.is_empty() {
            return Ok(());
        }
        let packed = writes.iter().map(Packed::of).collect::<Result<Vec<_>>>()?;
        self.ask(Transaction, "append run logs", packed, |session, packed| {
            Box::pin(append(session, packed))
        })
        .await
    }

    async fn report_to_run_log(
        &self,
        run: RunId,
        text: &[u8],
        bytes_max: u64,
        now: Timestamp,
    ) -> Result<bool> {
        let name = "report to run log";
        let statement = D::text(REPORT_SQLITE, REPORT_POSTGRES);
        let packed = pack(text)?;
        for _ in 0..REPORT_TRIES {
            let RunId { task_id, term } = run;
            let packed = packed.as_slice();
            let values = values![
                task_id.0,
                term.0,
                most(text.len()),
                now,
                packed,
                many(bytes_max)
            ];
            match self.execute(name, statement, values).await {
                Err(Error::Refused { .. }) => {}
                done => return done.map(|rows| rows > 0),
            }
        }
        Err(unavailable(name, "too many reports at once"))
    }

    async fn load_run_log(&self, page: LogPage) -> Result<Vec<LogPiece>> {
        let RunId { task_id, term } = page.run;
        let from = many(page.from);
        let after = from.saturating_sub(most(PIECE_BYTES_MAX));
        let values = values![task_id.0, term.0, after, from, most(page.pieces)];
        let pieces = listing("run_log", piece);
        self.listed("load run log", LOAD, values, pieces).await
    }

    async fn load_run_log_extents(&self, task_id: TaskId) -> Result<Vec<LogExtent>> {
        let extents = listing("run_log", |row| {
            Ok(LogExtent {
                term: row.get(0)?,
                kept: row.get(1)?,
                end: row.get(2)?,
                written_at: row.get(3)?,
            })
        });
        let values = values![task_id.0];
        self.listed("load run log extents", LOAD_EXTENTS, values, extents)
            .await
    }

    async fn prune_run_logs(&self, before: Timestamp, limit: usize) -> Result<usize> {
        let text = D::text(PRUNE_SQLITE, PRUNE_POSTGRES);
        self.execute("prune run logs", text, values![before, most(limit)])
            .await
    }
}

/// A write, ready for the database.
struct Packed {
    row: Vec<Value<'static>>,
    cut: Option<Vec<Value<'static>>>,
}

impl Packed {
    fn of(write: &LogWrite) -> Result<Self> {
        let RunId { task_id, term } = write.run;
        let LogPiece { at, text } = &write.piece;
        let (bytes, packed) = (most(text.len()), pack(text)?);
        let cut = (!write.cut.is_empty()).then(|| {
            let (from, to) = (many(write.cut.start), many(write.cut.end));
            values![task_id.0, term.0, from, to]
        });
        Ok(Self {
            row: values![
                task_id.0,
                term.0,
                many(*at),
                bytes,
                write.written_at,
                packed
            ],
            cut,
        })
    }
}

async fn append(session: &dyn Session, writes: &[Packed]) -> Result<()> {
    for write in writes {
        session.execute(APPEND, &write.row).await?;
        if let Some(cut) = &write.cut {
            session.execute(CUT, cut).await?;
        }
    }
    Ok(())
}

fn piece(row: &Row<'_>) -> Result<LogPiece> {
    Ok(LogPiece {
        at: row.get(0)?,
        text: unpack(&row.get::<Vec<u8>>(1)?)?,
    })
}

fn pack(text: &[u8]) -> Result<Vec<u8>> {
    if text.len() > PIECE_BYTES_MAX {
        let bytes = text.len();
        return Err(unreadable(format!(
            "a piece of a run log has {bytes} bytes"
        )));
    }
    let mut packer = DeflateEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(text).map_err(unreadable)?;
    packer.finish().map_err(unreadable)
}

/// However much a damaged piece claims to hold, no more is unpacked than was ever packed.
fn unpack(packed: &[u8]) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let most = u64::try_from(PIECE_BYTES_MAX).unwrap_or(u64::MAX);
    let mut unpacker = DeflateDecoder::new(packed).take(most);
    unpacker.read_to_end(&mut text).map_err(unreadable)?;
    Ok(text)
}
