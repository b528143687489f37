import t from 'tap'
import { setTimeout as pause } from 'node:timers/promises'
import { message } from '../../support/access.ts'
import { drip } from '../../support/faults.ts'
import { reply, result } from '../../support/node-replies.ts'
import { openClient } from '../../support/socket-client.ts'
import { until } from '../../support/until.ts'
import { routesOf } from '../../support/route-status.ts'
import { playAll } from '../harness/scenario.ts'
import type { Stage } from '../harness/stage.ts'

/** How often the gateway probes its routes. */
const PROBE_MS = 5_000

/** Numbers that are none. */
const ODD = '{"toString":1}'

/** Whether the gateway believes a head of this network that is above what its nodes have. */
async function believed({ gateway }: Stage): Promise<number> {
  const { networks } = await gateway.status()
  return Number(networks.find((network: any) => network.slug === 'alpha').head)
}

/** Answers as a node in good order does again. */
function headOf(stage: Stage) {
  return (...call: Parameters<ReturnType<typeof result>>) =>
    result(`"0x${stage.nodes.head.toString(16)}"`)(...call)
}

await playAll(t, [
  {
    name: 'what a subscription says is no number',
    bounds: { moved: Infinity },
    attack: async stage => {
      const client = await openClient(t, stage.paid)
      await client.subscribe('eth_subscribe', ['newHeads'])
      await client.subscribe('eth_subscribe', ['logs', {}])
      const odd = JSON.stringify({
        number: { toString: 1 },
        blockNumber: { toString: 1 },
        logIndex: { toString: 1 },
      })
      for (const node of stage.nodes.evm) node.push('eth_subscribe', odd)
      await pause(300)
      client.socket.terminate()
    },
  },
  {
    name: 'heads that are none, or at 2^53-1',
    bounds: { moved: Infinity },
    attack: async stage => {
      const [, odd, liar] = stage.nodes.evm
      const [, other] = stage.nodes.solana
      liar!.on('eth_blockNumber', result('"0x1fffffffffffff"'))
      odd!.on('eth_blockNumber', result(ODD))
      other!.on('getSlot', result(ODD)).on('getFirstAvailableBlock', result(ODD))
      await liar!.arrived('eth_blockNumber', 1)
      await odd!.arrived('eth_blockNumber', 1)
      await other!.arrived('getSlot', 1)
      await pause(500)
      return believed(stage)
    },
    restore: stage => {
      for (const node of stage.nodes.evm) node.on('eth_blockNumber', headOf(stage))
      const [, other] = stage.nodes.solana
      other!
        .on('getSlot', (...call) => result(String(other!.head))(...call))
        .on('getFirstAvailableBlock', result('0'))
    },
    also: (t, stage, head) => {
      t.ok(head <= stage.nodes.head + 64, `the head is believed to be ${String(head)}`)
    },
  },
  {
    name: 'a node that sends its answers a byte at a time',
    // Until the route is passed over, calls wait for as long as one attempt of theirs may take.
    bounds: { slower: 5_500, moved: Infinity },
    attack: async stage => {
      const [slow] = stage.nodes.evm
      const healthy = ['web3_sha3', 'eth_getBalance'].map(method => [method, slow!.handler(method)!] as const)
      for (const [method] of healthy) slow!.on(method, drip)
      await pause(1_000)
      for (const [method, handler] of healthy) slow!.on(method, handler)
    },
    also: (t, _, __, { routes }) => {
      t.ok((routes['alpha-b'] ?? 0) > 0, 'another route serves')
    },
  },
  {
    name: 'a node that floods its WebSocket',
    bounds: { moved: Infinity },
    attack: async stage => {
      const client = await openClient(t, stage.paid)
      await client.subscribe('eth_subscribe', ['newPendingTransactions'])
      const unknown = JSON.stringify({
        jsonrpc: '2.0',
        method: 'eth_subscription',
        params: { subscription: '0xffff', result: 'a'.repeat(1_000) },
      })
      for (let i = 0; i < 100; i++) {
        for (const node of stage.nodes.evm) {
          if (node.sockets === 0) continue
          for (let j = 0; j < 100; j++) node.sendAll(unknown)
        }
        await pause(10)
      }
      client.socket.terminate()
    },
  },
  {
    name: 'errors with two megabytes of the tiniest values, for a batch',
    bounds: { moved: Infinity },
    attack: async stage => {
      const error = `{"code":-32000,"message":"nothing known","data":[${'1,'.repeat(2 ** 20)}1]}`
      for (const node of stage.nodes.evm)
        node.on(
          'eth_call',
          reply(200, id => `{"jsonrpc":"2.0","id":${id},"error":${error}}`),
        )
      const lengths: number[] = []
      for (let i = 0; i < 6; i += 1)
        lengths.push((await stage.paid.post(`[${message('eth_call', [{}, 'latest'])}]`)).text.length)
      return { lengths, whole: error.length }
    },
    also: (t, _, { lengths, whole }: { lengths: number[]; whole: number }) => {
      t.ok(
        lengths.every(length => length >= whole),
        'each is passed on whole',
      )
    },
  },
  {
    name: 'an hour back on the wall clock while a route is paused',
    bounds: { moved: Infinity },
    attack: async stage => {
      const [limited] = stage.nodes.evm
      // A probe is limited as well: a refusal of a call alone holds for its caller.
      const methods = ['web3_sha3', 'eth_blockNumber'] as const
      const healthy = methods.map(method => limited!.handler(method)!)
      for (const method of methods) limited!.on(method, reply(429, 'slow down', { 'retry-after': '1' }))
      await until('the route is paused', async () => isPaused(stage))
      for (const [i, method] of methods.entries()) limited!.on(method, healthy[i]!)
      await stage.stepClock(-3_600_000)
      await pause(100)
      // The next probe ends it.
      const isOver = async () => !(await isPaused(stage))
      await until('the pause is over', isOver, PROBE_MS + 2_000).catch(() => undefined)
      return isPaused(stage)
    },
    restore: async stage => {
      await stage.stepClock(0)
      await pause(100)
    },
    also: (t, _, paused) => {
      t.equal(paused, false, 'a pause of a second is over with the next probe')
    },
  },
  {
    name: 'a node that was down and is back',
    bounds: { slower: 500, moved: Infinity },
    attack: async stage => {
      const [node] = stage.nodes.evm
      await node!.close()
      await pause(6_000)
      await node!.listen()
      const since = performance.now()
      node!.requests.length = 0
      const served = () => Promise.resolve(node!.calls.length > 0)
      await until('it serves again', served, PROBE_MS + 2_000).catch(() => undefined)
      return { servedAfter: Math.round(performance.now() - since), served: await served() }
    },
    also: (t, _, { served, servedAfter }) => {
      t.ok(served, `not served within a probe: ${servedAfter} ms`)
    },
  },
])

async function isPaused({ gateway }: Stage): Promise<boolean> {
  const routes = await routesOf(gateway)
  return !routes.find(({ id }) => id === 'alpha-a')!.healthy
}
