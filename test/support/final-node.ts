import { result, type Handler } from './node-replies.ts'
import type { ScriptedNode } from './scripted-node.ts'

/** What a node says of its final block. */
export interface FinalState {
  /** The number that it reports under `finalized`; null where it does not know the tag. */
  final: number | null
  /** Told apart from the hashes of other chains. */
  readonly chain?: string
}

/** A block as it is answered, by its number. */
export function blockText(number: number, chain = '1'): string {
  const hash = `0x${number.toString(16).padStart(64, chain)}`
  return `{"hash":"${hash}", "number":"0x${number.toString(16)}","timestamp":"0x68000000","big":18446744073709551615,"esc":"\\u00e9\\/"}`
}

/** Has a node answer eth_getBlockByNumber with blocks up to its head, and under `finalized` with a final one. */
export function answerBlocks(node: ScriptedNode, state: FinalState): void {
  const answer: Handler = (request, response) => {
    const [block] = JSON.parse(request.params) as [string]
    const number =
      block === 'finalized' || block === 'safe' ? state.final : block === 'latest' ? node.head : Number(block)
    const text = number === null || number > node.head ? 'null' : blockText(number, state.chain)
    return result(text)(request, response)
  }
  node.on('eth_getBlockByNumber', answer)
}

/** How often a node was asked for a block by these params, spelled as they arrive. */
export function asked(node: ScriptedNode, method: string, params: string): number {
  return node.requests.filter(request => request.method === method && request.params === params).length
}
