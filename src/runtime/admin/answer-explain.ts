/** `POST /explain` of the admin listener: the decision for a call with live heads and health. */
import { rawJson } from '../../jsonrpc/raw.ts'
import type { Live, Management } from '../../call/context.ts'
import { recall } from '../../call/cache/recall.ts'
import { familyOf } from '../../families/families.ts'
import { explain } from '../../call/explain/explain.ts'
import type { Question } from '../../call/explain/question.ts'
import type { LiveView } from '../../call/explain/turns.ts'
import type { AdminReply } from '../../http/admin/listener.ts'
import type { Network, Snapshot } from '../../snapshot/types.ts'

/** The parts of a gateway that it takes. */
interface Asked {
  readonly snapshot: Snapshot
  readonly live: Pick<Live, 'upstreams' | 'heads' | 'answers' | 'management' | 'clock'> & {
    readonly subscriptions: Pick<Live['subscriptions'], 'whyNoSocket'>
  }
}

/** Answers `{network, method, plan?, params?, head?}`; with `details: true` also what `tollgate explain` tells a person. */
export function answerExplain(body: unknown, { snapshot, live }: Asked): AdminReply {
  const { network: slug, method, plan, params, head, details } = (body ?? {}) as Record<string, unknown>
  const network = typeof slug === 'string' ? snapshot.networks[slug] : undefined
  if (network === undefined) return { status: 404, json: { error: `there is no network "${String(slug)}"` } }
  if (typeof method !== 'string') return { status: 400, json: { error: '"method" must be a string' } }
  const question = {
    network,
    method,
    plan: typeof plan === 'string' ? plan : '',
    params: params === undefined || params === null ? null : rawJson(params),
    head: typeof head === 'number' ? head : live.heads.best(network.slug),
    management: managementOf(method, live.management),
  }
  const explained = explain(question, snapshot, liveView(network, snapshot, live))
  return { status: 200, json: details === true ? explained : explained.explanation }
}

function managementOf(method: string, management: Management): Question['management'] {
  if (!management.methods.has(method)) return null
  return management.isPublic(method) ? 'everybody' : 'keys'
}

function liveView(network: Network, snapshot: Snapshot, live: Asked['live']): LiveView {
  const { upstreams, clock, subscriptions, heads } = live
  return {
    cache: {
      recall: call => {
        const wants = familyOf(network).wants(call, network.slug, { find: () => null })
        const { purges } = live.answers
        return recall(call, { network }, { wants, floor: () => null }, null, { snapshot, purges, live })
      },
      final: () => heads.finality.of(network.slug),
    },
    firstKept: upstreams.firstKept,
    whyNot: (id, tip) => upstreams.whyNot(network, id, clock.monotonic(), tip, true),
    whyDown: id => {
      const route = upstreams.get(id)
      return route === undefined ? 'not open' : route.whyDown(clock.monotonic(), true)
    },
    lastFailure: id => upstreams.get(id)?.breaker.lastFailure(clock.monotonic()) ?? null,
    whyNoSocket: id => subscriptions.whyNoSocket(id),
    waits: (id, need) => upstreams.waits(id, need, clock.monotonic()),
    lackedBy: (id, method) => upstreams.unsupported.lackedBy(id, method, clock.monotonic()),
    refusesBatches: id => upstreams.get(id)?.batching.refusal(clock.monotonic()) ?? null,
    heldTo: id => upstreams.get(id)?.limits.pace.state(clock.monotonic()) ?? null,
    contenders: (ids, need) => {
      const found = upstreams.contenders(network, ids, need, clock.monotonic())
      return typeof found === 'string' ? found : found.map(({ route }) => route.id)
    },
    head: id => upstreams.get(id)?.head ?? null,
  }
}
