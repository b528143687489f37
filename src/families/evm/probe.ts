/** Probes EVM nodes: newest block, state of synchronisation, chain id. */
import { memberOf } from '../../jsonrpc/elements.ts'
import { readQuantity } from '../../jsonrpc/quantity.ts'
import { decodeJson } from '../../jsonrpc/raw.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Network } from '../../snapshot/types.ts'
import type { FinalBlock, ProbeWords, Probing, Told } from '../probing.ts'

const BLOCK_NUMBER = ['eth_blockNumber', '[]'] as const

export const evmProbe: ProbeWords = {
  question: () => BLOCK_NUMBER,

  probe: async probing => {
    const height = heightIn(await probing.askAlive(...BLOCK_NUMBER))
    if (height !== null) {
      probing.claim(height)
      if (probing.needsProof() && (await hasBlock(probing, height))) probing.proved(height)
    }
    const sync = await probing.ask('eth_syncing', '[]')
    // Nodes at the head also report an object or `true`: geth while it indexes transactions, Nitro always.
    if (sync.kind === 'result')
      probing.route.syncing =
        (sync.result.charCodeAt(0) === 123 || sync.result === 'true') && probing.isBehind()
    await askFinal(probing)
    await askSettled(probing)
  },

  confirm: async probing => {
    const height = heightIn(await probing.askAlive(...BLOCK_NUMBER))
    if (height !== null) probing.claim(height)
  },

  identify: async probing => {
    const told = await probing.ask('eth_chainId', '[]')
    // A relay that takes transactions alone does not have the method.
    if (told.kind === 'failed') return told.why === 'unsupported' ? null : undefined
    // A node that answers with an error cannot say; it is taken at the operator's word.
    return told.kind === 'result' ? chainFault(probing.network, told.result) : null
  },
}

/** Milliseconds between two questions for final blocks: they move once in minutes. */
const FINAL_EVERY = 30_000

/** Asks for the newest final block and for earlier ones whose hashes may have changed, on networks that keep answers. */
async function askFinal(probing: Probing): Promise<void> {
  const { cache, finality } = probing.network
  if (cache === null || finality === null) return
  const checked = probing.finalsToShow()
  const hasTag = typeof finality === 'string'
  if ((!hasTag && checked.length === 0) || !probing.isDue('final block', FINAL_EVERY)) return
  const askedAt = probing.now()
  const newest = hasTag ? await askBlock(probing, `"${finality}"`) : undefined
  if (newest !== undefined) probing.final(newest)
  if (newest != null && hasTag) probing.route.slots.tell(finality, newest.number, askedAt, probing.now())
  for (const number of checked) {
    if (number === newest?.number) continue
    const block = await askBlock(probing, quantity(number))
    if (block?.number === number) probing.finalShown(block)
  }
}

/** Milliseconds between two questions for a settled block that clients read. */
const SETTLED_EVERY = 15_000

/** Asks for the blocks of `safe` and `finalized` where clients read them: a route that is behind there serves no reader who has seen more. */
async function askSettled(probing: Probing): Promise<void> {
  const { cache, finality } = probing.network
  for (const tag of ['safe', 'finalized'] as const) {
    const isAskedFor = cache !== null && tag === finality
    if (isAskedFor || !probing.isRead(tag) || !probing.isDue(tag, SETTLED_EVERY)) continue
    const askedAt = probing.now()
    const block = await askBlock(probing, `"${tag}"`)
    if (block != null) probing.route.slots.tell(tag, block.number, askedAt, probing.now())
  }
}

/** Returns a block without its transactions: null if the node does not have it, undefined if the request failed. */
async function askBlock(probing: Probing, name: Raw): Promise<FinalBlock | null | undefined> {
  const answer = await probing.ask('eth_getBlockByNumber', `[${name},false]`)
  if (answer.kind === 'failed') return undefined
  return answer.kind === 'result' ? blockIn(answer.result) : null
}

function quantity(number: number): Raw {
  return `"0x${number.toString(16)}"`
}

function blockIn(result: Raw): FinalBlock | null {
  const number = result.charCodeAt(0) === 123 ? readQuantity(memberOf(result, 'number')) : null
  if (number === null) return null
  const hash = memberOf(result, 'hash')
  return { number, hash: hash?.charCodeAt(0) === 34 ? hash.toLowerCase() : null }
}

function heightIn(told: Told): number | null {
  return told.kind === 'result' ? readQuantity(told.result) : null
}

/** Whether the node shows the block of a height that it claims. */
async function hasBlock(probing: Probing, height: number): Promise<boolean> {
  return (await askBlock(probing, quantity(height)))?.number === height
}

/** What is wrong with a chain id, as a sentence; null when it is the right one, or no answer to the question. */
export function chainFault({ chainId }: Pick<Network, 'chainId'>, result: Raw): string | null {
  const told = decodeJson(result)
  if (typeof told !== 'string' || !/^0x[0-9a-f]+$/i.test(told) || Number(told) === chainId) return null
  return `it serves chain ${Number(told)}, not ${chainId}`
}
