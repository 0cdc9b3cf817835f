import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scriptsOf } from './pgbench.ts'

const hash = Buffer.from('0a0b', 'hex')

test('a recorded booking becomes a script with fresh keys and days and constants for the rest', () => {
  const { texts, constants } = scriptsOf([
    {
      fresh: ['bkg_1', hash],
      transactions: [
        {
          explicit: true,
          statements: [
            { text: 'insert into booking values ($1, $2::bytea, $3)', values: ['bkg_1', hash, ''] },
            {
              text: 'update seat set x = $2 where day = any($1::date[])',
              values: [['2026-12-01', '2026-12-02'], 7],
            },
          ],
        },
        {
          explicit: false,
          statements: [{ text: `select to_char(now(), 'HH24:MI'), $1::text`, values: [null] }],
        },
      ],
    },
  ])
  assert.deepEqual(texts[0]!.trimEnd().split('\n').slice(2), [
    'begin;',
    "insert into booking values (:key, :key::bytea, '');",
    'update seat set x = :c0 where day = any(array[:day,:day]::date[]);',
    'commit;',
    "select to_char(now(), 'HH24:' || 'MI'), null::text;",
  ])
  assert.deepEqual([...constants], [['c0', '7']])
})

test('arrays and bytes stand in the script as PostgreSQL reads them', () => {
  const values = [['a "b"', 'c\\', null], hash, [hash]]
  const statements = [{ text: 'select $1, $2, $3', values }]
  const { constants } = scriptsOf([{ fresh: [], transactions: [{ explicit: false, statements }] }])
  assert.deepEqual([...constants.values()], ['{"a \\"b\\"","c\\\\",NULL}', '\\x0a0b', '{"\\\\x0a0b"}'])
})
