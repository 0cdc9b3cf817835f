import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, engineOf } from '../support/ask-engine.ts'
import { tryEverything } from '../support/oracle.ts'
import { random } from '../support/random.ts'
import { randomWorld } from '../support/random-world.ts'

/** Worlds and questions to each; more of both with AIRSIDE_ORACLE_WORLDS, from another seed with AIRSIDE_ORACLE_SEED. */
const WORLDS = Number(process.env.AIRSIDE_ORACLE_WORLDS ?? 500)
const SEED = Number(process.env.AIRSIDE_ORACLE_SEED ?? 1)
const QUERIES = 16

test(`${WORLDS} small nasty worlds: the same options in the same order as trying everything`, t => {
  const seen = { queries: 0, empty: 0, options: 0, connections: 0, round: 0, full: 0 }
  for (let i = 0; i < WORLDS; i++) {
    const { world, ask: question } = randomWorld(random(SEED * 1_000_003 + i))
    const engine = engineOf(world)
    for (let q = 0; q < QUERIES; q++) {
      const query = question()
      const found = ask(engine, query)
      assert.deepEqual(found, tryEverything(world, query), `world ${i}, query ${q}: ${JSON.stringify(query)}`)
      seen.queries++
      seen.options += found.length
      if (found.length === 0) seen.empty++
      if (found.length === world.rules.offers) seen.full++
      if (query.returnDay !== undefined && found.length > 0) seen.round++
      if (found.some(option => option.slices.some(slice => slice.split('@').length === 4))) seen.connections++
    }
  }
  t.diagnostic(JSON.stringify(seen))
  // A test that compares empty lists proves nothing.
  assert.ok(seen.empty < seen.queries * 0.7, 'too many questions without an answer')
  assert.ok(seen.full > seen.queries * 0.05, 'too few lists were full')
  assert.ok(seen.connections > seen.queries * 0.05, 'too few journeys with two connections')
  assert.ok(seen.round > seen.queries * 0.05, 'too few round trips')
})
