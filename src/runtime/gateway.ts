/** Puts a gateway together from the parts of its process. */
import { systemClock } from '../ports/clock.ts'
import type { Holdings } from '../ports/holdings.ts'
import type { Journal } from '../ports/journal.ts'
import type { Keys } from '../ports/keys.ts'
import type { Ledger } from '../ports/ledger.ts'
import type { Limits } from '../ports/limits.ts'
import type { Observer } from '../ports/observer.ts'
import type { Tracing } from '../ports/tracing.ts'
import { Gateway } from '../call/gateway.ts'
import type { Live } from '../call/context.ts'
import { Flights } from '../call/share/flights.ts'
import { Blockhashes } from '../families/blockhashes.ts'
import { LAST_CALLS } from '../http/listen.ts'
import type { BadKeys } from '../limits/bad-keys.ts'
import type { ByteBudget } from '../limits/byte-budget.ts'
import { FreeEnds } from '../limits/free-ends.ts'
import { Slots } from '../limits/slots.ts'
import { orAfter } from '../net/or-after.ts'
import { AttemptLog } from '../observe/attempt-log.ts'
import type { Logger } from '../observe/log.ts'
import type { Metrics } from '../observe/metrics.ts'
import { makeObserver } from '../observe/observer.ts'
import type { Records } from '../observe/records.ts'
import { atOnce, inTimeSlices } from '../reload/time-slices.ts'
import { Filters } from '../routes/filters.ts'
import { Floors } from '../routes/floors.ts'
import { Sent } from '../routes/sent.ts'
import { Heads } from '../routes/heads.ts'
import type { RouteSharing } from '../routes/route-limits.ts'
import { Upstreams } from '../routes/upstreams.ts'
import type { Snapshot } from '../snapshot/types.ts'
import { MemoryAnswers } from '../stores/memory/answers.ts'
import type { AccountStore } from '../stores/sqlite/accounts/store.ts'
import type { Closing } from './closing.ts'
import { makeManagement } from './management.ts'
import { SharedSubscriptions } from '../subscriptions/shared/subscriptions.ts'

/** Learns how far routes have come, and whether they are well. */
export type Probing = Live['prober'] & { close(): void }

/** What a process has for its gateway. */
export interface GatewayParts {
  readonly accounts: Pick<AccountStore, 'endpoints' | 'alerts' | 'audit' | 'derivedKeys' | 'age'>
  readonly keys: Keys
  readonly limits: Limits
  readonly journal: Journal
  /** What is told of usage. */
  readonly usage: Ledger
  readonly badKeys: BadKeys
  /** Who holds how many subscriptions: by default counted in this process. */
  readonly subscriptions?: Holdings
  /** With whom routes are shared: by default with nobody. */
  readonly routes?: RouteSharing
  readonly openProbing: (upstreams: Upstreams, heads: Heads, observer: Observer) => Probing
  readonly metrics: Metrics
  readonly records: Records
  /** By default nothing is traced. */
  readonly tracing?: Tracing
  readonly log: Logger
  readonly memory: ByteBudget
}

const NO_TRACING: Tracing = {
  begin: () => null,
  unrecorded: () => null,
  follow: () => Promise.resolve(),
}

/** Opens the routes of a snapshot, and what calls work with. */
export function makeGateway(snapshot: Snapshot, parts: GatewayParts, closing: Closing): Gateway {
  const { accounts, keys, limits, journal, usage, openProbing, metrics, records, log, memory } = parts
  const heads = new Heads()
  const upstreams = new Upstreams(heads, parts.routes)
  const attempts = new AttemptLog(log)
  closing.push(() => attempts.close())
  // Calls that a drain cut short end with their upstreams, and give back what they took while usage can be written.
  closing.push(() => orAfter(gateway.idle(), LAST_CALLS))
  closing.push(() => upstreams.close())
  upstreams.adopt(atOnce(upstreams.open(snapshot)))
  const observer = makeObserver(metrics, log, attempts, records)
  const answers = openAnswers(snapshot, heads, metrics, log)
  const prober = openProbing(upstreams, heads, observer)
  closing.push(() => {
    prober.close()
  })
  const subscriptions = openSubscriptions(upstreams, snapshot, memory, observer, log, parts.subscriptions)
  closing.push(() => {
    subscriptions.close()
  })
  const gateway = new Gateway(snapshot, keys, {
    limits,
    journal,
    upstreams,
    heads,
    answers,
    prober,
    observer,
    subscriptions,
    clientSubscriptions: new Slots(),
    clock: systemClock,
    tracing: parts.tracing ?? NO_TRACING,
    filters: new Filters(again => accounts.derivedKeys('filter ids', again)),
    freeEnds: new FreeEnds(),
    flights: new Flights(),
    floors: new Floors(),
    sent: new Sent(systemClock),
    blockhashes: new Blockhashes(),
    badKeys: parts.badKeys,
    management: makeManagement({
      endpoints: accounts.endpoints,
      alerts: accounts.alerts,
      audit: accounts.audit,
      age: accounts.age,
      usage,
      limits,
      upstreams,
      heads,
    }),
  })
  return gateway
}

/** Opens the cache; empty and without a byte where none is configured. */
export function openAnswers(
  { gateway }: Pick<Snapshot, 'gateway'>,
  { finality }: Pick<Heads, 'finality'>,
  metrics: Metrics,
  log: Logger,
): MemoryAnswers {
  const answers = new MemoryAnswers(gateway.cache?.memory ?? 0)
  const resets = metrics.counter(
    'tollgate_cache_resets_total',
    'Times that what was final on a network had changed, and all of its answers were dropped',
    ['network'],
  )
  finality.whenReset((network, why) => {
    answers.purge({ network })
    // Where another process probes, it says so for all.
    if (why === null) return
    resets.add([network])
    log.warn({ network, why }, 'final blocks have changed: the kept answers of the network were dropped')
  })
  finality.whenUnknown(network => {
    log.warn({ network }, 'no route can say which block is final: no answer about a block is kept for good')
  })
  registerAnswers(answers, metrics)
  return answers
}

function registerAnswers(answers: MemoryAnswers, metrics: Metrics): void {
  metrics.gauge('tollgate_cache_bytes', 'Bytes of kept answers and their keys, by count', [], () => [
    [[], answers.bytes],
  ])
  metrics.gauge('tollgate_cache_entries', 'Kept answers', [], () => [[[], answers.entries]])
  metrics.counted('tollgate_cache_evicted_total', 'Kept answers that made room for others', [], () => [
    [[], answers.evicted],
  ])
}

/** New messages are served with `next`; routes that it does not name are closed when the calls in flight are over. */
export async function swap(gateway: Gateway, next: Snapshot, log: Logger): Promise<void> {
  const { upstreams, tracing } = gateway.live
  const opened = await inTimeSlices(upstreams.open(next))
  log.level = next.gateway.log.level
  await tracing.follow(next.gateway.tracing)
  const { left, underWay } = gateway.swap(next, opened)
  void underWay.then(() => inTimeSlices(upstreams.retire(left)))
}

/** Opens no socket yet: the first subscription does. */
export function openSubscriptions(
  upstreams: Upstreams,
  snapshot: Snapshot,
  budget: ByteBudget,
  observer: Pick<Observer, 'bug'>,
  log: Logger,
  holdings?: Holdings,
): SharedSubscriptions {
  return new SharedSubscriptions({
    upstreams,
    snapshot,
    budget,
    ...(holdings && { holdings }),
    connectTimeout: () => snapshot.gateway.timeouts.connect,
    events: {
      bug: (error, where) => {
        observer.bug(error, where)
      },
      cut: (route, why) => {
        log.error(
          { route, why },
          'socket of a route closed: for a minute other routes carry its subscriptions',
        )
      },
      socketsFail: (route, why) => {
        log.warn({ route, why }, 'sockets of a route fail')
      },
      socketsLast: (route, ms) => {
        log.info({ route, failedMs: Math.round(ms) }, 'sockets of the route stay open again')
      },
    },
  })
}
