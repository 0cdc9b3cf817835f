import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ssimReader } from '../src/timetable/ssim.ts'
import { unpacked } from '../src/timetable/ssim-fields.ts'
import { dayNumber } from '../src/travel/time.ts'
import { worldSchedule } from './world.ts'

const today = dayNumber('2026-11-21')!

test('a small world is a sound schedule with few large airports and many small ones', () => {
  const reader = ssimReader()
  reader.push(worldSchedule({ seed: 7, today, scale: 0.05 }))
  const { legs, legCount, warnings } = reader.end()
  assert.deepEqual(warnings, [])
  const routes = new Map<string, Set<string>>()
  for (let i = 0; i < legCount; i++) {
    const [origin, destination] = [unpacked(legs.origin[i]!), unpacked(legs.destination[i]!)]
    routes.set(origin, (routes.get(origin) ?? new Set()).add(destination))
  }
  assert.ok(routes.size > 95 && routes.size <= 102, `${routes.size} airports`)
  const degrees = [...routes.values()].map(to => to.size).sort((a, b) => a - b)
  assert.ok(degrees[50]! <= 6, `median ${degrees[50]}`)
  assert.ok(degrees.at(-1)! > 30, `largest ${degrees.at(-1)}`)
  assert.ok(legs.sequence.subarray(0, legCount).includes(2), 'some flights have two legs')
})

test('equal arguments give equal bytes, another seed another world', () => {
  const world = (seed: number) => Buffer.from(worldSchedule({ seed, today, scale: 0.02 }))
  assert.ok(world(7).equals(world(7)))
  assert.ok(!world(7).equals(world(8)))
})
