import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { echo } from '../support/node-replies.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'

/** Control frames are part of no message, and take nothing of the memory that messages may hold. */
const node = await startSocketNode(t, { chainId: 1001 })
node.on('web3_sha3', echo)
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, ws: node.wsUrl }],
  gateway: { limits: { body: '64KiB', memory: '4MiB' } },
})
const access = await createAccess(gateway, 'paid', 'alpha')

/** Sends that many bytes of pongs, each as long as may be. */
async function sendPongs(client: Awaited<ReturnType<typeof openClient>>, bytes: number): Promise<void> {
  const pong = Buffer.alloc(125)
  for (let sent = pong.length; sent < bytes; sent += pong.length) client.socket.pong(pong)
  await new Promise(resolve => {
    client.socket.pong(pong, true, resolve)
  })
}

t.test('bug: the pongs of a client that only listens were counted until it was closed', async t => {
  const client = await openClient(t, access)
  await sendPongs(client, 8 * 2 ** 20)
  t.match(await client.call('web3_sha3', ['0x00']), { result: ['0x00'] })
  t.equal(client.over, undefined)
  await client.close()
})
