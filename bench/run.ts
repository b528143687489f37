/** CPU per call of the real process over HTTP, as a ratio against a reference measured in the same minutes. */
import { FORWARDED, inBatches, LOCAL, REFUSED } from './parts/calls.ts'
import type { Side } from './parts/compare.ts'
import { CALLS } from './parts/effort.ts'
import { load } from './parts/load.ts'
import type { Load } from './parts/load.ts'
import { overStarts } from './parts/over-starts.ts'
import { configFor, Processes } from './parts/processes.ts'

/** Calls of a batch, batches under way at a time, and calls that go to the node in one body where that is allowed. */
const BATCH = 100
const BATCHES_AT_A_TIME = 4
const IN_ONE_BODY = 20

/** A process that has calls sent to it. */
interface Target {
  readonly name: string
  readonly pid: number
  readonly url: string
}

/** A side that is sent one call after another. */
function sent({ url, ...process }: Target, what: Omit<Load, 'url'>): Side {
  return { ...process, work: () => load({ url, ...what }) }
}

await overStarts(async (table, processes) => {
  const upstream = await processes.part('upstream')
  const relay = await processes.part('relay', { UPSTREAM: `http://${upstream.listen}` })
  const tighter = await processes.part('relay', {
    UPSTREAM: `http://${upstream.listen}`,
    OWN_CONNECTIONS: '1',
  })
  const hello = await processes.part('hello')
  const gateway = await processes.gateway(configFor(upstream.listen))
  const url = `http://${gateway.listen}/eth/v1/rpc/${await processes.key('bench')}`
  const us = { name: 'gateway', pid: gateway.pid, url }
  const bare = { name: 'bare server', pid: hello.pid, url: `http://${hello.listen}/` }
  const forwarding = { name: 'bare relay', pid: relay.pid, url: `http://${relay.listen}/` }
  const forwarded = { body: FORWARDED }
  const withOurs = { name: 'relay with our connections', pid: tighter.pid, url: `http://${tighter.listen}/` }
  await table.compare('forwarded call', sent(us, forwarded), sent(forwarding, forwarded))
  await table.compare('forwarded call', sent(us, forwarded), sent(withOurs, forwarded))
  await table.compare('locally answered call', sent(us, { body: LOCAL }), sent(bare, { body: LOCAL }))
  await table.compare(
    'refused call',
    sent(us, { body: REFUSED, refused: true }),
    sent(bare, { body: REFUSED }),
  )
  // The relay would pass a batch on as one body, which is other work: it is given the same calls one by one.
  const posts = Math.ceil(CALLS / BATCH)
  const batches = { body: inBatches(BATCH), posts, connections: BATCHES_AT_A_TIME }
  const inBatch = ({ name, pid, url: to }: Target): Side => ({
    name,
    pid,
    work: async () => (await load({ url: to, ...batches })) * BATCH,
  })
  const title = `forwarded call in a batch of ${BATCH} (reference: a call by itself)`
  await table.compare(title, inBatch(us), sent(forwarding, forwarded))
  const others = new Processes()
  try {
    const gathering = await others.gateway(configFor(upstream.listen, IN_ONE_BODY))
    const to = `http://${gathering.listen}/eth/v1/rpc/${await others.key('bench')}`
    const them = { name: 'gateway', pid: gathering.pid, url: to }
    await table.compare(`the same with batch: ${IN_ONE_BODY}`, inBatch(them), sent(forwarding, forwarded))
  } finally {
    await others.stop()
  }
})
