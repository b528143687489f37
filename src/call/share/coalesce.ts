/** Equal calls that are under way at the same time are one upstream call: who may share, and what those who wait make of its end. */
import { familyOf } from '../../families/families.ts'
import type { RouteNeed } from '../../families/route-need.ts'
import { compact } from '../../jsonrpc/compact.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { refuse } from '../../refusal/refusal.ts'
import type { Network, Rule } from '../../snapshot/types.ts'
import { ENVELOPE } from '../cache/recall.ts'
import { shownNumber } from '../cache/shown.ts'
import type { Caller } from '../caller.ts'
import type { Live } from '../context.ts'
import type { Decided } from '../decide.ts'
import { TIMEOUTS } from '../node/request.ts'
import type { ReplyMode } from '../node/request.ts'
import type { Trail } from '../node/attempts.ts'
import { refused } from '../reply/answer.ts'
import type { Answer } from '../reply/answer.ts'
import { LONG } from '../../jsonrpc/long-text.ts'
import type { Fetched, Flight, FlightKey, Landing, Passenger } from './flight.ts'
import { flightKey } from './flights.ts'
import type { RowTraffic } from './row-traffic.ts'

/** Bytes of the params of a call that is compared with others. */
const MAX_PARAMS = 16 * 1024

/** Flights that a call waits for, one after the other, before it takes what comes or goes alone. */
const ROUNDS = 2

/** A call that nodes are to be asked for. */
export interface Wish extends Passenger {
  readonly call: Decided
  readonly network: Network
  /** Who is shown its answer (`readerOf`). */
  readonly reader: string
  readonly wants: RouteNeed | null
  /** Who wants no kept answer gets none of another call either. */
  readonly freshness: Caller['freshness']
  /** The params without white space, where they are known. */
  readonly compacted: Raw | null
  readonly mode: Pick<ReplyMode, 'maxBytes' | 'holder'>
  /** Where it is noted that an equal call was sent in its place. */
  readonly trail: Pick<Trail, 'shared'>
}

/** What is asked about flights. */
export type Shared = Pick<Live, 'flights' | 'heads' | 'clock'> & {
  readonly sent: Pick<Live['sent'], 'lastAt'>
  readonly upstreams: Pick<Live['upstreams'], 'contenders'> & {
    readonly unsupported: Pick<Live['upstreams']['unsupported'], 'among'>
  }
}

/** How a call is sent. */
export interface Sending<E> {
  /** Sends it for all of a flight, or for itself alone; `until` is when its time is up, by the monotonic clock, where it has waited before. */
  readonly send: (flight: Flight | null, until: number | null) => Promise<E>
  /** What came of that. */
  readonly conclude: (ended: E) => Fetched
}

/** Whether calls of a row may share an upstream call: reads alone, and nothing that is one caller's own. */
export function isShareable({ share, retry, sticky }: Rule, network: Pick<Network, 'share'>): boolean {
  return share && network.share && retry === 'safe' && sticky === null
}

/** Asks the nodes, or waits for an equal call that is asking them. */
export function coalesce<E>(wish: Wish, sending: Sending<E>, live: Shared): Promise<Fetched> {
  const { call, network, freshness } = wish
  const { row, method, params } = call
  if (freshness !== undefined || params.length > MAX_PARAMS || !isShareable(row.rule, network))
    return lead(null, null, wish, null, sending, live)
  const traffic = live.flights.of(row)
  if (traffic.isMostlyLong(wish.caller)) return lead(null, traffic, wish, null, sending, live)
  const key = flightKey(traffic, method, wish.compacted ?? compact(params))
  const flight = live.flights.find(key, each => mayJoin(each, wish, live))
  return flight === null
    ? lead(begin(key, wish, live), traffic, wish, null, sending, live)
    : follow(flight, key, wish, sending, live)
}

function begin(
  key: FlightKey,
  wish: Wish,
  { flights, heads }: Pick<Live, 'flights' | 'heads'>,
): Flight | null {
  const { slug } = wish.network
  // On Solana a slot is settled for good long after it is the newest.
  const known =
    wish.call.span?.to.kind !== 'number'
      ? null
      : wish.wants === null
        ? heads.best(slug)
        : heads.finality.of(slug)
  return flights.begin(key, wish, known)
}

/** Whether the flight reads what the call would if it were sent now. */
function mayJoin(flight: Flight, wish: Wish, live: Shared): boolean {
  if (!flight.takes(wish) || flight.isBefore(live.sent.lastAt(wish.network.slug, wish.reader))) return false
  return (flight.isFresh(live.clock.monotonic()) || isSettled(flight, wish)) && asksAlike(flight, wish, live)
}

/**
 * Whether the flight asks a route that the call might be sent to by itself. What keeps its leader away from a better one may be the leader's own:
 * what its calls have suffered, its share of a route, a transaction of its own.
 */
function asksAlike({ asked, leader }: Flight, wish: Wish, live: Shared): boolean {
  if (asked === null || leader.caller === wish.caller) return true
  const own = contendersFor(wish, wish, live)
  if (own === null || own.includes(asked)) return true
  const others = contendersFor(wish, leader, live)
  return others !== null && own.every(id => others.includes(id))
}

/** The routes that a call like this one might be sent to for a passenger; null where none has room or can serve it. */
function contendersFor(
  { call: { routes, method }, network }: Wish,
  { need, caller }: Passenger,
  { upstreams, clock }: Shared,
): readonly string[] | null {
  const now = clock.monotonic()
  const lacking = upstreams.unsupported.among(routes, method, caller, now)
  const able = routes.filter(id => !lacking.includes(id))
  const found = upstreams.contenders(network, able, need, now, caller)
  return typeof found === 'string' ? null : found.map(({ route }) => route.id)
}

/** Whether what it reads was there when the flight began, or is named by a hash: then the moment matters little. */
function isSettled({ known }: Flight, { call, network, wants }: Wish): boolean {
  if (call.row.rule.cache.includes('fixed')) return true
  const reading = familyOf(network).reading(call, wants)
  return reading.kind === 'numbers' ? known !== null && reading.to <= known : reading.kind === 'shown'
}

/** Asks for itself and, where there is a flight, for all who join it; notes what the reply was like. */
async function lead<E>(
  flight: Flight | null,
  traffic: RowTraffic | null,
  { caller }: Pick<Wish, 'caller'>,
  until: number | null,
  { send, conclude }: Sending<E>,
  { flights }: Pick<Live, 'flights'>,
): Promise<Fetched> {
  let fetched: Fetched | null = null
  try {
    fetched = conclude(await send(flight, until))
    const bytes = traffic === null ? null : bytesOf(fetched.answer)
    if (bytes !== null) traffic?.learn(bytes > LONG, caller)
    return fetched
  } finally {
    if (flight !== null) {
      flights.end(flight)
      flight.land(fetched)
    }
  }
}

/** Those of a node's answer; of one that streams, more than are ever shared. Null where no node answered. */
function bytesOf(answer: Answer): number | null {
  switch (answer.kind) {
    case 'stream':
      return Infinity
    case 'result':
      return answer.result.length
    case 'error':
      return answer.error.length
    case 'refused':
    case 'abandoned':
      return null
  }
}

/**
 * Waits for a flight, and where its end is of no use for the next one, which this call may lead. What broke two flights breaks more: then all who
 * waited are refused, so that they do not fall on the nodes together.
 */
async function follow<E>(
  first: Flight,
  key: FlightKey,
  wish: Wish,
  sending: Sending<E>,
  live: Shared,
): Promise<Fetched> {
  const { clock, flights } = live
  const { trail } = wish
  const until = clock.monotonic() + TIMEOUTS[wish.call.row.rule.timeout].deadline
  let flight = first
  trail.shared = true
  for (let round = 1; ; round += 1) {
    const isFresh = flight.isFresh(clock.monotonic())
    const landing = await flight.join(wish)
    if (landing === 'left') return leftAt(flight)
    const use = useOf(landing, isFresh, wish)
    const isLast = round === ROUNDS || clock.monotonic() >= until
    if (landing !== null && (use === 'answer' || (use === 'failed' && isLast))) return landing
    if (clock.monotonic() >= until) return TIMED_OUT
    const isAlone = isLast || use === 'alone'
    const next = isAlone ? null : flights.find(key, each => mayJoin(each, wish, live))
    if (next === null) {
      trail.shared = false
      return lead(isAlone ? null : begin(key, wish, live), key.row, wish, until, sending, live)
    }
    flight = next
  }
}

/** What a flight's end is to a call that has waited for it. `again` and `failed`: it is asked once more. */
function useOf(
  landing: Exclude<Landing, 'left'>,
  isFresh: boolean,
  { call, mode: { maxBytes, holder } }: Wish,
): 'answer' | 'failed' | 'again' | 'alone' {
  if (landing === null) return 'again'
  const { answer, isOwn } = landing
  const bytes = bytesOf(answer)
  if (bytes === null) return answer.kind === 'refused' && !isOwn ? 'failed' : 'again'
  if (!isFresh && !isLasting(answer, call.row.rule)) return 'again'
  if (bytes > LONG || (maxBytes !== null && bytes + ENVELOPE > maxBytes)) return 'alone'
  return (holder?.take(bytes) ?? null) === null ? 'answer' : 'alone'
}

/** Whether who came late may take it: what is about a block that was there. What failed, was missing or pending may be otherwise by now. */
function isLasting(answer: Answer, { shows, block }: Rule): boolean {
  if (answer.kind !== 'result') return answer.kind === 'stream'
  if (answer.result === 'null') return false
  const isByHash = block?.kind === 'hash' || block?.kind === 'txhash'
  return !isByHash || shows === null || shownNumber(answer.result, shows) !== null
}

/** A client that leaves what was sent is charged for it, as one that leaves its own call is. */
function leftAt({ isSent }: Flight): Fetched {
  return isSent ? ABANDONED : UNSENT
}

const NOWHERE = { route: null, tried: null, isOwn: true } as const
const ABANDONED: Fetched = { ...NOWHERE, answer: { kind: 'abandoned' } }
const UNSENT: Fetched = { ...NOWHERE, answer: refused(refuse('overloaded', 'Every route is at its limit')) }
const TIMED_OUT: Fetched = { ...NOWHERE, answer: refused(refuse('upstream_timeout')) }
