import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { describeSchema } from '../scripts/schema.ts'
import { emptyDatabase, type TestDatabase } from './support/postgres.ts'

let place: TestDatabase
let copy: TestDatabase
before(async () => {
  place = await emptyDatabase()
  copy = await emptyDatabase()
})
after(async () => {
  await place.drop()
  await copy.drop()
})

const STATEMENTS = [
  `create type colour as enum ('red', 'it''s')`,
  `create domain code as text not null check (value ~ '^[A-Z]{3}$')`,
  `create sequence lone`,
  `create table parent (id bigint generated always as identity primary key, code code, at timestamptz not null default now(),
     amount numeric(10, 2) check (amount >= 0), twice numeric generated always as (amount * 2) stored, name text collate "C", unique (code, at))`,
  `create unlogged table child (parent_id bigint not null references parent on delete cascade, n serial, tags text[] default '{}', colour colour)
     with (fillfactor = 80)`,
  `create index child_tags on child using gin (tags) where n > 3`,
  `create table log (at date not null, text text) partition by range (at)`,
  `create table log_2026 partition of log for values from ('2026-01-01') to ('2027-01-01')`,
  `create view red as select n from child where colour = 'red'`,
  `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'append only'; end $$`,
  `create trigger keep before update or delete on log for each row execute function refuse()`,
  `alter table child enable row level security`,
  `create policy own on child for select using (n = 1)`,
  `comment on table parent is 'it''s one'`,
  `comment on column parent.code is 'three letters'`,
]

it('draws all that a schema holds, and the same each time', async () => {
  for (const statement of STATEMENTS) await place.database.query(statement)
  const picture = await describeSchema(place.database)
  assert.equal(await describeSchema(place.database), picture)
  for (const word of [
    'colour',
    '^[A-Z]{3}$',
    'child_tags',
    'log_2026',
    'append only',
    'keep',
    'policy own',
    'letters',
  ]) {
    assert.ok(picture.includes(word), word)
  }
  assert.match(picture, /create table parent \(\n {2}id bigint generated always as identity not null,/)
  assert.match(picture, /amount numeric\(10,2\)/)
  assert.match(
    picture,
    /constraint child_parent_id_fkey FOREIGN KEY \(parent_id\) REFERENCES parent\(id\) ON DELETE CASCADE/,
  )
  assert.match(picture, /create unlogged table child/)
})

it('notices every change', async () => {
  const seen = new Set<string>()
  for (const statement of STATEMENTS) {
    await copy.database.query(statement)
    seen.add(await describeSchema(copy.database))
  }
  assert.equal(seen.size, STATEMENTS.length)
})
