/**
 * What a keeper begins with that is started again beside an edit with an error: the configuration that the workers go on to serve. It is asked of
 * them, as it stands in no file: what the environment says belongs to it.
 */
import { rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { orAfter } from '../../net/or-after.ts'
import { Channel } from './channel.ts'
import { keeperSocket } from '../../net/keeper-socket.ts'
import type { Hello, KeeperQuestions, Questions, Served } from './messages.ts'

/** Milliseconds in which workers come: they look for a keeper all the time. */
const PATIENCE = 2_000

type Asked = Pick<KeeperQuestions, 'serving'>

/** Asks the first worker that serves; null where none comes. */
export async function servedByWorkers(dataDir: string): Promise<Served | null> {
  const path = keeperSocket(dataDir)
  const sockets = new Set<Socket>()
  const said: { served: Served | null } = { served: null }
  let answered: () => void
  const answer = new Promise<void>(resolve => {
    answered = resolve
  })
  const server = createServer(socket => {
    sockets.add(socket)
    const channel = new Channel<Asked, Pick<Questions, 'config'>>(socket, { config: notYet }, message => {
      if (message.t !== 'hello') return
      const { serves } = message as Hello
      if (serves === '') return
      const heard = channel.ask('serving', {}).then(({ served }) => {
        said.served = served
        if (served !== null) answered()
      })
      heard.catch(() => undefined)
    })
    channel.say({ t: 'hello', slot: 0, serves: '' } satisfies Hello)
  })
  rmSync(path, { force: true })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  await orAfter(answer, PATIENCE)
  const closed = new Promise(resolve => server.close(resolve))
  for (const socket of sockets) socket.destroy()
  await closed
  return said.served
}

function notYet(): never {
  throw new Error('the keeper is starting')
}
