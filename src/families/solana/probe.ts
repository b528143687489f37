/** Probes Solana nodes: how far they have come at each commitment, whether they are well, how far back they go, and their genesis. */
import { readQuantity } from '../../jsonrpc/quantity.ts'
import { decodeJson } from '../../jsonrpc/raw.ts'
import type { Reply } from '../../jsonrpc/message.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Network } from '../../snapshot/types.ts'
import type { ProbedRoute, ProbeWords, Probing } from '../probing.ts'
import { COMMITMENTS } from '../height-kind.ts'
import type { Commitment } from '../height-kind.ts'

/** Milliseconds between two questions for the oldest slot: nodes drop a few slots a second, and say so when asked for one. */
const FIRST_SLOT_EVERY = 60_000
/** What a node is asked for it: with long-term storage first, then its own ledger. */
const FIRST_SLOT_QUESTIONS = ['getFirstAvailableBlock', 'minimumLedgerSlot'] as const

/** What Agave says of a node that is behind. */
interface Unhealthy {
  readonly data?: { readonly numSlotsBehind?: unknown } | null
}

export const solanaProbe: ProbeWords = {
  question: () => ['getSlot', paramsAt(COMMITMENTS[0])],

  probe: async probing => {
    if (!(await askSlots(probing))) return
    await askHealth(probing)
    await askFirstSlot(probing)
  },

  confirm: async probing => {
    if (await askSlots(probing)) await askHealth(probing)
  },

  identify: async probing => {
    if (probing.network.genesisHash === null) return null
    const told = await probing.ask('getGenesisHash', '[]')
    if (told.kind === 'failed') return undefined
    return told.kind === 'result' ? genesisFault(probing.network, told.result) : null
  },
}

/** How far a route has come; false when it does not answer at all. */
async function askSlots(probing: Probing): Promise<boolean> {
  const { route } = probing
  const askedAt = probing.now()
  const slots = await slotsOf(probing)
  if (slots === null) return false
  if (slots.length > 0) {
    const newest = Math.max(...slots.map(([, slot]) => slot))
    probing.claim(newest)
    if (route.head === newest)
      for (const [commitment, slot] of slots) route.slots.tell(commitment, slot, askedAt, probing.now())
    const final = slots.find(([commitment]) => commitment === 'finalized')
    if (final !== undefined) probing.final({ number: final[1], hash: null })
  }
  return true
}

/** The slots of a route. One that does not answer at all is not asked more: null. */
async function slotsOf(probing: Probing): Promise<(readonly [Commitment, number])[] | null> {
  const slots: (readonly [Commitment, number])[] = []
  for (const [index, commitment] of COMMITMENTS.entries()) {
    const params = paramsAt(commitment)
    const told = await (index === 0 ? probing.askAlive('getSlot', params) : probing.ask('getSlot', params))
    const slot = told.kind === 'result' ? readQuantity(told.result) : null
    if (slot !== null) slots.push([commitment, slot])
    if (told.kind === 'failed') return index === 0 ? null : slots
  }
  return slots
}

function paramsAt(commitment: Commitment): Raw {
  return `[{"commitment":"${commitment}"}]`
}

/** Whether a route is well: "ok", or the error NodeUnhealthy. Any other answer says nothing. */
async function askHealth(probing: Probing): Promise<void> {
  const told = await probing.ask('getHealth', '[]')
  if (told.kind === 'result') setHealth(probing.route, null)
  else if (told.kind === 'failed' && told.why === 'unavailable') setHealth(probing.route, told.said)
}

function setHealth(route: ProbedRoute, unhealthy: Reply | null): void {
  route.syncing = unhealthy !== null
  const data = unhealthy?.kind === 'error' ? (decodeJson(unhealthy.error) as Unhealthy).data : null
  route.slotsBehind = typeof data?.numSlotsBehind === 'number' ? data.numSlotsBehind : null
}

/** The oldest slot of a route, once in a while; an archive keeps all. */
async function askFirstSlot(probing: Probing): Promise<void> {
  const { network, route } = probing
  const own = network.routes.find(({ id }) => id === route.id)
  if (own?.capabilities.includes('archive') === true) {
    route.firstSlot = null
    return
  }
  if (!probing.isDue('first slot', FIRST_SLOT_EVERY)) return
  for (const question of FIRST_SLOT_QUESTIONS) {
    const told = await probing.ask(question, '[]')
    if (told.kind !== 'result') continue
    route.firstSlot = readQuantity(told.result)
    return
  }
}

/** What is wrong with a genesis hash, as a sentence; null when it is the right one, or no answer to the question. */
export function genesisFault({ genesisHash }: Pick<Network, 'genesisHash'>, result: Raw): string | null {
  const told = decodeJson(result)
  return typeof told !== 'string' || told === genesisHash ? null : 'it serves a chain with another genesis'
}
