import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { adapt, canStart, createTurns, isAiling, type Lane, type Queued, WIDTH_MAX } from './lane.ts'

function lane(endpoint: number, rows: number): Lane {
  return {
    endpoint,
    epoch: 1,
    id: 'whk_x' as Lane['id'],
    revision: 1,
    url: undefined,
    secrets: undefined,
    width: 2,
    failures: 0,
    buffer: Array.from({ length: rows }, (_, event) => ({ event }) as Queued),
    unsettled: new Set(),
    inFlight: 0,
    hungry: false,
    wakes: 0,
    busyAt: 0,
    dropped: false,
    queued: false,
    wires: [],
    sessions: {},
  }
}

test('a lane grows by one success at a time and halves by a failure, between one and eight', () => {
  const one = lane(1, 0)
  const widths = [true, true, true, true, true, true, true, false, false, false, false, true].map(good => {
    adapt(one, good)
    return one.width
  })
  assert.deepEqual(widths, [3, 4, 5, 6, 7, 8, 8, 4, 2, 1, 1, 2])
  for (let i = 0; i < 5; i++) adapt(one, false)
  assert.ok(isAiling(one))
  adapt(one, true)
  assert.ok(!isAiling(one))
})

test('whatever succeeds, fails, comes and goes: no lane is wider than its width, none is forgotten, ailing ones leave half the slots', () => {
  const step = fc.record({
    lane: fc.nat(7),
    kind: fc.constantFrom('row', 'good', 'bad', 'drop', 'start', 'start', 'start'),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), steps => {
      const slots = 8
      const lanes = Array.from({ length: 8 }, (_, i) => lane(i, 0))
      const turns = createTurns()
      const flying: { lane: Lane; ailing: boolean }[] = []
      const start = () => {
        while (flying.length < slots) {
          const next = turns.next(flying.filter(one => one.ailing).length < slots / 2)
          if (next === undefined) return
          assert.ok(canStart(next))
          flying.push({ lane: next, ailing: isAiling(next) })
          next.buffer.shift()
          next.inFlight++
          turns.add(next)
        }
      }
      for (const { lane: i, kind } of steps) {
        const one = lanes[i]!
        if (kind === 'row' && !one.dropped) {
          one.buffer.push({} as Queued)
          turns.add(one)
        } else if (kind === 'drop') {
          one.dropped = true
          one.buffer = []
        } else if (kind === 'start') start()
        else {
          const at = flying.findIndex(flight => flight.lane === one)
          if (at < 0) continue
          flying.splice(at, 1)
          one.inFlight--
          adapt(one, kind === 'good')
          turns.add(one)
        }
        assert.ok(lanes.every(each => each.inFlight <= WIDTH_MAX))
        assert.ok(flying.filter(flight => flight.ailing).length <= slots / 2)
      }
      // All that is left is sent, in the end.
      for (let i = 0; i < 10_000 && (flying.length > 0 || lanes.some(canStart)); i++) {
        start()
        const flight = flying.shift()
        if (flight === undefined) break
        flight.lane.inFlight--
        adapt(flight.lane, true)
        turns.add(flight.lane)
      }
      assert.ok(lanes.every(each => each.buffer.length === 0))
    }),
    { numRuns: 1_000 },
  )
})

test('lanes take turns: one with much to do does not keep one with little waiting', () => {
  const turns = createTurns()
  const [much, little] = [lane(1, 1_000), lane(2, 1)]
  much.width = 8
  turns.add(much)
  turns.add(little)
  const order: number[] = []
  for (let next = turns.next(true); next !== undefined && order.length < 4; next = turns.next(true)) {
    order.push(next.endpoint)
    next.buffer.shift()
    turns.add(next)
  }
  assert.ok(order.indexOf(2) <= 1, order.join())
})
