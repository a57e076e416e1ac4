-- Jobs, their attempts, what happened, and the one outcome each job ends in.
create table job (
    id          text primary key,
    spec        text not null,                 -- the job as asked, JSON, frozen
    resolved    text not null,                 -- backend, level and the like, JSON, frozen before anything starts
    repo        text not null,                 -- top level of the user's checkout
    base        text not null,                 -- commit the work starts from
    backend     text not null,                 -- harness@provider/model
    state       text not null,                 -- see inspan.store.states
    executor    text,                          -- the driver that holds it
    created     text not null,
    ended       text,
    verdict     text,
    reason      text,
    cancel_at   text,                          -- when a person asked to cancel
    retry_of    text references job (id) on delete set null
) without rowid;
create index job_created on job (created);
create index job_open on job (created) where ended is null;

create table attempt (
    id          text primary key,              -- <job>.a<n>
    job         text not null references job (id) on delete cascade,
    n           integer not null,
    state       text not null,
    started     text not null,
    ended       text,
    unique (job, n)
) without rowid;

create table event (
    job         text not null references job (id) on delete cascade,
    seq         integer not null,
    at          text not null,
    kind        text not null,
    once        text,                          -- a step that is run again writes its event once
    data        text not null,
    primary key (job, seq)
) without rowid;
create unique index event_once on event (job, once) where once is not null;

create table outcome (
    job         text primary key references job (id) on delete cascade,
    at          text not null,
    document    text not null                  -- inspan.outcome/1
) without rowid;

create table artifact (
    job         text not null references job (id) on delete cascade,
    kind        text not null,
    digest      text not null,
    size        integer not null,
    primary key (job, kind, digest)
) without rowid;

create table executor (
    id          text primary key,
    pid         integer not null,
    host        text not null,
    started     text not null,
    ended       text
) without rowid;

create trigger event_is_append_only before update on event
begin
    select raise(abort, 'an event is never changed');
end;

create trigger event_is_kept before delete on event
begin
    select raise(abort, 'an event is never removed');
end;

create trigger outcome_is_written_once before update on outcome
begin
    select raise(abort, 'an outcome is never changed');
end;

create trigger outcome_is_kept before delete on outcome
begin
    select raise(abort, 'an outcome is never removed');
end;

-- The last line of defence under inspan.store.store: a cancelled job has no other outcome.
create trigger outcome_keeps_cancelled before insert on outcome
when (select cancel_at from job where id = new.job) is not null
    and json_extract(new.document, '$.verdict') <> 'cancelled'
begin
    select raise(abort, 'the job was cancelled');
end;
