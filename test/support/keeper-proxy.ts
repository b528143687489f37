/** A way to the keeper of a machine on which workers never hear that their usage was taken over. */
import { rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { keeperSocket } from '../../src/net/keeper-socket.ts'
import { Frames } from '../../src/runtime/workers/channel.ts'
import { startStreamProxy } from './stream-proxy.ts'
import type { Teardown } from './teardown.ts'
import { tempDir } from './temp-dir.ts'

interface Message {
  readonly t: string
  readonly id?: number
}

/** What is on the way of those workers that have connected since. */
export interface KeeperProxy {
  /** How often usage was in the ledger, and the answer that says so was lost with its connection. */
  readonly lost: number
  /** Takes it away: workers connect to the keeper again. */
  end(): Promise<void>
}

/** Puts one before the keeper that is there now. */
export async function startKeeperProxy(t: Teardown, dataDir: string): Promise<KeeperProxy> {
  const path = keeperSocket(dataDir)
  const [own, behind] = [join(await tempDir(t), 'keeper.sock'), `${path}.behind`]
  let lost = 0
  const proxy = await startStreamProxy(t, { path: own }, { path: behind }, (worker, keeper) => {
    const [questions, answers] = [new Frames(), new Frames()]
    const handedOver = new Set<number | undefined>()
    worker.on('data', data => {
      for (const { t, id } of questions.add(data) as Message[]) if (t === 'cells') handedOver.add(id)
      keeper.write(data)
    })
    keeper.on('data', data => {
      if ((answers.add(data) as Message[]).some(({ t, id }) => t === 'told' && handedOver.has(id))) {
        lost += 1
        worker.destroy()
      } else worker.write(data)
    })
  })
  await rename(path, behind)
  await symlink(own, path)
  return {
    get lost() {
      return lost
    },
    end: async () => {
      await rename(behind, path)
      proxy.isCut = true
    },
  }
}
