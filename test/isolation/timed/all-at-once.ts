import type { Test } from 'tap'
import { setTimeout as pause } from 'node:timers/promises'
import { message } from '../../support/access.ts'
import { error, type Handler } from '../../support/node-replies.ts'
import { playAll } from '../harness/scenario.ts'
import type { Stage } from '../harness/stage.ts'
import { stockUsage } from '../harness/stock-usage.ts'

/** How hard the gateway is tried. */
export interface AllAtOnce {
  readonly seconds: number
  /** Good calls a second. */
  readonly good: number
}

/** `limits.memory` in MiB: the default. */
const MEMORY_MIB = 512
/** MiB that the program itself may have, besides what `limits.memory` counts. */
const PROGRAM_MIB = 150
const HANG = '0x68616e67'

/** Reverts in the words of a node in trouble, or never answers, as the caller likes. */
const execute: Handler = (request, response) => {
  if (request.params.includes(HANG)) return
  return error('{"code":3,"message":"execution reverted: rate limit exceeded, too many requests"}')(
    request,
    response,
  )
}
const tooWide = error('{"code":-32005,"message":"query returned more than 10000 results"}')

const batch = `[${Array.from({ length: 100 }, (_, i) => message(`eth_unknown${i}`, [], i)).join()}]`
const calls = [
  ['web3_sha3', ['too many requests, oracle not synced']],
  ['eth_call', [{ to: `0x${'1'.repeat(40)}`, data: '0x' }, 'latest']],
  ['eth_getLogs', [{ fromBlock: '0x1', toBlock: 'latest' }]],
]
const hanging = ['eth_call', [{ to: `0x${'1'.repeat(40)}`, data: HANG }, 'latest']]

/** Every attack of test/isolation/attacks, each again and again. */
const attacks: readonly [file: string, attack: string, options?: object][] = [
  ['pipelining', 'bodies'],
  ['pipelining', 'heads'],
  ['large', 'httpReplies'],
  ['large', 'socketReplies'],
  ['large', 'batches'],
  ['large', 'frames'],
  ['large', 'fragments'],
  ['heads', 'strangeHosts'],
  ['calls', 'flood', { path: 'free', body: batch, ms: 1_000 }],
  ['calls', 'flood', { path: 'public', body: message('service_supportedNetworks'), ms: 1_000 }],
  ['calls', 'flood', { path: 'free', body: message('eth_chainId'), ms: 1_000 }],
  ['calls', 'inTurn', { path: 'public', calls, everyMs: 400 }],
  ['calls', 'inTurn', { path: 'free', calls, everyMs: 300 }],
  ['calls', 'atOnce', { path: 'public', calls: [hanging, hanging, hanging], ms: 2_000 }],
  ['usage', 'pages', { ms: 1_000 }],
  ['crowd', 'scrapes', { sockets: 500, scrapes: 2 }],
  ['crowd', 'strangers'],
]

/** A node that is down for three seconds of fifteen, and one that says odd things. */
async function mischief({ nodes }: Stage, isOver: () => boolean): Promise<void> {
  const [, down, odd] = nodes.evm
  while (!isOver()) {
    await pause(6_000)
    await down!.close()
    odd!.push('eth_subscribe', '{"number":{"toString":1},"blockNumber":{"toString":1}}')
    await pause(3_000)
    await down!.listen()
    for (let i = 0; i < 1_000; i++) odd!.sendAll('{"jsonrpc":"2.0","method":"eth_subscription","params":{}}')
    await pause(6_000)
  }
}

/** All attackers at once beside good calls: none of these is lost, and what the gateway holds is bounded. */
export async function allAtOnce(t: Test, { seconds, good }: AllAtOnce): Promise<void> {
  const attack = async (stage: Stage) => {
    const end = performance.now() + seconds * 1000
    const isOver = () => performance.now() > end
    for (const node of stage.nodes.evm) node.on('eth_call', execute).on('eth_getLogs', tooWide)
    const rounds: Record<string, number> = {}
    const lives = attacks.map(async ([file, name, options]) => {
      while (!isOver()) {
        await stage.attack(file, name, options)
        stage.nodes.forget()
        rounds[name] = (rounds[name] ?? 0) + 1
        await pause(200)
      }
    })
    await Promise.all([...lives, mischief(stage, isOver)])
    return rounds
  }
  await playAll(
    t,
    [
      {
        name: `all of them at once for ${seconds} s`,
        attack,
        // A dozen attackers, all nodes and the gateway take the same cores: how late an answer comes is only printed.
        bounds: { slower: Infinity, memory: Infinity, moved: Infinity },
        also: (t, _, rounds, { peak }) => {
          t.equal(
            Object.keys(rounds).length,
            new Set(attacks.map(([, name]) => name)).size,
            'each attack was made',
          )
          t.ok(!(peak >= MEMORY_MIB + PROGRAM_MIB), `${peak} MiB at the peak`)
        },
      },
    ],
    { stock: stockUsage, perSecond: good, memory: MEMORY_MIB },
  )
}
