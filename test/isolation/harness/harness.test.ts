import t from 'tap'
import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../../support/until.ts'
import { stalledWithin, union } from './clock.ts'
import { connectionsTo } from './connections.ts'
import { p99 } from './seen.ts'
import { Ending, openStage } from './stage.ts'
import { play } from './scenario.ts'

t.test('stalls are joined, and counted within a stretch of time', t => {
  const stalls = union([
    [20, 30],
    [0, 5],
    [25, 40],
    [60, 70],
  ])
  t.same(stalls, [
    [0, 5],
    [20, 40],
    [60, 70],
  ])
  t.equal(stalledWithin(4, 65, stalls), 1 + 20 + 5)
  t.equal(stalledWithin(41, 59, stalls), 0)
  t.equal(stalledWithin(30, 31, stalls), 1)
  t.end()
})

t.test('the 99th percentile', t => {
  const hundred = Array.from({ length: 100 }, (_, i) => 100 - i)
  t.equal(p99(hundred), 99)
  t.equal(p99([3, 1, 2]), 3)
  t.equal(p99([]), 0)
  t.end()
})

t.test('what was done to the gateway is seen', async t => {
  const ending = new Ending()
  t.teardown(() => ending.end())
  const stage = await openStage(ending)

  await t.test('a gateway that stands still, a call that is lost, a connection that stays', async t => {
    const sockets = await connectionsTo(stage.gateway.port)
    let left: Socket | undefined
    const { seen } = await play(stage, {
      name: 'SIGSTOP',
      attack: async () => {
        left = connect(stage.gateway.port, '127.0.0.1')
        await once(left, 'connect')
        const [node] = stage.nodes.evm
        const healthy = node!.handler('web3_sha3')!
        for (const one of stage.nodes.evm)
          one.on('web3_sha3', (_, response) => {
            response.writeHead(200).end('{"jsonrpc":"2.0","id":1,"result":"no"}')
          })
        await pause(200)
        for (const one of stage.nodes.evm) one.on('web3_sha3', healthy)
        stage.gateway.signal('SIGSTOP')
        await pause(400)
        stage.gateway.signal('SIGCONT')
      },
    })
    t.ok(seen.attacked > 200, `${seen.attacked} ms`)
    t.ok(seen.busy > 200, `its loop did not turn for ${seen.busy} ms`)
    t.ok(seen.wrong.length + Object.keys(seen.refused).length > 0, 'wrong answers are seen')
    t.equal(seen.connections, 1, 'a connection that stays is seen')
    left?.destroy()
    await until('it is closed', async () => (await connectionsTo(stage.gateway.port)) === sockets)
  })
})
