-- What was sold, who travels, what it cost, and who is owed a confirmation.

create table booking (
  id text primary key,
  seq bigint generated always as identity unique,
  account_id text not null,
  mode text not null check (mode in ('live', 'test')),
  status text not null check (status in ('pending', 'confirmed', 'failed', 'cancelled')),
  version integer not null default 1,
  supplier text not null,
  supplier_reference bytea not null,
  claim text not null,
  record_locator text not null default '',
  offer_hash bytea not null,
  request_mac bytea not null,
  slices jsonb not null,
  passengers integer not null check (passengers between 1 and 9),
  per_person bigint not null,
  total bigint not null,
  currency char(3) not null,
  rates text not null,
  data_key bytea not null,
  contact bytea not null,
  status_history jsonb not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  acknowledged boolean not null default false,
  reconcile_at timestamptz,
  reconcile_attempts integer not null default 0,
  unique (account_id, mode, offer_hash)
);
comment on column booking.slices is 'The itinerary as sold: instants, and the local offsets that held when it was sold';
comment on column booking.claim is 'What the supplier''s stock gave for this booking, to be given back once';
comment on column booking.rates is 'Provider and date of the exchange rates behind the price, empty where none were needed';
comment on column booking.data_key is 'The key of this booking''s traveller data, wrapped by one derived from the master secret';
comment on column booking.acknowledged is 'Whether anybody may have been told of it: until then it is removed without a trace when its supplier refuses';
comment on column booking.reconcile_at is 'When a pending booking is looked at again; null once it is settled';
create index booking_by_account on booking (account_id, mode, seq);
create index booking_to_reconcile on booking (reconcile_at) where reconcile_at is not null;

create table passenger (
  booking_id text not null references booking on delete cascade,
  position integer not null,
  details bytea not null,
  document bytea,
  primary key (booking_id, position)
);
comment on table passenger is 'Travellers, encrypted under the booking''s data key; the document can be erased alone';

create table idempotency (
  account_id text not null,
  mode text not null,
  key text not null,
  request_mac bytea not null,
  status integer,
  body text,
  created_at timestamptz not null default now(),
  running_until timestamptz not null,
  primary key (account_id, mode, key)
);
create index idempotency_by_age on idempotency (created_at);

create table ledger_entry (
  id bigint generated always as identity primary key,
  account_id text not null,
  mode text not null,
  booking_id text not null,
  kind text not null check (kind in ('hold', 'charge', 'release', 'refund')),
  debit text not null,
  credit text not null,
  amount bigint not null check (amount >= 0),
  currency char(3) not null,
  created_at timestamptz not null default now(),
  unique (booking_id, kind),
  check (debit <> credit)
);
comment on table ledger_entry is 'Append-only double entry: each row moves an amount from one book (credit) to another (debit)';

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name;
end $$;
create trigger ledger_entry_append_only before update or delete or truncate on ledger_entry
  for each statement execute function refuse_change();

create table confirmation (
  booking_id text primary key references booking on delete cascade,
  state text not null default 'due' check (state in ('due', 'sending', 'sent', 'logged', 'uncertain', 'refused')),
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  settled_at timestamptz,
  problem text
);
comment on table confirmation is 'The confirmation e-mail owed for a booking, written with the confirmation itself';
create index confirmation_due on confirmation (due_at) where state in ('due', 'sending');
