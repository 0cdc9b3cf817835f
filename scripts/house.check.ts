/** Rules of the house that no linter knows. Each names what to do where it is broken. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { REFUSALS } from '../src/refusal.ts'

const files = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(file => `${folder}/${file}`)
    .filter(file => file.endsWith('.ts'))
const source = files('src').filter(file => !file.endsWith('.test.ts'))
const read = (file: string) => readFileSync(file, 'utf8')

/** Statements of SQL, as they stand in template or plain strings. */
const SQL = /[`'"]\s*(select|insert into|update \w+ (\w+ )?set|delete from|with \w+ as \()\s/i

test('SQL stands in a store.ts or in db/', () => {
  const allowed = (file: string) => file.startsWith('src/db/') || file.endsWith('/store.ts')
  const strays = source.filter(file => !allowed(file) && SQL.test(read(file).replaceAll("'select 1'", '')))
  assert.deepEqual(strays, [], 'move the statement to the room’s store.ts')
})

test('no folder or file is a drawer for anything', () => {
  const drawers = source.filter(file =>
    /(^|[/-])(utils?|helpers?|common|misc|manager|processor)([/.-]|$)/.test(file),
  )
  assert.deepEqual(drawers, [], 'give it the name of what it is about')
})

test('files of the product are short', () => {
  const long = source.filter(file => read(file).split('\n').length > 400)
  assert.deepEqual(long, [], 'is this one room, or two?')
})

test('every error code of the contract has a test over HTTP', () => {
  const tests = files('test').map(read).join('\n')
  const untested = Object.keys(REFUSALS).filter(code => !new RegExp(`['"\`]${code}['"\`]`).test(tests))
  assert.deepEqual(untested, [], 'add a test to test/contract')
})

test('pure files read no clock and no chance', () => {
  const pure = source.filter(file => /^src\/(travel|timetable)\//.test(file))
  const impure = pure.filter(file =>
    /\bDate\.now\(|new Date\(\)|Temporal\.Now|Math\.random\(|performance\.now\(/.test(read(file)),
  )
  assert.deepEqual(impure, [], 'take the moment as an argument')
})

test('the lockfile names no foreign host', () => {
  const hosts = [...read('package-lock.json').matchAll(/"resolved": "https?:\/\/([^/"]+)/g)].map(
    match => match[1],
  )
  assert.deepEqual(
    [...new Set(hosts)].filter(host => host !== 'registry.npmjs.org'),
    [],
  )
})

test('direct dependencies are pinned exactly', () => {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read('package.json'))
  const loose = Object.entries<string>({ ...dependencies, ...devDependencies, ...optionalDependencies })
  assert.deepEqual(
    loose.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)),
    [],
  )
})
