-- Who is told: events, the endpoints that asked for them, what is still to be delivered, and what was tried.

create table event (
  -- Short, for the rows that point here; partners see `id`.
  seq bigint generated always as identity primary key,
  id text not null unique,
  account_id text not null,
  mode text not null check (mode in ('live', 'test')),
  booking_id text,
  version integer,
  type text not null check (type in ('booking.confirmed', 'booking.failed', 'booking.cancelled', 'booking.updated')),
  body bytea not null,
  owed integer not null check (owed >= 0),
  created_at timestamptz not null default clock_timestamp(),
  unique (booking_id, version),
  check ((booking_id is null) = (version is null))
);
comment on table event is 'One change of a booking, written in its transaction; a test event has no booking';
comment on column event.body is 'The bytes every attempt sends, rendered once';
comment on column event.owed is 'How many endpoints it was owed to when it happened; the loss audit counts against it';
create index event_by_account on event (account_id, mode, seq);
create index event_by_age on event (created_at);

create table endpoint (
  seq integer generated always as identity primary key,
  id text not null unique,
  account_id text not null,
  mode text not null check (mode in ('live', 'test')),
  url text not null,
  events text[] not null check (cardinality(events) > 0),
  secret bytea not null,
  secret_given boolean not null,
  previous_secret bytea,
  previous_given boolean,
  cut_over_at timestamptz,
  -- Raised by every change that a worker holding the lane must see.
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  check ((previous_secret is null) = (cut_over_at is null) and (previous_secret is null) = (previous_given is null))
);
comment on column endpoint.secret is 'Sealed for this endpoint and region; a generated one where the partner gave none';
comment on column endpoint.secret_given is 'Whether the partner gave the secret: only then is there a contract signature';
comment on column endpoint.previous_secret is 'Signs beside the new one until `cut_over_at`';
create index endpoint_by_account on endpoint (account_id, mode) where deleted_at is null;

-- One row for each endpoint, made with it. No booking touches it, and only its owner writes it while it has one.
create table lane (
  endpoint integer primary key references endpoint on delete cascade,
  state text not null default 'open' check (state in ('open', 'disabled', 'closed')),
  owner bigint,
  epoch bigint not null default 0,
  width smallint not null default 2 check (width between 1 and 8),
  failing_since timestamptz,
  exhausted integer not null default 0,
  last_success_at timestamptz,
  noticed_at timestamptz,
  disabled_at timestamptz,
  disabled_reason text check (disabled_reason in ('failing', 'gone', 'operator')),
  closed_at timestamptz
) with (fillfactor = 50);
comment on column lane.epoch is 'Raised with every change of hands: a result that carries an older one settles nothing';
comment on column lane.failing_since is 'The first failure after the last success';
comment on column lane.exhausted is 'Deliveries exhausted since the last success';
create index lane_owned on lane (owner) where owner is not null;

create table worker (
  id bigint generated always as identity primary key,
  lease_until timestamptz not null,
  started_at timestamptz not null default now()
) with (fillfactor = 50);
comment on table worker is 'Live senders. Whoever finds a lease run out deletes the row; its lanes are then free';

-- Live rows only. No foreign keys: checking them would lock the rows of endpoints in every booking.
create table delivery (
  endpoint integer not null,
  event bigint not null,
  event_at timestamptz not null,
  series integer not null default 0,
  attempt smallint not null default 1,
  gone smallint not null default 0,
  due_at timestamptz not null default now(),
  primary key (endpoint, event)
) with (
  fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 0
);
comment on column delivery.series is '0 is what was owed when the event happened; each redelivery is one more';
comment on column delivery.attempt is 'Number of the attempt that comes next';
comment on column delivery.gone is 'Answers 410 so far';
create index delivery_due on delivery (endpoint, due_at, event);

-- By day of `started_at`; the worker makes the days ahead and drops the old ones.
create table attempt (
  endpoint integer not null,
  event bigint not null,
  event_at timestamptz not null,
  series integer not null,
  n smallint not null,
  started_at timestamptz not null,
  dns_ms real,
  connect_ms real,
  tls_ms real,
  headers_ms real,
  peer text,
  tls text,
  status smallint,
  reason text,
  answer bytea check (octet_length(answer) <= 16384),
  cut boolean not null default false,
  stale boolean not null default false,
  final boolean not null default false
) partition by range (started_at);
comment on table attempt is 'What was tried and what came of it; no secret, signature or request body';
comment on column attempt.n is '0 where a delivery ended without being tried';
comment on column attempt.dns_ms is 'Null, with connect and TLS, on a connection that was already open';
comment on column attempt.reason is 'Null for delivered';
comment on column attempt.cut is 'The answer was longer, or slower, than what is kept: its connection was closed';
comment on column attempt.stale is 'Reported by a worker that had lost the lane: it settled nothing';
comment on column attempt.final is 'The delivery ended with this row';
create index attempt_by_endpoint on attempt (endpoint, started_at);
create index attempt_by_event on attempt using brin (event, event_at) with (pages_per_range = 16);

-- Hours of events whose deliveries have all ended: they need no counting any more.
create table audited_hour (
  hour timestamptz primary key,
  owed bigint not null,
  final bigint not null
);
