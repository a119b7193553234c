//! Taking tasks on PostgreSQL: one statement that finds the lanes, shares the slots and takes, in a
//! form for each of what a node may have configured: rates, turns, only some kinds.

/// PostgreSQL: the waiting lanes and when each is next due, by the same jumps. What was claimed
/// leaves dead entries at the front of its lane until no transaction can see them any more, and
/// with many nodes there are many: so the front is passed once, and what is found there, the
/// earliest due, is kept.
macro_rules! lanes_due {
    () => {
        "with recursive lane(kind, priority, due_at_us) as ( \
         (select kind, priority, due_at_us from task where due_at_us is not null \
             order by kind, priority, due_at_us limit 1) \
         union all \
         select n.* from lane, lateral ( \
             (select t.kind, t.priority, t.due_at_us from task t where t.due_at_us is not null \
                 and t.kind = lane.kind and t.priority > lane.priority \
                 order by t.priority, t.due_at_us limit 1) \
             union all \
             (select t.kind, t.priority, t.due_at_us from task t where t.due_at_us is not null \
                 and t.kind > lane.kind order by t.kind, t.priority, t.due_at_us limit 1) \
             order by kind, priority limit 1) n) "
    };
}
/// PostgreSQL: the same lanes of some kinds only, found by their names instead of by jumping: the
/// others cost nothing. A kind has at most ten lanes.
macro_rules! lanes_of_kinds {
    ($kinds:literal) => {
        concat!(
            "with lane(kind, priority, due_at_us) as ( \
             select k.kind, p.priority, f.due_at_us from unnest(",
            $kinds,
            "::text[]) k(kind) cross join generate_series(0, 9) p(priority) cross join lateral ( \
                 select t.due_at_us from task t where t.due_at_us is not null \
                 and t.kind = k.kind and t.priority = p.priority \
                 order by t.due_at_us limit 1) f) "
        )
    };
}
/// When the bucket of a rate is full again, unless that cannot be: see
/// [`almanack_core::pace::AHEAD_MAX`]. `b` is the bucket, `r` the rate.
macro_rules! believed {
    ($now:literal) => {
        concat!(
            "case when b.full_at_us - ",
            $now,
            " - r.gap_us * r.burst > 60000000 then ",
            $now,
            " + r.gap_us * r.burst else b.full_at_us end"
        )
    };
}
/// How many may start, of a bucket `f`.
macro_rules! paced_room {
    ($now:literal) => {
        concat!(
            "greatest(0, r.burst - (greatest(f.full_at_us - ",
            $now,
            ", 0) + r.gap_us - 1) / r.gap_us)"
        )
    };
}

pub(crate) use {believed, paced_room};

/// PostgreSQL: takes what was picked, and notes the claim. A large claim comes in two parts at once;
/// whichever commits last adds its tasks to the claim. A picked row is locked, so it stays where it
/// is and is taken by its place (`ctid`), which spares a second search. One that was changed after
/// this statement began and before it was locked is now somewhere that this statement does not see:
/// it is left as it is, and the next claim finds it.
macro_rules! take_picked {
    ($session:literal, $advance:expr, $answer:literal) => {
        concat!(
            "taken as ( \
             update task t set status = 'RUNNING', due_at_us = null, term = t.term + 1, \
                 attempt = t.attempt + 1, claim_id = $1, node = $2, started_at_us = $3, \
                 finished_at_us = null, detail = null \
             where t.ctid = any (array (select place from picked)) returning ",
            claimed_columns!(),
            ", t.priority), \
             noted as ( \
                 insert into claim (id, session, node, lease_until_us, task_ids) \
                 select $1, ",
            $session,
            ", $2, $4, array_agg(id) from taken having count(*) > 0 \
                 on conflict (id) do update set task_ids = claim.task_ids || excluded.task_ids)",
            $advance,
            $answer
        )
    };
}
/// PostgreSQL: all of the above in one statement. `skip locked` lets nodes claim different rows at
/// once instead of queueing behind each other. The lanes of one priority share the slots evenly, so
/// one kind's backlog cannot starve another; `limits` bounds single kinds (see [`crate::lanes`]).
/// A lane is read from its earliest due on: before it, this statement sees nothing alive. Kinds
/// that are paused are left out: the table is empty, or all but empty.
///
/// With rates, `$buckets` locks the buckets of the kinds that are due, in the order of their names,
/// for as long as the statement takes and no longer: a node that is halted holds up none. What a
/// lock waited for is read as it is then. `$advance` uses up what was taken.
macro_rules! claim {
    (
        $lanes:expr, $buckets:expr, $room:literal, $limited:literal, $pace:literal,
        $picked:expr, $advance:expr, $answer:literal
    ) => {
        concat!(
            $lanes,
            $buckets,
            ", ready as materialized ( \
                 select l.kind, l.priority, l.due_at_us, ", $room, " as room, ", $limited,
            " as limited, \
                     row_number() over (partition by l.kind order by l.priority desc) as lane_number \
                 from lane l left join unnest($6::text[], $7::bigint[]) k(kind, room) \
                     on k.kind = l.kind", $pace,
            " where ", $room, " > 0 and l.due_at_us <= $3 and not exists ( \
                     select from kind_pause p where p.kind = l.kind \
                     and (p.until_us is null or p.until_us > $3))), \
             share as materialized ( \
                 select kind, priority, due_at_us, \
                     least(room, greatest($5 / count(*) over (partition by priority), 1)) as room \
                 from ready where lane_number = 1 or not limited order by priority desc), \
             picked as materialized (",
            $picked,
            " limit $5), ",
            take_picked!("$8", $advance, $answer)
        )
    };
}
/// The earliest of each lane.
macro_rules! picked_by_time {
    () => {
        "select p.place from share s, lateral ( \
             select t.ctid as place from task t where t.kind = s.kind and t.priority = s.priority \
             and t.due_at_us between s.due_at_us and $3 \
             order by t.due_at_us limit s.room for update skip locked) p"
    };
}
/// The same, where tasks of some kinds take turns ([`almanack_core::share`]): the keys of their
/// lanes are found by jumping from one to the next, beginning behind `after` and going round once.
/// `turn` is the key of a task that was taken in its turn.
macro_rules! picked_by_turns {
    () => {
        "select p.id, p.place, p.turn from share s \
         left join unnest($12::text[], $13::text[], $14::boolean[]) h(kind, after, earliest_first) \
             on h.kind = s.kind, lateral ( \
             with recursive tenant(share_key, due_at_us, wrapped, nth) as ( \
                 select h.after collate \"C\", cast(null as bigint), false, 0 \
                     where h.kind is not null \
                 union all \
                 select n.share_key, n.due_at_us, n.wrapped, tenant.nth + 1 from tenant, lateral ( \
                     (select t.share_key, t.due_at_us, tenant.wrapped as wrapped from task t \
                         where t.kind = s.kind and t.priority = s.priority \
                         and t.share_key > tenant.share_key and t.due_at_us is not null \
                         order by t.share_key, t.due_at_us limit 1) \
                     union all \
                     (select t.share_key, t.due_at_us, true from task t where not tenant.wrapped \
                         and t.kind = s.kind and t.priority = s.priority \
                         and t.share_key >= '' and t.due_at_us is not null \
                         order by t.share_key, t.due_at_us limit 1) \
                     order by wrapped limit 1) n \
                 where tenant.nth < 1000 and not (n.wrapped and n.share_key > h.after)), \
             turn as (select share_key, nth from tenant where due_at_us <= $3 \
                 order by nth limit s.room), \
             by_time as ( \
                 select t.id, t.ctid as place from task t where t.kind = s.kind \
                 and t.priority = s.priority and t.due_at_us between s.due_at_us and $3 \
                 order by t.due_at_us limit s.room for update skip locked), \
             numbered as (select by_time.*, row_number() over () as nth from by_time), \
             found as ( \
                 select id, place, cast(null as text) as turn, \
                     case when nth = 1 and coalesce(h.earliest_first, true) then 0 else 2 end as rank, nth \
                     from numbered \
                 union all \
                 select k.id, k.place, turn.share_key, 1, turn.nth from turn, lateral ( \
                     select t.id, t.ctid as place from task t where t.kind = s.kind \
                     and t.priority = s.priority and t.share_key = turn.share_key \
                     and t.due_at_us <= $3 order by t.due_at_us \
                     limit greatest(s.room / (select count(*) from turn), 1) \
                     for update skip locked) k) \
             select id, place, max(turn) as turn from found group by id, place \
             order by min(rank), min(nth) limit s.room) p"
    };
}
macro_rules! claim_unpaced {
    ($lanes:expr) => {
        claim!(
            $lanes,
            "",
            "coalesce(k.room, $5)",
            "k.room is not null",
            "",
            picked_by_time!(),
            "",
            " select * from taken"
        )
    };
}
/// For whoever has kinds with a rate.
macro_rules! claim_paced {
    ($lanes:expr, $picked:expr, $answer:literal) => {
        claim!(
            $lanes,
            concat!(
                ", bucket as materialized ( \
                     select b.name, b.full_at_us from pace_bucket b where b.name = any ($9::text[]) \
                     and b.name = any (array (select l.kind from lane l where l.due_at_us <= $3)) \
                     order by b.name for update), \
                 pace as materialized ( \
                     select r.kind, r.gap_us, f.full_at_us, ",
                paced_room!("$3"),
                " as room from unnest($9::text[], $10::bigint[], $11::bigint[]) r(kind, gap_us, burst) \
                     join bucket b on b.name = r.kind, lateral (select ",
                believed!("$3"),
                " as full_at_us) f)"
            ),
            "least(coalesce(k.room, $5), \
                 case when l.kind = any ($9) then coalesce(pace.room, 0) else $5 end)",
            "(k.room is not null or pace.room is not null)",
            " left join pace on pace.kind = l.kind",
            $picked,
            ", advanced as ( \
                 update pace_bucket b \
                 set full_at_us = greatest(pace.full_at_us, $3) + pace.gap_us * n.taken \
                 from (select kind, count(*) as taken from taken group by kind) n \
                     join pace on pace.kind = n.kind \
                 where b.name = n.kind)",
            $answer
        )
    };
    ($lanes:expr) => {
        claim_paced!($lanes, picked_by_time!(), " select * from taken")
    };
}
/// For whoever has kinds whose tasks take turns, with rates or without.
macro_rules! claim_by_turns {
    ($lanes:expr) => {
        claim_paced!(
            $lanes,
            picked_by_turns!(),
            " select taken.*, picked.turn from taken join picked on picked.id = taken.id"
        )
    };
}
pub(crate) const CLAIM_POSTGRES: &str = claim_unpaced!(lanes_due!());
/// The same of some kinds only, `$9`.
pub(crate) const CLAIM_KINDS_POSTGRES: &str = claim_unpaced!(lanes_of_kinds!("$9"));
pub(crate) const CLAIM_PACED_POSTGRES: &str = claim_paced!(lanes_due!());
/// The same of some kinds only, `$12`.
pub(crate) const CLAIM_PACED_KINDS_POSTGRES: &str = claim_paced!(lanes_of_kinds!("$12"));
pub(crate) const CLAIM_TURNS_POSTGRES: &str = claim_by_turns!(lanes_due!());
/// The same of some kinds only, `$15`.
pub(crate) const CLAIM_TURNS_KINDS_POSTGRES: &str = claim_by_turns!(lanes_of_kinds!("$15"));
/// PostgreSQL: takes waiting tasks that have expired, of whatever kind.
pub(crate) const CLAIM_EXPIRED_POSTGRES: &str = concat!(
    "with picked as materialized ( \
         select ctid as place from task where expires_at_us <= $3 and due_at_us is not null \
         order by expires_at_us limit $5 for update skip locked), ",
    take_picked!("$6", "", " select * from taken")
);
/// PostgreSQL: when the next task of a kind with room is due, or the pause of its kind is over.
macro_rules! next_due {
    ($lanes:expr, $due:expr, $pace:expr) => {
        concat!(
            $lanes,
            "select min(greatest(",
            $due,
            ", p.until_us)) from lane l left join kind_pause p on p.kind = l.kind \
                 and (p.until_us is null or p.until_us > $2)",
            $pace,
            " where l.kind <> all ($1::text[]) and (p.kind is null or p.until_us is not null)"
        )
    };
}
/// Where kinds have a rate: one without starts is looked at when a few have gathered.
macro_rules! next_due_paced {
    ($lanes:expr) => {
        next_due!(
            $lanes,
            concat!(
                "l.due_at_us, case when f.full_at_us is not null and ",
                paced_room!("$2"),
                " = 0 then f.full_at_us - r.gap_us * (r.burst - r.gathered) end"
            ),
            concat!(
                " left join unnest($3::text[], $4::bigint[], $5::bigint[], $6::bigint[]) \
                     r(kind, gap_us, burst, gathered) on r.kind = l.kind \
                 left join pace_bucket b on b.name = r.kind \
                 left join lateral (select ",
                believed!("$2"),
                " as full_at_us) f on true"
            )
        )
    };
}
pub(crate) const NEXT_DUE_POSTGRES: &str = next_due!(lanes_due!(), "l.due_at_us", "");
/// The same of some kinds only, `$3`.
pub(crate) const NEXT_DUE_KINDS_POSTGRES: &str =
    next_due!(lanes_of_kinds!("$3"), "l.due_at_us", "");
pub(crate) const NEXT_DUE_PACED_POSTGRES: &str = next_due_paced!(lanes_due!());
/// The same of some kinds only, `$7`.
pub(crate) const NEXT_DUE_PACED_KINDS_POSTGRES: &str = next_due_paced!(lanes_of_kinds!("$7"));
