import { fork, type ForkOptions } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Order } from './worker.ts'

/** Another real process that works on a store when told to; ended after the test. */
export async function startWorker(
  t: Test,
  options: Pick<ForkOptions, 'uid' | 'gid'> = {},
): Promise<{ tell(order: Order): Promise<unknown> }> {
  const file = join(import.meta.dirname, 'worker.ts')
  const child = fork(file, { ...options, execArgv: ['--import=tsx'] })
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const heard = async () => {
    const ended = once(child, 'exit').then(() => [{ error: 'the worker died' }])
    const [message] = (await Promise.race([once(child, 'message'), ended])) as [
      { answer?: unknown; error?: string },
    ]
    if (message.error !== undefined) throw new Error(message.error)
    return message.answer
  }
  await heard()
  return {
    tell(order) {
      const answer = heard()
      child.send(order)
      return answer
    },
  }
}
