-- name: insert_job
insert into job (id, spec, resolved, repo, base, backend, state, executor, created, retry_of)
values (:id, :spec, :resolved, :repo, :base, :backend, 'queued', :executor, :created, :retry_of);

-- name: get_job
select * from job where id = :id;

-- name: list_jobs
select * from job where (:repo is null or repo = :repo) order by created desc, id desc limit :limit;

-- name: jobs_by_prefix
select id from job where id like :prefix || '%' order by created desc limit 20;

-- name: recent_ids
select id from job order by created desc limit 200;

-- name: open_jobs
select * from job where ended is null order by created;

-- name: set_state
update job set state = :state where id = :id and state = :was and ended is null
    and (cancel_at is null or :state <> 'delivering');

-- name: set_base
update job set base = :base where id = :id and ended is null;

-- name: set_executor
update job set executor = :executor where id = :id and executor is :was and ended is null;

-- name: request_cancel
update job set cancel_at = :at where id = :id and cancel_at is null and ended is null and state <> 'delivering';

-- name: end_job
update job set state = :verdict, verdict = :verdict, reason = :reason, ended = :at where id = :id and ended is null;

-- name: insert_attempt
insert into attempt (id, job, n, state, started) values (:id, :job, :n, 'running', :started)
on conflict do nothing;

-- name: end_attempt
update attempt set state = :state, ended = :ended where id = :id and ended is null;

-- name: attempts
select * from attempt where job = :job order by n;

-- name: append_event
insert into event (job, seq, at, kind, once, data)
select :job, coalesce((select max(seq) from event where job = :job), 0) + 1, :at, :kind, :once, :data
where :once is null or not exists (select 1 from event where job = :job and once = :once);

-- name: last_seq
select coalesce(max(seq), 0) as seq from event where job = :job;

-- name: count_events
select count(*) as n from event where job = :job and kind = :kind;

-- name: events_since
select seq, at, kind, data from event where job = :job and seq > :seq order by seq limit :limit;

-- name: insert_outcome
insert into outcome (job, at, document)
select :job, :at, :document where not exists (select 1 from outcome where job = :job);

-- name: get_outcome
select document from outcome where job = :job;

-- name: insert_artifact
insert into artifact (job, kind, digest, size) values (:job, :kind, :digest, :size)
on conflict do update set gone = null;

-- name: artifacts
select kind, digest, size from artifact where job = :job order by kind;

-- name: kept_artifacts
select artifact.job, artifact.kind, artifact.digest, job.ended from artifact join job on job.id = artifact.job
where artifact.gone is null and (:digest is null or artifact.digest = :digest) order by artifact.digest;

-- name: mark_gone
update artifact set gone = :at where digest = :digest and gone is null;

-- name: insert_executor
insert into executor (id, pid, host, started) values (:id, :pid, :host, :started) on conflict do nothing;

-- name: end_executor
update executor set ended = :ended where id = :id and ended is null;
