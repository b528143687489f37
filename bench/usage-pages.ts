/**
 * What a bystander notices of an account that asks for all its usage in a loop, from many connections: 1 000 accounts and a million rows, of
 * which the asking account has 29 % (100 endpoints, 6 days by the hour, 20 methods). `ROWS`, `ACCOUNTS` and `SECONDS` make it larger or smaller: with
 * ROWS=10000000 it takes two minutes.
 */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createAccess } from '../test/support/accounts.ts'
import { startGateway } from '../test/support/gateway.ts'
import { get } from '../test/support/http.ts'
import { startNode } from '../test/support/scripted-node.ts'
import type { FilledAccount } from '../test/support/usage-rows.ts'
import { fillUsageFile } from './parts/fill-usage.ts'

const ACCOUNTS = Number(process.env['ACCOUNTS'] ?? 1_000)
const ROWS = Number(process.env['ROWS'] ?? 1_000_000)
/** Of which the asking account has 2 000 rows each, and all others together about 5 000. */
const HOURS = Math.ceil(ROWS / 7_000)
const SECONDS = Number(process.env['SECONDS'] ?? 30)
const CONNECTIONS = 20
const DAY = 86_400

const endings: (() => unknown)[] = []
const scope = { teardown: (handler: () => unknown) => endings.unshift(handler) }
const node = await startNode(scope, { chainId: 1001 })
const gateway = await startGateway(scope, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
})
const owner = await createAccess(gateway, 'free', 'alpha')
const bystander = await createAccess(gateway, 'paid', 'alpha')
await gateway.stop()

const until = Math.floor(Date.now() / 1000)
const others = Array.from({ length: ACCOUNTS - 1 }, (_, a): FilledAccount => {
  const endpointIds = Array.from({ length: 10 }, (_, e) => `ep_${a}_${e}`)
  return { accountId: `acc_${a}`, endpointIds, methods: 10, hours: Math.ceil(HOURS / 20), until }
})
const endpointIds = [owner.endpointId, ...Array.from({ length: 99 }, (_, e) => `ep_owner_${e}`)]
fillUsageFile(join(gateway.dir, 'data'), [
  { accountId: owner.accountId, endpointIds, methods: 20, hours: HOURS, until },
  ...others,
])
await gateway.start()

const month = { from: until - 31 * DAY, to: until }
const questions = [
  { by: 'hour', ...month },
  { by: 'day', from: until - 60 * DAY, to: until, detail: true },
  { by: 'hour', ...month, groupBy: ['time', 'method'] },
  { by: 'day', from: until - 60 * DAY, to: until, groupBy: ['endpoint', 'method'], top: 6 },
]
const [took, waits, outcomes] = [[] as number[], [] as number[], new Map<string, number>()]
const end = performance.now() + SECONDS * 1000

async function ask(): Promise<void> {
  for (let n = 0; performance.now() < end; n += 1) {
    const begin = performance.now()
    const reply = await owner.call('service_usage', [questions[n % questions.length]])
    const outcome = String(reply.error?.data?.reason ?? 'answered')
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    if (outcome === 'answered') took.push(performance.now() - begin)
    else await pause(100)
  }
}

async function call(): Promise<void> {
  while (performance.now() < end) {
    const begin = performance.now()
    await bystander.call('eth_chainId')
    waits.push(performance.now() - begin)
    await pause(20)
  }
}

const at = (values: readonly number[], share: number): string =>
  (values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0).toFixed(1)
await bystander.call('eth_chainId')
await get(`${gateway.adminUrl}/metrics`)
await Promise.all([call(), ...Array.from({ length: CONNECTIONS }, ask)])
const { text } = await get(`${gateway.adminUrl}/metrics`)
const lag = Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1]) * 1000
console.log(`questions: ${JSON.stringify(Object.fromEntries(outcomes))}, ms at 50 %: ${at(took, 0.5)}`)
console.log(
  `bystander, ms at 50 %: ${at(waits, 0.5)}, 99 %: ${at(waits, 0.99)}, longest: ${at(waits, 1 - 1e-9)}; longest block of the loop: ${lag.toFixed(1)} ms`,
)
for (const ending of endings) await ending()
