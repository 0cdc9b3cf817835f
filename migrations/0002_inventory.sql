-- Own flights: the schedule by carrier as it was imported, the timetable image compiled from it, fares, rates, and seats sold.

create table schedule_source (
  carrier text primary key,
  ssim bytea not null,
  legs integer not null,
  imported_at timestamptz not null default now()
);
comment on table schedule_source is 'One carrier''s schedule, gzip of SSIM records: the source from which an image of a newer layout is compiled';

create table timetable_chunk (
  position integer primary key,
  bytes bytea not null
);
comment on table timetable_chunk is 'The current timetable image, in pieces that a connection can carry';

create table fare (
  line integer primary key,
  carrier text not null,
  origin text not null,
  destination text not null,
  cabin text not null check (cabin in ('economy', 'business', 'first')),
  class text not null,
  currency char(3) not null,
  base bigint not null,
  per_km numeric not null,
  seats integer not null check (seats >= 0)
);

create table exchange_rate (
  provider text not null,
  as_of date not null,
  currency char(3) not null,
  per_euro numeric not null check (per_euro > 0),
  imported_at timestamptz not null default now(),
  primary key (provider, as_of, currency)
);

create table inventory_state (
  singleton boolean primary key default true check (singleton),
  schedule bigint not null default 0,
  image_hash text not null default '',
  image_version integer not null default 0,
  image_bytes bigint not null default 0,
  fares bigint not null default 0,
  rates bigint not null default 0,
  demo_made_on date
);
comment on table inventory_state is 'Generations: raised by every import, watched by every running server';
comment on column inventory_state.demo_made_on is 'The day the demo network was made; it is made again as days pass, until an operator replaces it';
insert into inventory_state default values;

create table seat (
  mode text not null check (mode in ('live', 'test')),
  leg text not null,
  departs date not null,
  cabin text not null,
  class text not null,
  sold integer not null check (sold >= 0),
  authorised integer not null,
  changed_by xid8 not null default pg_current_xact_id(),
  primary key (mode, leg, departs, cabin, class),
  check (sold <= authorised)
) with (fillfactor = 80);
comment on table seat is 'Seats sold on a leg''s departure: a row a booking class, and one with class '''' for the whole cabin; no row means none sold';
comment on column seat.changed_by is 'The transaction that wrote the row last: followers read from the oldest one that was still running when they last looked';
create index seat_changed_by on seat (changed_by);

create sequence record_locator_ordinal as bigint;
-- Each installation begins somewhere else, so that one does not tell another's record locators.
select setval('record_locator_ordinal', 1 + floor(random() * 1000000000)::bigint);
