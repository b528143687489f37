/** A month's bill: what was charged, to the unit, by whatever it is split. */
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { meterEvents } from '../../src/commands/usage/bill.ts'
import type { WithoutEvents } from '../../src/commands/usage/bill.ts'
import type { Names } from '../../src/stores/sqlite/accounts/names.ts'
import type { OpenReader } from '../../src/stores/sqlite/usage/reader.ts'
import { openDataDir } from '../../src/stores/sqlite/data-dir.ts'
import { openAccounts } from '../../src/stores/sqlite/accounts/store.ts'
import { windowAt } from '../../src/limits/window.ts'
import { run } from '../support/cli.ts'
import { prepareGateway } from '../support/gateway.ts'
import { Random } from '../support/random.ts'
import { open, payer } from '../stores/usage/parts.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const today = new Date()
/** The month before this one, in UTC. */
const begin = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - 1)
const end = Date.UTC(today.getUTCFullYear(), today.getUTCMonth())
const month = new Date(begin).toISOString().slice(0, 7)

const gateway = await prepareGateway(t, {
  networks: { alpha: { chainId: 1001 }, beta: { chainId: 1002 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: 'http://127.0.0.1:1' }],
  plans: {
    metered: {
      tiers: ['any'],
      rate: { perSecond: 100, burst: 100 },
      maxBatch: 10,
      quota: { requests: 1_000_000, every: 'month' },
      ws: { connections: 1, subscriptions: 1 },
    },
  },
})
const dataDir = join(gateway.dir, 'data')
openDataDir(dataDir)
const store = await openAccounts({ dataDir, env: {} })
const names = ['Acme, "the" first', '=SUM(A1)', 'No customer', 'Purged']
const accounts = await Promise.all(
  names.map(async name => (await store.accounts.create({ name, plan: 'metered' })).account),
)
const [acme, sheet, poor, purged] = accounts as [
  (typeof accounts)[0],
  (typeof accounts)[0],
  (typeof accounts)[0],
  (typeof accounts)[0],
]
await store.accounts.change(acme.id, { externalId: 'cus_acme' })
await store.accounts.change(sheet.id, { externalId: 'crm-2', labels: { stripe: 'cus_sheet' } })
const endpoints = await Promise.all(
  accounts.flatMap(({ id }) =>
    ['alpha', 'beta', 'alpha'].map(async network => {
      const made = await store.endpoints.create({ accountId: id, network })
      if (typeof made === 'string') throw new Error(made)
      return { accountId: id, id: made.id, network }
    }),
  ),
)

/** A month of mixed traffic: plans change in mid-hour, endpoints and an account are deleted, calls are refused and given back. */
const random = new Random(20261124)
const { ledger, database } = open(dataDir)
const planOf = (accountId: string, at: number): string =>
  accountId === acme.id && at >= begin + 9 * DAY + 1.5 * HOUR
    ? 'pro'
    : accountId === sheet.id && at < begin + DAY
      ? 'free'
      : 'metered'
for (let call = 0; call < 20_000; call += 1) {
  const at = begin - 2 * DAY + random.below(end - begin + 4 * DAY)
  const endpoint = random.pick(endpoints)
  const plan = planOf(endpoint.accountId, at)
  const owner = { ...payer, account: { id: endpoint.accountId, plan, createdAt: 0 }, endpoint }
  const method = random.pick(['eth_call', 'eth_getLogs', 'trace_block'])
  if (random.below(10) === 0) ledger.charging.refused(owner, method, 'rate_limited', at)
  else {
    const period = windowAt('month', 0, at).start
    const charge = ledger.charging.charge(owner, method, 1 + random.below(20), period, at)
    if (random.below(20) === 0) await charge.giveBack()
    else charge.settle({ error: random.below(8) === 0, bytesOut: 100, upstreamMs: 1 })
  }
  if (call % 1000 === 0) ledger.fold()
}
await store.endpoints.remove(null, endpoints[0]!.id)
await store.accounts.purge(purged.id)
store.close()
await ledger.charging.settled()
ledger.fold()
const truth = (): { calls: number; requests: number; errors: number; refusals: number }[] =>
  database.database
    .prepare(
      'SELECT account, plan, sum(calls) AS calls, sum(requests) AS requests, sum(errors) AS errors, sum(refusals) AS refusals FROM usage WHERE hour >= ? AND hour < ? GROUP BY account, plan',
    )
    .all(begin / 1000, end / 1000) as never
const inMonth = truth()
ledger.close()

interface Line {
  readonly accountId: string
  readonly name: string | null
  readonly plan: string | null
  readonly calls: number
  readonly requests: number
  readonly errors: number
  readonly refusals: number
}
const usage = async (...words: readonly string[]) => {
  const reply = await run(['usage', ...words, '--config', gateway.dir])
  if (reply.code !== 0) throw new Error(reply.stderr)
  return reply
}
const lines = async (...words: readonly string[]): Promise<readonly Line[]> =>
  JSON.parse((await usage(...words, '--format', 'json')).stdout) as Line[]
const sum = (rows: readonly Pick<Line, 'calls' | 'requests' | 'errors' | 'refusals'>[]) =>
  rows.reduce(
    (all, { calls, requests, errors, refusals }) => ({
      calls: all.calls + calls,
      requests: all.requests + requests,
      errors: all.errors + errors,
      refusals: all.refusals + refusals,
    }),
    { calls: 0, requests: 0, errors: 0, refusals: 0 },
  )

t.test('lines of a month sum to the ledger to the unit, however they are split', async t => {
  const expected = sum(inMonth)
  t.ok(expected.requests > 50_000 && expected.refusals > 1000 && expected.errors > 1000)
  const bill = await lines('--period', month)
  t.strictSame(sum(bill), expected)
  t.equal(bill.length, 6, 'four accounts, two of which have changed their plan')
  t.strictSame(
    bill.filter(({ accountId }) => accountId === acme.id).map(({ plan }) => plan),
    ['metered', 'pro'],
  )
  for (const by of ['endpoint', 'network', 'method'])
    t.strictSame(sum(await lines('--period', month, '--by', by)), expected, by)
  for (const by of ['hour', 'day', 'month'])
    t.strictSame(sum(await lines('--period', month, '--by', by)), expected, by)
  const days = Array.from({ length: (end - begin) / DAY }, (_, n) =>
    new Date(begin + n * DAY).toISOString().slice(0, 10),
  )
  const daily = await Promise.all(days.map(async day => lines('--period', day)))
  t.strictSame(sum(daily.flat()), expected, 'day by day')
  t.strictSame(
    sum(await lines('--account', acme.id, '--period', month)),
    sum(bill.filter(({ accountId }) => accountId === acme.id)),
  )
})

t.test(
  'a purged account and a deleted endpoint are billed; what is left of their names is shown',
  async t => {
    const bill = await lines('--period', month)
    t.ok(bill.find(({ accountId }) => accountId === purged.id)!.requests > 0)
    const split = (await lines('--period', month, '--by', 'endpoint')) as readonly (Line & {
      endpointId: string
    })[]
    t.equal(new Set(split.map(({ endpointId }) => endpointId)).size, endpoints.length)
  },
)

t.test('CSV survives any name, and a table has a total', async t => {
  const { stdout } = await usage('--period', month, '--csv')
  const [head, ...rows] = stdout.trimEnd().split('\n')
  t.equal(head, 'from,to,accountId,name,externalId,plan,calls,requests,errors,refusals')
  t.ok(
    rows.some(
      row => row.startsWith(`${month}-01T00:00:00Z,`) && row.includes('"Acme, ""the"" first",cus_acme,pro,'),
    ),
  )
  t.ok(
    rows.some(row => row.includes(",'=SUM(A1),crm-2,")),
    'no name is a formula',
  )
  const table = (await usage('--period', month)).stdout.trimEnd().split('\n')
  t.match(table.at(-1), new RegExp(`^TOTAL .* ${sum(inMonth).requests} `))
})

t.test('Stripe counts a day once, however often its events are sent', async t => {
  // As documented: an event whose identifier is known is taken and not counted.
  const counted = new Map<string, number>()
  const seen = new Set<string>()
  const stripe = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const { identifier, payload } = JSON.parse(Buffer.concat(parts).toString()) as {
        identifier: string
        payload: { stripe_customer_id: string; value: string }
      }
      if (!seen.has(identifier))
        counted.set(
          payload.stripe_customer_id,
          (counted.get(payload.stripe_customer_id) ?? 0) + Number(payload.value),
        )
      seen.add(identifier)
      response.end('{}')
    })
  })
  stripe.listen(0, '127.0.0.1')
  await once(stripe, 'listening')
  t.teardown(() => stripe.close())
  const url = `http://127.0.0.1:${(stripe.address() as AddressInfo).port}/v2/billing/meter_events`
  const send = async (): Promise<string[]> => {
    const { stdout, stderr } = await usage('--period', month, '--format', 'stripe')
    t.match(stderr, new RegExp(`without a Stripe customer.*${poor.id}`))
    const events = stdout.trimEnd().split('\n')
    for (const body of events) t.equal((await fetch(url, { method: 'POST', body })).status, 200)
    return events
  }
  const first = await send()
  t.strictSame(await send(), first, 'the events are the same')
  const bill = await lines('--period', month)
  const of = ({ id }: { id: string }) => sum(bill.filter(({ accountId }) => accountId === id)).requests
  t.strictSame(Object.fromEntries(counted), { cus_acme: of(acme), cus_sheet: of(sheet) })
  t.match(JSON.parse(first[0]!), {
    event_name: 'tollgate_requests',
    identifier: /^tollgate-acc_\w+-\d{4}-\d\d-\d\d$/,
    timestamp: /^\d{4}-\d\d-\d\dT23:59:59\.000Z$/,
    payload: { stripe_customer_id: /^cus_/, value: /^\d+$/ },
  })
  const now = (await usage('--period', new Date().toISOString().slice(0, 10), '--format', 'stripe')).stdout
  t.equal(now, '', 'a day that is not over has no event yet')
})

t.test('bug: events of a day that is not over were missing without a word', t => {
  const day = begin / 1000
  const line = { accountId: acme.id, plan: 'paid', calls: 1, requests: 1, errors: 0, refusals: 0 }
  const reader = { lines: () => [day, day + 86_400].map(of => ({ ...line, of })) } as unknown as OpenReader
  const owner = { name: 'Acme', plan: 'paid', createdAt: 0, externalId: 'cus_acme', labels: {} }
  const names = { accounts: new Map([[acme.id, owner]]), endpoints: new Map() } as unknown as Names
  const without: WithoutEvents = { unknown: new Set(), open: null }
  const span = { from: day, to: day + 2 * 86_400 }
  const afterTheFirst = (day + 86_400 + 3_600) * 1000
  const events = [...meterEvents(reader, names, span, afterTheFirst, without)]
  t.equal(events.length, 1)
  t.strictSame(without, { unknown: new Set(), open: day + 86_400 })
  t.end()
})

t.test('quota windows, top and account show agree with the ledger', async t => {
  const windows = JSON.parse(
    (await usage('--period', 'quota', '--from', `${month}-01`, '--to', `${month}-02`, '--format', 'json'))
      .stdout,
  ) as { requests: number; start: number; end: number | null; accountId: string }[]
  t.equal(
    windows.reduce((all, { requests }) => all + requests, 0),
    sum(inMonth).requests,
  )
  t.ok(windows.every(({ start }) => start === begin / 1000))
  t.equal(windows.find(({ accountId }) => accountId === acme.id)!.end, end / 1000)
  const hours = Math.ceil((Date.now() - begin) / HOUR) + 72
  const { code, stdout } = await run([
    'top',
    '--for',
    `${hours}h`,
    '--by',
    'method',
    '--config',
    gateway.dir,
    '--json',
  ])
  t.equal(code, 0)
  const top = JSON.parse(stdout) as { what: string; requests: number }[]
  t.strictSame(top.map(({ what }) => what).sort(), ['eth_call', 'eth_getLogs', 'trace_block'])
  t.ok(top[0]!.requests >= top[1]!.requests)
  const shown = await run(['account', 'show', 'cus_acme', '--config', gateway.dir])
  t.match(
    shown.stdout,
    new RegExp(
      `^account   ${acme.id} \\(Acme, "the" first\\), active, made .*\nplan      metered\nquota     \\d+ of 1000000 request units used, resets `,
    ),
  )
  t.match(shown.stdout, /\nendpoints 2 of 100\n/)
})

t.test('spans begin with whole steps, and slips are explained', async t => {
  const noon = new Date(begin + 3 * DAY + 12 * HOUR).toISOString().slice(0, 16)
  const to = new Date(begin + 5 * DAY).toISOString().slice(0, 10)
  const rows = (await lines('--from', noon, '--to', to)) as unknown as readonly {
    time: number
    requests: number
  }[]
  const whole = (await lines('--from', noon.slice(0, 10), '--to', to)) as unknown as readonly {
    requests: number
  }[]
  t.equal(rows[0]!.time, begin / 1000 + 3 * 86_400)
  t.match(
    await run(['usage', '--from', noon, '--to', to, '--config', gateway.dir]),
    { stderr: /note: usage from \S+ 00:00:00 UTC is shown, not from \S+ 12:00:00 UTC: days are whole/ },
    'bug: usage from before --from was shown without a word',
  )
  t.strictSame(rows, whole)
  const untilNoon = ['--from', noon.slice(0, 10), '--to', new Date(begin + 4 * DAY + 12 * HOUR).toISOString()]
  t.strictSame(await lines(...untilNoon), whole, 'the day that --to is in is whole')
  t.match(await run(['usage', ...untilNoon, '--config', gateway.dir]), {
    stderr: /note: usage to \S+ 00:00:00 UTC is shown, not to \S+ 12:00:00 UTC: days are whole/,
  })
  t.equal(
    (await usage(...untilNoon, '--format', 'stripe')).stdout,
    (await usage('--from', noon.slice(0, 10), '--to', to, '--format', 'stripe')).stdout,
    'an event has the whole of its day',
  )
  for (const [words, stderr] of [
    [['--period', '2026-13'], /--period must be a month such as 2026-11/],
    [['--period', '2026-02-30'], /--period must be/],
    [['--period', month, '--from', '2026-01-01'], /--period stands for --from and --to/],
    [['--by', 'account', '--detail'], /--detail goes with --by hour, day or month/],
    [['--csv', '--format', 'json'], /give one of them/],
    [['--period', month, '--by', 'method', '--format', 'stripe'], /one event for each account and day/],
    [['--by', 'week'], /--by must be hour, day, month, account/],
  ] as const)
    t.match(await run(['usage', ...words, '--config', gateway.dir]), { code: 2, stderr })
})
