/** What a process writes and remembers of calls. */
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import type { AccessLogConfig } from '../../src/config/observing/types.ts'
import { AccessLog } from '../../src/observe/access-log.ts'
import { findInLogs } from '../../src/observe/find-in-log.ts'
import { LogFile } from '../../src/observe/log-file.ts'
import { Records } from '../../src/observe/records.ts'
import type { Observation, RefusedMessage } from '../../src/ports/observer.ts'
import { tempDir } from '../support/temp-dir.ts'

const call = (more: Partial<Observation> = {}): Observation => ({
  requestId: 'AAAAAAAAAAAAAAAA',
  account: 'acc_1',
  endpoint: 'ep_1',
  network: 'eth',
  method: 'eth_call',
  route: 'eth-a',
  status: 200,
  outcome: 'ok',
  reason: null,
  plan: 'pro',
  transport: 'http',
  address: '2001:db8:1:2::3',
  rowClass: 'normal',
  cache: null,
  shared: false,
  requests: 1,
  totalMs: 12.3456,
  upstreamMs: 11,
  traceId: null,
  ...more,
})
const refusal: RefusedMessage = {
  requestId: 'BBBBBBBBBBBBBBBB',
  account: 'acc_1',
  endpoint: 'ep_1',
  network: 'eth',
  plan: 'pro',
  status: 403,
  reason: 'origin_denied',
  address: '192.0.2.77',
}

/** An access log in memory. */
function logOf(first: AccessLogConfig | null) {
  const lines: Record<string, unknown>[] = []
  const [now, opened, closed]: [{ config: AccessLogConfig | null }, string[], number[]] = [
    { config: first },
    [],
    [],
  ]
  const log = new AccessLog(
    () => now.config,
    to => {
      opened.push(to)
      return {
        write: line => lines.push(JSON.parse(line) as Record<string, unknown>),
        reopen: () => undefined,
        close: () => Promise.resolve(void closed.push(1)),
      }
    },
  )
  return { log, lines, opened, closed, now }
}

t.test('an access log without a filter has a line for each call and each refused message', t => {
  const { log, lines } = logOf({ to: 'stdout', address: 'none', filter: null })
  log.call(call(), 0)
  log.refused(refusal, 1000)
  t.strictSame(lines, [
    {
      time: '1970-01-01T00:00:00.000Z',
      msg: 'call',
      requestId: 'AAAAAAAAAAAAAAAA',
      account: 'acc_1',
      endpoint: 'ep_1',
      network: 'eth',
      method: 'eth_call',
      route: 'eth-a',
      status: 200,
      reason: null,
      outcome: 'ok',
      plan: 'pro',
      transport: 'http',
      requests: 1,
      ms: 12.35,
      upstreamMs: 11,
    },
    {
      time: '1970-01-01T00:00:01.000Z',
      msg: 'refusal',
      requestId: 'BBBBBBBBBBBBBBBB',
      account: 'acc_1',
      endpoint: 'ep_1',
      network: 'eth',
      method: null,
      route: null,
      status: 403,
      reason: 'origin_denied',
      outcome: 'refused',
      plan: 'pro',
    },
  ])
  t.end()
})

t.test('a filter writes what any part of it names', t => {
  const filter = { status: ['5xx', '429'], slower: 1000, sample: 0 }
  const { log, lines } = logOf({ to: 'stdout', address: 'none', filter })
  for (const [i, more] of [
    {},
    { status: 502 },
    { status: 403 },
    { status: 429 },
    { totalMs: 1000 },
    { totalMs: 999 },
  ].entries())
    log.call(call({ ...more, requests: i }), 0)
  log.refused(refusal, 0)
  t.strictSame(
    lines.map(({ requests }) => requests),
    [1, 3, 4],
  )
  t.end()
})

t.test('a sample is chosen by request ids: about its part of all, and a batch as a whole', t => {
  const { log, lines } = logOf({
    to: 'stdout',
    address: 'none',
    filter: { status: [], slower: null, sample: 0.1 },
  })
  let seed = 7
  const random = (): number => (seed = (seed * 48271) % 2147483647) / 2147483647
  for (let i = 0; i < 5000; i += 1) {
    const requestId = Buffer.from(Array.from({ length: 12 }, () => Math.floor(random() * 256))).toString(
      'base64url',
    )
    for (let item = 0; item < 2; item += 1) log.call(call({ requestId }), 0)
  }
  t.ok(lines.length > 800 && lines.length < 1200, String(lines.length))
  t.equal(new Set(lines.map(({ requestId }) => requestId)).size * 2, lines.length)
  t.end()
})

t.test("the client's address is in the lines as far as it is wanted", t => {
  const { log, lines, now } = logOf(null)
  for (const address of ['none', 'prefix', 'full'] as const) {
    now.config = { to: '/a', address, filter: null }
    log.call(call(), 0)
    log.refused(refusal, 0)
    log.refused({ ...refusal, address: null }, 0)
  }
  t.strictSame(
    lines.map(line => line['address']),
    [
      undefined,
      undefined,
      undefined,
      '2001:db8:1::/48',
      '192.0.2.0/24',
      undefined,
      '2001:db8:1:2::3',
      '192.0.2.77',
      undefined,
    ],
  )
  t.end()
})

t.test('a reload turns the access log on, has it go elsewhere, and turns it off', t => {
  const { log, lines, opened, closed, now } = logOf(null)
  log.call(call(), 0)
  now.config = { to: '/a', address: 'none', filter: null }
  log.call(call(), 0)
  now.config = { to: '/a', address: 'none', filter: { status: ['5xx'], slower: null, sample: 0 } }
  log.call(call(), 0)
  now.config = { to: '/b', address: 'none', filter: null }
  log.call(call(), 0)
  now.config = null
  log.call(call(), 0)
  t.strictSame([lines.length, opened, closed.length], [2, ['/a', '/b'], 2])
  t.end()
})

t.test('a file is opened again when it was renamed; its lines are found in what became of it', async t => {
  const file = join(await tempDir(t), 'access.log')
  const said: string[] = []
  const output = new LogFile(file, sentence => said.push(sentence))
  const config = { to: file, address: 'none' as const, filter: null }
  const log = new AccessLog(
    () => config,
    () => output,
  )
  for (let i = 0; i < 3000; i += 1) log.call(call({ requestId: `first-${String(i).padStart(10, '0')}` }), i)
  await rename(file, `${file}.1`)
  log.reopen()
  log.call(call({ requestId: 'second-000000000' }), 5)
  await log.close()
  t.equal((await readFile(`${file}.1`, 'utf8')).split('\n').length - 1, 3000)
  t.equal((await readFile(file, 'utf8')).split('\n').length - 1, 1)
  t.match(await findInLogs(file, 'second-000000000'), [{ time: '1970-01-01T00:00:00.005Z' }])
  await writeFile(`${file}-20261101.gz`, gzipSync(await readFile(`${file}.1`)))
  await writeFile(`${file}.1`, '{"requestId":"torn')
  for (const i of [0, 1499, 2999])
    t.match(await findInLogs(file, `first-${String(i).padStart(10, '0')}`), [{ route: 'eth-a', ms: 12.35 }])
  t.strictSame(await findInLogs(file, 'torn'), [])
  t.strictSame(await findInLogs(join(file, 'no', 'folder'), 'x'), [])
  t.strictSame(said, [])
})

t.test('a file that cannot be opened is reported once, and holds up no call', async t => {
  const said: string[] = []
  const output = new LogFile(join(await tempDir(t), 'none', 'access.log'), sentence => said.push(sentence))
  for (let i = 0; i < 3; i += 1) output.write('line\n')
  await output.close()
  t.equal(said.length, 1)
  t.match(said[0], /access\.log cannot be opened, and no call is written: /)
})

t.test(
  'the last calls of each account that failed are remembered: a flood of one pushes out none of another',
  async t => {
    const records = new Records(
      () => null,
      () => t.fail('there is no access log') as never,
    )
    const failed = { status: 504, outcome: 'refused', reason: 'upstream_timeout' } as const
    records.call(call({ ...failed, requestId: 'mine', account: 'acc_quiet' }))
    records.call(call({ requestId: 'fine' }))
    for (let i = 0; i < 10_000; i += 1) records.call(call({ ...failed, requestId: `flood-${i}` }))
    records.refused(refusal)
    t.match(records.find('mine'), [
      { account: 'acc_quiet', route: 'eth-a', reason: 'upstream_timeout', ms: 12.35 },
    ])
    t.match(records.find(refusal.requestId), [{ msg: 'refusal', reason: 'origin_denied' }])
    t.strictSame(records.find('fine'), [])
    t.strictSame(records.find('flood-1'), [], 'the oldest of the flood are forgotten')
    t.equal(records.find('flood-9999').length, 1)
    await records.close()
  },
)

t.test('a trace has the lines of its account or endpoint alone, and counts what is too much', async t => {
  const records = new Records(
    () => null,
    () => t.fail('there is no access log') as never,
  )
  records.call(call({ requestId: 'before' }))
  t.strictSame(records.traced('one', { endpoint: 'ep_1' }), { lines: [], dropped: 0 })
  records.traced('two', { account: 'acc_2' })
  records.call(call())
  records.attempt({
    requestId: 'AAAAAAAAAAAAAAAA',
    account: 'acc_1',
    endpoint: 'ep_1',
    network: 'eth',
    method: 'eth_call',
    route: 'eth-a',
    result: 'reset',
    ms: 1.006,
  })
  records.call(call({ endpoint: 'ep_2', account: 'acc_2' }))
  records.refused({ ...refusal, account: null, endpoint: null })
  t.match(records.traced('one', { endpoint: 'ep_1' }), {
    lines: [
      { msg: 'call', endpoint: 'ep_1' },
      { msg: 'attempt', result: 'reset', ms: 1.01 },
    ],
  })
  t.match(records.traced('two', { account: 'acc_2' }).lines, [{ endpoint: 'ep_2' }])
  for (let i = 0; i < 2500; i += 1) records.call(call())
  const { lines, dropped } = records.traced('one', { endpoint: 'ep_1' })
  t.strictSame([lines.length, dropped], [2000, 500])
  await records.close()
})
