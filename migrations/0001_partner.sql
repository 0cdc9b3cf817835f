-- Who may call: accounts, their keys, and one line for every request they made.

create table account (
  id text primary key,
  -- Each region has a database of its own; the column refuses keys of a dump restored into the wrong one.
  region text not null check (region in ('intl', 'cn')),
  name text not null check (char_length(name) between 1 and 200),
  plan text not null check (plan in ('enterprise', 'developer')),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  live_approved_at timestamptz,
  created_at timestamptz not null default now()
);

create table api_key (
  id text primary key,
  account_id text not null references account (id),
  mode text not null check (mode in ('live', 'test')),
  name text not null default '' check (char_length(name) <= 100),
  -- Who made it: 'operator', or the id of a person of the dashboard.
  maker text not null,
  scopes text[] not null check (cardinality(scopes) > 0 and scopes <@ array['search', 'book', 'read', 'webhooks']),
  -- HMAC-SHA-256 of the key under the pepper of this version. A deleted key keeps its record but loses its
  -- hash: from then on it is as unknown as a key that never was.
  hash bytea unique check (octet_length(hash) = 32),
  pepper_version integer not null,
  -- Prefix and last four characters, all of the key that is ever shown again.
  hint text not null,
  created_at timestamptz not null default now(),
  -- To the minute, and written behind the requests.
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  deleted_at timestamptz,
  replaced_by text references api_key (id),
  check ((hash is null) = (deleted_at is not null))
) with (fillfactor = 80);

create index api_key_account on api_key (account_id, created_at);

-- One number that says whether anything a cached key was judged by has changed. A row and not a sequence:
-- the new number becomes visible together with the change, and numbers become visible in their order.
create table key_generation (
  only_row boolean primary key default true check (only_row),
  number bigint not null
);
insert into key_generation (number) values (1);

create function raise_key_generation() returns trigger language plpgsql as $$
begin
  update key_generation set number = number + 1;
  perform pg_notify('airside', 'keys');
  return null;
end
$$;

-- Triggers, so that no way of changing a key, by hand in psql included, can forget to tell.
create trigger account_changed
  after insert or delete or truncate or update on account
  for each statement execute function raise_key_generation();

create trigger api_key_changed
  after insert or delete or truncate
  or update of account_id, mode, scopes, hash, expires_at, revoked_at, deleted_at on api_key
  for each statement execute function raise_key_generation();

-- What partners see of their own traffic, and what support looks up by request id. No body, no query string,
-- no traveller: the route is the pattern, never the path. No foreign keys: a line must never wait for a key.
create table request_log (
  request_id text primary key,
  account_id text,
  key_id text,
  mode text check (mode in ('live', 'test')),
  method text not null,
  route text not null,
  status smallint not null,
  -- The error code, null for a success.
  code text,
  duration_ms real not null,
  at timestamptz not null
);

create index request_log_account on request_log (account_id, mode, at desc) where account_id is not null;
-- For pruning: rows come in the order of time, so a few pages of summary replace a whole tree.
create index request_log_at on request_log using brin (at);
