/** Processes of another program, which the running gateway would start, or be followed by. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

for (const is of ['primary', 'keeper', 'worker'])
  t.test(`a ${is} that is told another protocol refuses, and tells both numbers`, async t => {
    const child = fork(MAIN, ['serve'], {
      env: { ...process.env, TOLLGATE_ROLE: JSON.stringify({ protocol: 0, is }) },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    const said = text(child.stderr!)
    const told = once(child, 'message')
    const exited = once(child, 'exit')
    const why =
      'this program speaks protocol 3 with its processes, and the gateway that runs protocol 0: stop that one, and start this one in its place'
    t.strictSame((await told)[0], { t: 'failed', why })
    t.strictSame(await exited, [1, null])
    t.equal(await said, `tollgate: ${why}\n`)
  })
