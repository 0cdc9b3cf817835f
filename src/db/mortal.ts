import { type ChildProcess, spawn } from 'node:child_process'

/**
 * The shell that becomes the program. A reader beside it holds the other end of our pipe: when that closes without a
 * word, we are gone (kill -9 included), and it sends the program a signal.
 */
const SHELL = `exec 3<&0 </dev/null
( ( read -r word <&3 || kill -$0 $$ ) >/dev/null 2>&1 & )
exec 3<&-
exec "$@"`

/**
 * Starts a program that does not outlive us: whatever ends this process, the program gets `signal` then. As user
 * `uid` (undefined: as ourselves), with nothing of our environment, its standard error for us to read.
 */
export function spawnMortal(
  program: string,
  parameters: readonly string[],
  { signal, uid }: { signal: 'INT' | 'TERM'; uid: number | undefined },
): ChildProcess {
  const child = spawn('/bin/sh', ['-c', SHELL, signal, program, ...parameters], {
    cwd: '/',
    env: { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' },
    // A session of its own: Ctrl-C in the terminal reaches us, and we stop the program when we are done with it.
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
  // The word that lets the reader go, when the program ended before us.
  child.once('exit', () => child.stdin?.end('over\n'))
  child.stdin?.on('error', () => {})
  return child
}
