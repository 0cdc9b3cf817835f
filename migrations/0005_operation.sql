-- What a carrier did to flights already on sale, and which bookings that touches.

create table operated_leg (
  departs date not null,
  leg text collate "C" not null,
  cancelled boolean not null default false,
  delay_minutes integer not null default 0 check (delay_minutes >= 0),
  primary key (departs, leg)
);
comment on table operated_leg is 'What has become of a leg''s departure; a departure without a row goes as it was sold';

create table flight_operation (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('delay', 'cancel', 'restore')),
  flight text not null,
  departs date not null,
  board text not null,
  minutes integer not null default 0,
  legs text[] not null,
  leg_dates date[] not null,
  reached bigint not null default 0,
  bookings_updated integer not null default 0,
  bookings_cancelled integer not null default 0,
  bookings_unchanged integer not null default 0,
  bookings_failed integer not null default 0,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  check (cardinality(legs) = cardinality(leg_dates) and cardinality(legs) > 0)
);
comment on table flight_operation is 'What was done to a flight date, and how far the bookings on it have followed';
comment on column flight_operation.departs is 'Local date at the board point';
comment on column flight_operation.reached is 'The last booking that has followed, by its seq: a batch that was broken off goes on from here';
comment on column flight_operation.bookings_failed is 'Could not be changed for a defect, and were passed over so that the others could follow';
create index flight_operation_unfinished on flight_operation (id) where finished_at is null;
create index flight_operation_by_flight on flight_operation (flight, departs);

-- No foreign key: it would cost every booking a look-up, and a row whose booking is gone is found by nobody.
create table booked_leg (
  departs date not null,
  leg text collate "C" not null,
  booking_seq bigint not null,
  primary key (departs, leg, booking_seq)
);
comment on table booked_leg is 'Which bookings have seats on a leg''s departure, in the order they were made';
insert into booked_leg (departs, leg, booking_seq)
  select distinct s.departs, s.leg, b.seq
    from booking b, jsonb_to_recordset(b.claim::jsonb -> 'seats') as s(leg text, departs date)
   where b.supplier = 'inventory' and b.claim <> '';

alter table seat add column closed boolean;
comment on column seat.closed is 'On the row of a whole cabin: whether its departure is closed for sale; null where it never was';

alter table booking add column changes jsonb not null default '[]';
comment on column booking.changes is 'The latest changes that left the status as it was, oldest first, each with the version it made';
