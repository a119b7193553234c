-- What services call in their own transactions. A node fills in what is in braces and runs it all
-- in one transaction. What others call works with the rights of the tables' owner: whoever may use
-- the schema of the functions may do just what they do. So names are looked up in PostgreSQL's own
-- catalog only, and tables are named in full: in `public`, others may have functions of the same name.
do $almanack$
begin
    -- `if not exists` would need the right to create one even where it exists.
    if to_regnamespace({functions_name}) is null then
        create schema {functions};
    end if;
end
$almanack$;

-- Writes a row into the inbox. Not callable by others: it has only its caller's rights.
create or replace function {tables}.inbox_write(
    verb text, kind text, subject text, options jsonb, request jsonb
) returns bigint
language plpgsql volatile as $almanack$
#variable_conflict use_column
declare
    known text[] := case inbox_write.verb when 'put' then {put_options} else {cancel_options} end;
    unknown text;
    place bigint;
    written bigint;
begin
    if coalesce(inbox_write.kind, '') !~ '^[A-Za-z][A-Za-z0-9_.-]*$'
        or octet_length(inbox_write.kind) > {kind_bytes}
    then
        raise invalid_parameter_value using message = format(
            'kind %L must start with a letter and have at most {kind_bytes} letters, digits, `_`, `-` or `.`',
            left(inbox_write.kind, {kind_bytes}));
    end if;
    if coalesce(octet_length(inbox_write.subject), 0) not between 1 and {subject_bytes}
        or inbox_write.subject ~ '^{blank}|{blank}$|[\u0001-\u001f\u007f-\u009f]'
    then
        raise invalid_parameter_value using message = format(
            'subject must have 1 to {subject_bytes} bytes, no control characters and no blank at either end; '
            'this one has %s bytes', coalesce(octet_length(inbox_write.subject), 0));
    end if;
    if jsonb_typeof(coalesce(inbox_write.options, 'null')) <> 'object' then
        raise invalid_parameter_value using message = 'options must be a JSON object';
    end if;
    select string_agg(format('`%s`', left(given, 100)), ', ' order by given) into unknown
        from jsonb_object_keys(inbox_write.options) given where given <> all (known);
    if unknown is not null then
        raise invalid_parameter_value using
            message = format('unknown option %s', unknown),
            hint = format('Options are %s.', array_to_string(known, ', '));
    end if;
    if octet_length(inbox_write.options::text) > {options_bytes} then
        raise invalid_parameter_value using message = format(
            'options have %s bytes; the limit is {options_bytes}',
            octet_length(inbox_write.options::text));
    end if;
    loop
        select coalesce(max(nth), 0) + 1 into place from {tables}.inbox
            where inbox.kind = inbox_write.kind and inbox.subject = inbox_write.subject;
        -- Waits here for a transaction that has taken this place and is still open. If it commits,
        -- the next place is ours; a snapshot that cannot see that fails as it would for a row.
        insert into {tables}.inbox (nth, asked_at_us, version, verb, kind, subject, role, request)
            values (place, (extract(epoch from clock_timestamp()) * 1000000)::bigint, {version},
                inbox_write.verb, inbox_write.kind, inbox_write.subject, session_user,
                (inbox_write.options || inbox_write.request)::text)
            on conflict (kind, subject, nth) do nothing returning number into written;
        exit when written is not null;
    end loop;
    perform pg_notify({channel}, 'inbox');
    return written;
end
$almanack$;
revoke all on function {tables}.inbox_write(text, text, text, jsonb, jsonb) from public;

create or replace function {functions}.put(
    kind text, subject text, execute_at timestamptz,
    payload jsonb default null, options jsonb default '{{}}'
) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $almanack$
begin
    if put.execute_at is null or not isfinite(put.execute_at)
        or put.execute_at not between '0001-01-01 00:00:00+00' and '9999-12-31 23:59:59.999999+00'
    then
        raise invalid_parameter_value using
            message = 'execute_at must be an instant of the years 1 to 9999',
            hint = 'To withdraw a task, call cancel.';
    end if;
    if octet_length(put.payload::text) > {payload_bytes} then
        raise invalid_parameter_value using message = format(
            'payload has %s bytes; the limit is {payload_bytes}', octet_length(put.payload::text));
    end if;
    return {tables}.inbox_write('put', put.kind, put.subject, put.options,
        jsonb_build_object('kind', put.kind, 'execute_at',
            to_char(put.execute_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
        || case when put.payload is null then '{{}}'::jsonb
            else jsonb_build_object('payload', put.payload) end);
end
$almanack$;

create or replace function {functions}.cancel(
    kind text, subject text, options jsonb default '{{}}'
) returns bigint
language sql volatile security definer set search_path = pg_catalog, pg_temp
as $almanack$
    select {tables}.inbox_write('cancel', cancel.kind, cancel.subject, cancel.options,
        jsonb_build_object('kind', cancel.kind));
$almanack$;

-- What became of a request, to the role that made it; null to everybody else.
create or replace function {functions}.receipt(inbox_number bigint) returns jsonb
language sql stable security definer set search_path = pg_catalog, pg_temp
as $almanack$
    select jsonb_strip_nulls(jsonb_build_object(
        'number', i.number, 'verb', i.verb, 'kind', i.kind, 'subject', i.subject,
        'origin', 'sql:' || i.role,
        'asked_at', to_char(to_timestamp(i.asked_at_us / 1000000.0) at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        'answered_at', to_char(to_timestamp(i.answered_at_us / 1000000.0) at time zone 'UTC',
            'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')))
        || coalesce(i.answer::jsonb, '{{}}')
    from {tables}.inbox i where i.number = receipt.inbox_number and i.role = session_user;
$almanack$;

comment on function {functions}.put(text, text, timestamptz, jsonb, jsonb) is {comment};
