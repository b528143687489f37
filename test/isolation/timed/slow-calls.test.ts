import t from 'tap'
import { error, hang } from '../../support/node-replies.ts'
import { playAll, type Scenario } from '../harness/scenario.ts'

const MiB = 2 ** 20
/** With 16 calls each more than the 256 connections that the gateway makes to a node. */
const CONNECTIONS = 40

/** Calls of one account that keep what they use of a node: seen, every other caller waited 5 s for a connection to it. */
function keeping(name: string, method: string, params: readonly unknown[], handler?: typeof hang): Scenario {
  return {
    name,
    attack: stage => {
      if (handler !== undefined) for (const node of stage.nodes.evm) node.on(method, handler)
      const options = { path: 'paid', method, params, connections: CONNECTIONS, each: 16, ms: 2_500 }
      return stage.attack('calls', 'pipelined', options)
    },
    restore: ({ nodes }) => {
      if (handler === undefined) return
      for (const node of nodes.evm) node.on(method, error('{"code":3,"message":"execution reverted"}'))
    },
  }
}

const account = `0x${'1'.repeat(40)}`

await playAll(t, [
  keeping(
    'hundreds of calls that are never answered',
    'eth_call',
    [{ to: account, data: '0x' }, 'latest'],
    hang,
  ),
  keeping('hundreds of long replies that nobody reads', 'eth_getCode', [
    `0x${(4 * MiB).toString(16).padStart(40, '0')}`,
    'latest',
  ]),
  {
    name: 'calls of 250 addresses that are never answered',
    attack: stage => {
      for (const node of stage.nodes.evm) node.on('eth_call', hang)
      const params = [{ to: account, data: '0x' }, 'latest']
      return stage.attack('calls', 'fromMany', {
        method: 'eth_call',
        params,
        addresses: 250,
        each: 10,
        ms: 2_500,
      })
    },
    // So many callers speak for everybody: the routes hang.
    bounds: { moved: Infinity },
    unmet: {
      slower: 'seen: 20 to 40 ms more at the 99th percentile, and twice that where others use the machine',
    },
    restore: ({ nodes }) => {
      for (const node of nodes.evm) node.on('eth_call', error('{"code":3,"message":"execution reverted"}'))
    },
  },
])
