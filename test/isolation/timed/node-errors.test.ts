import t from 'tap'
import { setTimeout as pause } from 'node:timers/promises'
import { privateKeyToAccount } from 'viem/accounts'
import { error, hang, reply } from '../../support/node-replies.ts'
import { playAll, type Scenario } from '../harness/scenario.ts'
import type { Stage } from '../harness/stage.ts'

/** Texts that a client can make a node say back, and that a node may say of itself too. */
const complaints = [
  'too many requests',
  'rate limit exceeded',
  'oracle not synced',
  'no healthy backend is available',
]

/** What an execution may end in, as the clients of several nodes see it. */
const reverts = [
  { code: 3, message: 'execution reverted: rate limit exceeded', data: '0x08c379a0' },
  { code: -32000, message: 'execution reverted: oracle not synced' },
  { code: -32015, message: 'VM execution error: too many requests', data: 'Reverted 0x' },
  {
    code: -32603,
    message:
      "Error: VM Exception while processing transaction: reverted with reason string 'too many requests'",
  },
]

const onEvm = (stage: Stage, method: string, raw: string) => {
  for (const node of stage.nodes.evm) node.on(method, error(raw))
}

/** Calls of the public route that all nodes answer with an error: each comes back as it is, from one node. */
function answered(name: string, errors: readonly object[], method: string, params: unknown): Scenario {
  return {
    name,
    attack: async stage => {
      const replies: unknown[] = []
      for (const one of [...errors, ...errors]) {
        onEvm(stage, method, JSON.stringify(one))
        replies.push(
          ...(await stage.attack<unknown[]>('calls', 'inTurn', {
            path: 'public',
            calls: [[method, params]],
          })),
        )
        await pause(150)
      }
      return { replies, asked: stage.nodes.evm.reduce((sum, node) => sum + node.count(method), 0) }
    },
    also: (t, _, { replies, asked }) => {
      t.same(
        replies.map((reply: { error?: unknown }) => reply.error),
        [...errors, ...errors],
        'the outcome of the execution is the answer',
      )
      t.equal(asked, replies.length, 'each is asked of one node')
    },
  }
}

const anyone = privateKeyToAccount(`0x${'11'.repeat(32)}`)

await playAll(t, [
  {
    name: 'texts that a node says back: EVM',
    attack: async stage =>
      stage.attack('calls', 'inTurn', {
        path: 'public',
        calls: [...complaints, ...complaints].map(text => ['web3_sha3', [text]]),
        everyMs: 150,
      }),
    also: (t, _, replies) => {
      for (const { error } of replies) t.match(error, { code: -32000, message: /^invalid argument 0/ })
    },
  },
  answered('reverts that speak of rate limits', reverts, 'eth_call', [
    { to: anyone.address, data: '0x' },
    'latest',
  ]),
  {
    name: 'a sent transaction that reverts',
    attack: async stage => {
      const revert = JSON.stringify(reverts[3])
      for (const node of stage.nodes.evm)
        node.on('eth_sendRawTransaction', (request, response) => {
          const known = stage.nodes.evm.some(other => other !== node && other.count(request.method!) > 0)
          const raw = known ? '{"code":-32000,"message":"already known"}' : revert
          return error(raw)(request, response)
        })
      const raw = await anyone.signTransaction({
        to: anyone.address,
        gasPrice: 7n,
        gas: 21_000n,
        chainId: 1001,
      })
      return stage.attack('calls', 'inTurn', { path: 'public', calls: [['eth_sendRawTransaction', [raw]]] })
    },
    also: (t, _, [reply]) => {
      t.match(reply, { error: { code: -32603, message: /reverted with reason string/ } }, 'it is no success')
    },
  },
  {
    name: 'texts that a node says back, and failed simulations: Solana',
    attack: async stage => {
      const said = complaints.map(text => ({
        code: -32002,
        message: `Transaction simulation failed: Error processing Instruction 0: ${text}`,
        data: { err: { InstructionError: [0, { Custom: 1 }] }, logs: [`Program log: ${text}`] },
      }))
      const replies: unknown[] = []
      for (const one of said) {
        for (const node of stage.nodes.solana) node.on('simulateTransaction', error(JSON.stringify(one)))
        const calls = [
          ['simulateTransaction', ['AQ==', { encoding: 'base64' }]],
          ['getBalance', [one.message]],
        ]
        replies.push(
          ...(await stage.attack<unknown[]>('calls', 'inTurn', {
            path: 'solanaPublic',
            calls,
            everyMs: 100,
          })),
        )
      }
      return replies
    },
    also: (t, _, replies) => {
      for (const { error } of replies) t.match(error?.code, /^-3200[02]$/, 'the own words of the node')
    },
  },
  {
    name: 'wide ranges',
    attack: async stage => {
      const said = [
        { code: -32005, message: 'limit exceeded' },
        { code: -32005, message: 'query returned more than 10000 results' },
      ]
      const replies: unknown[] = []
      for (const one of [...said, ...said, ...said]) {
        onEvm(stage, 'eth_getLogs', JSON.stringify(one))
        const calls = [['eth_getLogs', [{ fromBlock: '0x1', toBlock: 'latest' }]]]
        replies.push(
          ...(await stage.attack<unknown[]>('calls', 'inTurn', { path: 'public', calls, everyMs: 100 })),
        )
      }
      return replies
    },
    restore: stage => {
      onEvm(stage, 'eth_getLogs', '{"code":-32000,"message":"no logs"}')
    },
    also: (t, _, replies) => {
      for (const { error } of replies)
        t.match(error, { code: -32005 }, 'the own words of the node, which clients parse')
    },
  },
  {
    name: 'slow calls of one address',
    attack: async stage => {
      for (const node of stage.nodes.evm) node.on('eth_call', hang)
      const calls = Array.from({ length: 6 }, (_, i) => [
        'eth_call',
        [{ to: anyone.address, nonce: `0x${i}` }, 'latest'],
      ])
      return stage.attack('calls', 'atOnce', { path: 'public', calls, ms: 2_000 })
    },
    restore: stage => {
      onEvm(stage, 'eth_call', '{"code":3,"message":"execution reverted"}')
    },
  },
  {
    name: 'a call that every node answers with HTTP 429',
    attack: async stage => {
      const limited = reply(429, '{"error":"too many requests"}', { 'retry-after': '30' })
      for (const node of stage.nodes.evm) node.on('eth_getLogs', limited)
      const calls = [['eth_getLogs', [{ fromBlock: '0x1', toBlock: 'latest' }]]]
      const options = { path: 'public', calls: [...calls, ...calls, ...calls], everyMs: 150 }
      const replies = await stage.attack('calls', 'inTurn', options)
      return { replies, asked: stage.nodes.evm.map(node => node.count('eth_getLogs')) }
    },
    restore: stage => {
      onEvm(stage, 'eth_getLogs', '{"code":-32000,"message":"no logs"}')
    },
    also: (t, _, { replies, asked }) => {
      for (const { error } of replies) t.match(error, { data: { reason: 'no_route' } })
      t.same(asked, [1, 1, 1], 'its own calls keep to the pause')
    },
  },
])
