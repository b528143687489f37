import type { ServerResponse } from 'node:http'
import { error, result, type Handler } from '../../support/node-replies.ts'
import { ScriptedChain } from '../../support/scripted-chain.ts'
import { startSocketNode, type ScriptedSocketNode } from '../../support/scripted-socket-node.ts'
import type { Teardown } from '../../support/teardown.ts'

const BLOCK_MS = 250
const genesisHash = '7'.repeat(32)

/**
 * Answers with its name and the first parameter, so that a caller knows who answered, and whether it was its
 * own call; quotes a parameter that no call has.
 */
function named(name: string, inContext = false): Handler {
  return (request, response) => {
    const [first] = JSON.parse(request.params) as unknown[]
    if (typeof first === 'string' && first.includes(' ')) {
      const message = `invalid argument 0: cannot unmarshal ${first}`
      return error(JSON.stringify({ code: -32000, message }))(request, response)
    }
    const said = JSON.stringify(`${name}|${String(first)}`)
    return result(inContext ? `{"context":{"slot":1},"value":${said}}` : said)(request, response)
  }
}

const codes = new Map<number, Buffer>()

/** Answers eth_getCode with as many bytes as the address says. */
const sized: Handler = ({ id, params }, response: ServerResponse) => {
  const [address] = JSON.parse(params) as [string]
  const size = Number(`0x${address.slice(-8)}`)
  if (!codes.has(size)) codes.set(size, Buffer.alloc(size, 'a'))
  response.writeHead(200, { 'content-type': 'application/json' })
  response.write(`{"jsonrpc":"2.0","id":${id},"result":"`)
  response.write(codes.get(size)!)
  response.end('"}')
}

/** Who serves the networks of the harness: three routes of one EVM chain, two of one Solana cluster. */
export class Nodes {
  readonly evm: readonly ScriptedSocketNode[]
  readonly solana: readonly ScriptedSocketNode[]
  readonly #chains: readonly ScriptedChain[]
  #mining: NodeJS.Timeout | undefined

  constructor(
    evm: readonly ScriptedSocketNode[],
    chains: readonly ScriptedChain[],
    solana: readonly ScriptedSocketNode[],
  ) {
    this.evm = evm
    this.solana = solana
    this.#chains = chains
  }

  get all(): readonly ScriptedSocketNode[] {
    return [...this.evm, ...this.solana]
  }

  /** The number of the newest block. */
  get head(): number {
    return this.#chains[0]!.head.number
  }

  /** Makes a block at every node now. */
  mine(): void {
    for (const chain of this.#chains) chain.mine()
    for (const node of this.solana) node.head++
  }

  /** Makes blocks at a steady pace until `rest`. */
  run(): void {
    this.#mining ??= setInterval(() => {
      this.mine()
    }, BLOCK_MS)
  }

  rest(): void {
    clearInterval(this.#mining)
    this.#mining = undefined
  }

  /** Forgets what the nodes were asked. */
  forget(): void {
    for (const node of this.all) {
      node.requests.length = 0
      node.socketRequests.length = 0
    }
  }
}

/** Starts them. */
export async function startNodes(t: Teardown): Promise<Nodes> {
  const chains = ['a', 'b', 'c'].map(() => new ScriptedChain())
  const evm = await Promise.all(chains.map(chain => startSocketNode(t, { chainId: 1001, chain })))
  for (const [i, node] of evm.entries()) {
    const name = `alpha-${'abc'[i]!}`
    node.on('web3_sha3', named(name)).on('eth_getBalance', named(name)).on('eth_getCode', sized)
  }
  const solana = await Promise.all(['a', 'b'].map(() => startSocketNode(t, { head: 1000, genesisHash })))
  for (const [i, node] of solana.entries()) node.on('getBalance', named(`sol-${'ab'[i]!}`, true))
  const nodes = new Nodes(evm, chains, solana)
  t.teardown(() => {
    nodes.rest()
  })
  return nodes
}
