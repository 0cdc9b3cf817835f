/**
 * What must be true of a region's database at every moment when nothing runs. Plain SQL on a connection of its own: it shares no code with the
 * service, so that a mistake there is not made here again.
 */
import pg from 'pg'

/** A broken rule, and what broke it. */
export type Finding = { rule: string; what: string }

export type Books = {
  /** Bookings by status. */
  statuses: Readonly<Record<string, number>>
  /** Seats sold on all departures together. */
  seatsSold: number
  findings: readonly Finding[]
}

/** Each returns one row for every violation, in words. */
const RULES: readonly { rule: string; sql: string }[] = [
  {
    rule: 'R5 seats sold are the seats of pending and confirmed bookings',
    sql: `with held as (
        select b.mode, s.leg, s.departs, s.cabin, s."bookingClass" as class, sum(b.passengers)::int as seats
          from booking b,
               jsonb_to_recordset(nullif(b.claim, '')::jsonb -> 'seats') as s(leg text, departs date, cabin text, "bookingClass" text)
         where b.status in ('pending', 'confirmed')
         group by 1, 2, 3, 4, 5)
      select format('%s %s %s: %s sold, %s in bookings', leg, departs, class, coalesce(sold, 0), coalesce(seats, 0)) as what
        from held full join seat using (mode, leg, departs, cabin, class)
       where coalesce(sold, 0) <> coalesce(seats, 0)`,
  },
  {
    rule: 'R5 no more seats are sold than authorised',
    sql: `select format('%s %s %s: %s of %s', leg, departs, class, sold, authorised) as what from seat where sold > authorised or sold < 0`,
  },
  {
    rule: 'R5 a booking that stands holds seats',
    sql: `select id || ' ' || status as what from booking
           where status in ('pending', 'confirmed') and (claim = '' or jsonb_array_length(claim::jsonb -> 'seats') = 0)`,
  },
  {
    rule: 'R6 the ledger tells what the status says',
    sql: `select format('%s is %s with %s', b.id, b.status, kinds) as what
            from booking b
            left join (select booking_id, string_agg(kind, '+' order by id) as kinds from ledger_entry group by 1) l on l.booking_id = b.id
           where not case b.status
             when 'pending' then coalesce(kinds, '') = 'hold'
             when 'confirmed' then coalesce(kinds, '') = 'hold+charge'
             when 'failed' then coalesce(kinds, '') = 'hold+release'
             else coalesce(kinds, '') in ('hold+release', 'hold+charge+refund') end`,
  },
  {
    rule: 'R6 every entry moves the price of its booking',
    sql: `select format('%s of %s: %s %s', l.kind, l.booking_id, l.amount, l.currency) as what
            from ledger_entry l join booking b on b.id = l.booking_id
           where (l.amount, l.currency) <> (b.total, b.currency) or (l.account_id, l.mode) <> (b.account_id, b.mode)
              or b.total <> b.per_person * b.passengers`,
  },
  {
    rule: 'R6 entries without a booking end in a release',
    sql: `select booking_id || ': ' || string_agg(kind, '+' order by id) as what from ledger_entry l
           where not exists (select from booking b where b.id = l.booking_id)
           group by booking_id having string_agg(kind, '+' order by id) <> 'hold+release'`,
  },
  {
    rule: 'R7 history, version and status agree',
    sql: `select format('%s is %s, version %s, history %s', id, status, version, status_history) as what from booking
           where status_history -> 0 ->> 'status' <> 'pending' or status_history -> -1 ->> 'status' <> status
              or jsonb_array_length(status_history) + jsonb_array_length(changes) <> least(version, jsonb_array_length(status_history) + 50)`,
  },
  {
    rule: 'R7 one event for each change, versions without a gap',
    sql: `select format('%s is at version %s with events for %s', b.id, b.version, array_agg(e.version order by e.version)) as what
            from booking b left join event e on e.booking_id = b.id
           group by b.id having coalesce(array_agg(e.version order by e.version) filter (where e.version is not null), '{}')
             <> (select coalesce(array_agg(n), '{}') from generate_series(2, b.version) as n)`,
  },
  {
    rule: 'a departure is closed while its flight is cancelled or late',
    sql: `select format('%s %s %s: %s', s.mode, s.leg, s.departs, s.closed) as what
            from operated_leg o join seat s using (leg, departs)
           where s.class = '' and s.closed is distinct from (o.cancelled or o.delay_minutes > 0)`,
  },
  {
    rule: 'nobody who stands has a seat on a cancelled departure that all have followed',
    sql: `select format('%s on %s %s', b.id, l.leg, l.departs) as what
            from operated_leg o join booked_leg l using (leg, departs) join booking b on b.seq = l.booking_seq
           where o.cancelled and b.status in ('pending', 'confirmed')
             and not exists (select from flight_operation f where f.finished_at is null)`,
  },
  {
    rule: 'every seat that a booking holds is listed under its leg',
    sql: `select b.id as what
            from booking b, jsonb_to_recordset(nullif(b.claim, '')::jsonb -> 'seats') as s(leg text, departs date)
           where not exists (select from booked_leg l where l.leg = s.leg and l.departs = s.departs and l.booking_seq = b.seq)`,
  },
  {
    rule: 'R10 only known transitions happened',
    sql: `select format('%s went %s to %s', id, status_history -> (n - 1) ->> 'status', status_history -> n ->> 'status') as what
            from booking, generate_series(1, jsonb_array_length(status_history) - 1) as n
           where (status_history -> (n - 1) ->> 'status', status_history -> n ->> 'status')
             not in (('pending', 'confirmed'), ('pending', 'failed'), ('pending', 'cancelled'), ('confirmed', 'cancelled'))`,
  },
  {
    rule: 'a confirmed booking has a locator of its own, and its confirmation is owed or sent',
    sql: `select b.id || ' ' || record_locator as what from booking b
           where status = 'confirmed' and (record_locator = '' or not exists (select from confirmation c where c.booking_id = b.id))
          union all
          select 'locator ' || record_locator || ' stands on ' || count(*) from booking where record_locator <> '' group by record_locator having count(*) > 1`,
  },
  {
    rule: 'every pending booking will be looked at, and no settled one',
    sql: `select id || ' ' || status as what from booking where (status = 'pending') <> (reconcile_at is not null)`,
  },
  {
    rule: 'every booking has all its passengers',
    sql: `select b.id as what from booking b left join passenger p on p.booking_id = b.id group by b.id having count(p) <> b.passengers`,
  },
]

/** Checks every rule on a database, at a moment when nothing is being booked. */
export async function checkBooks(databaseUrl: string): Promise<Books> {
  return withConnection(databaseUrl, async query => {
    const findings: Finding[] = []
    for (const { rule, sql } of RULES) {
      for (const { what } of await query<{ what: string }>(sql)) findings.push({ rule, what })
    }
    const statuses = await query<{ status: string; count: number }>(
      'select status, count(*)::int from booking group by status',
    )
    const [seats] = await query<{ sold: number }>(
      "select coalesce(sum(sold), 0)::int as sold from seat where class <> ''",
    )
    return {
      statuses: Object.fromEntries(statuses.map(({ status, count }) => [status, count])),
      seatsSold: seats!.sold,
      findings,
    }
  })
}

/** Runs statements on a connection of its own. */
export async function withConnection<T>(
  databaseUrl: string,
  work: (query: <R>(sql: string, values?: unknown[]) => Promise<R[]>) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(
      async <R>(sql: string, values?: unknown[]) => (await client.query(sql, values)).rows as R[],
    )
  } finally {
    await client.end()
  }
}
