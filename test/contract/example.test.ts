import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { startHouse } from '../support/house.ts'

const run = promisify(execFile)
const house = await startHouse()
after(() => house.stop())

test('examples/search-and-book.ts books a flight on a fresh Airside', async () => {
  const { stdout } = await run(process.execPath, ['examples/search-and-book.ts', 'LHR', 'SYD'], {
    env: { ...process.env, AIRSIDE_URL: house.intl.baseUrl, AIRSIDE_KEY: house.intl.test },
  })
  assert.match(stdout, /confirmed: bkg_\w+, record locator [2-9A-Z]{6}/)
})

test('the line that the start-up message shows can be copied and works', async () => {
  const [command] = /curl [\s\S]*?}'/.exec(house.output())!
  const { stdout } = await run('sh', ['-c', command])
  const answer = JSON.parse(stdout)
  assert.equal(answer.status, 'ok')
  assert.ok(answer.totalResults > 0)
})
