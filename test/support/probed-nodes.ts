/** Nodes of each family that answer probes as a test has set them. */
import type { ServerResponse } from 'node:http'
import { reply, result, type Handler } from './node-replies.ts'
import { ScriptedHttpNode } from './scripted-http-node.ts'
import { ScriptedNode } from './scripted-node.ts'
import type { Teardown } from './teardown.ts'

/** How a node is. */
export interface NodeState {
  /** Block or slot; what is confirmed and finalized on Solana is 2 and 32 below. */
  head: number
  syncing: boolean
  /** Whether it is on the chain that it should be on. */
  isRight: boolean
  /** Whether it has the blocks that it claims. */
  isHonest: boolean
  /** The oldest slot that it keeps. */
  firstSlot: number
  /** An HTTP status in place of every answer, with a Retry-After. */
  status: { readonly code: number; readonly retryAfter: string } | null
}

/** A node, and what it was told to be. */
export interface ProbedNode {
  readonly state: NodeState
  readonly url: string
  listen(): Promise<void>
  close(): Promise<void>
  /** How often it was asked this. */
  readonly count: (question: string) => number
}

const WELL: NodeState = {
  head: 1_000_000,
  syncing: false,
  isRight: true,
  isHonest: true,
  firstSlot: 100,
  status: null,
}

/** The chains that the nodes of each family are on. */
export const CHAINS = {
  evm: 1,
  solana: '1'.repeat(32),
  jsonrpc: '0x534e',
  http: `0x${'ab'.repeat(32)}`,
} as const

const UNHEALTHY = '{"code":-32005,"message":"Node is behind by 42 slots","data":{"numSlotsBehind":42}}'

/** Starts a node that is stopped with the test. */
export async function startProbedNode(t: Teardown, family: keyof typeof CHAINS): Promise<ProbedNode> {
  const node = family === 'http' ? httpNode() : rpcNode()
  await node.listen()
  t.teardown(() => node.close())
  return node
}

function rpcNode(): ProbedNode {
  const node = new ScriptedNode({})
  const state = { ...WELL }
  const answer = (method: string, raw: (params: string) => string): void => {
    node.on(method, (request, response) => respond(state, raw(request.params))(request, response))
  }
  const hex = (): string => `"0x${state.head.toString(16)}"`
  answer('eth_chainId', () => (state.isRight ? `"0x${CHAINS.evm}"` : '"0x2a"'))
  answer('eth_blockNumber', hex)
  answer('eth_syncing', () => (state.syncing ? '{"currentBlock":"0x1"}' : 'false'))
  answer('eth_getBlockByNumber', () => (state.isHonest ? `{"number":${hex()}}` : 'null'))
  answer('getGenesisHash', () => (state.isRight ? `"${CHAINS.solana}"` : '"other"'))
  answer('getSlot', params => String(state.head - slotsBelow(params)))
  answer('getFirstAvailableBlock', () => String(state.firstSlot))
  answer('starknet_chainId', () => (state.isRight ? `"${CHAINS.jsonrpc}"` : '"0x1"'))
  answer('starknet_blockNumber', () => String(state.head))
  node.on('getHealth', (request, response) =>
    state.syncing && state.status === null
      ? reply(200, id => `{"jsonrpc":"2.0","id":${id},"error":${UNHEALTHY}}`)(request, response)
      : respond(state, '"ok"')(request, response),
  )
  return {
    state,
    count: question => node.count(question),
    get url() {
      return node.url
    },
    listen: () => node.listen(),
    close: () => node.close(),
  }
}

function slotsBelow(params: string): number {
  return params.includes('finalized') ? 32 : params.includes('confirmed') ? 2 : 0
}

function respond({ status }: NodeState, raw: string): Handler {
  if (status === null) return result(raw)
  return reply(status.code, 'no', { 'retry-after': status.retryAfter })
}

function httpNode(): ProbedNode {
  const node = new ScriptedHttpNode()
  const state = { ...WELL }
  const answer = (path: string, data: () => unknown): void => {
    node.on(path, (_, response) => {
      page(state, data(), response)
    })
  }
  answer('/eth/v1/node/syncing', () => ({ head_slot: String(state.head), is_syncing: state.syncing }))
  answer('/eth/v1/beacon/genesis', () => ({ genesis_validators_root: state.isRight ? CHAINS.http : '0x00' }))
  return {
    state,
    count: question => node.asked(question).length,
    get url() {
      return node.url
    },
    listen: () => node.listen(),
    close: () => node.close(),
  }
}

function page({ status }: NodeState, data: unknown, response: ServerResponse): void {
  if (status === null)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }))
  else response.writeHead(status.code, { 'retry-after': status.retryAfter }).end('no')
}
