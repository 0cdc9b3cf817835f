import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clockOf, decide } from './zone.ts'

test('two that agree outvote the third, whichever it is', () => {
  assert.deepEqual(decide(['Asia/Bishkek', 'America/Anchorage', 'Asia/Bishkek']), {
    zone: 'Asia/Bishkek',
    by: 'two',
  })
  assert.deepEqual(decide(['America/Denver', 'Europe/Warsaw', 'Europe/Warsaw']), {
    zone: 'Europe/Warsaw',
    by: 'two',
  })
  assert.deepEqual(decide(['Europe/Paris', 'Europe/Paris', 'Europe/London']), {
    zone: 'Europe/Paris',
    by: 'two',
  })
})

test('zones agree when their clocks do, whatever their names', () => {
  assert.deepEqual(decide(['Europe/Kyiv', 'Europe/Kiev', 'Europe/Kyiv']), {
    zone: 'Europe/Kyiv',
    by: 'three',
  })
  // The first source's name, unless another name is given twice.
  assert.deepEqual(decide(['Asia/Ho_Chi_Minh', 'Asia/Bangkok', 'Asia/Vientiane']), {
    zone: 'Asia/Ho_Chi_Minh',
    by: 'three',
  })
  assert.deepEqual(decide(['Asia/Bangkok', 'Asia/Vientiane', 'Asia/Vientiane']), {
    zone: 'Asia/Vientiane',
    by: 'three',
  })
})

test('one date is not enough: Phoenix and Denver agree in winter, London and Casablanca now and then', () => {
  assert.notEqual(clockOf('America/Phoenix'), clockOf('America/Denver'))
  assert.notEqual(clockOf('Europe/London'), clockOf('Africa/Casablanca'))
})

test('broken zones and silent sources have no vote', () => {
  assert.equal(clockOf('Asia/ Bangkok'), undefined)
  assert.deepEqual(decide(['Asia/ Bangkok', 'Asia/Bangkok', 'Asia/Bangkok']), {
    zone: 'Asia/Bangkok',
    by: 'two',
  })
  assert.deepEqual(decide(['Asia/Tokyo', undefined, 'Asia/Seoul']), { zone: 'Asia/Tokyo', by: 'two' })
})

test('where no two agree, geography has it', () => {
  const votes = ['America/Atikokan', 'America/Toronto', 'America/Winnipeg'] as const
  assert.deepEqual(decide(votes), { zone: 'America/Winnipeg', by: 'geography' })
  assert.deepEqual(decide(['Asia/Tokyo', undefined, 'Asia/Shanghai']), {
    zone: 'Asia/Shanghai',
    by: 'geography',
  })
})
