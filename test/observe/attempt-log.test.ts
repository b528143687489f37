import { mock } from 'node:test'
import t from 'tap'
import { AttemptLog } from '../../src/observe/attempt-log.ts'
import type { Logger } from '../../src/observe/log.ts'
import { Metrics } from '../../src/observe/metrics.ts'
import { makeObserver } from '../../src/observe/observer.ts'

interface Line {
  readonly level: string
  readonly msg: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** An observer as `serve` makes it, and the lines it writes. */
const whose = { requestId: 'r', account: 'acc_1', endpoint: 'ep_1' }

function open() {
  const lines: Line[] = []
  const write = (level: string) => (fields: Line['fields'], msg: string) => {
    lines.push({ level, msg, fields })
  }
  const log = { warn: write('warn'), debug: write('debug'), isLevelEnabled: () => true } as unknown as Logger
  const attempts = new AttemptLog(log)
  const metrics = new Metrics()
  const nothing = (): void => undefined
  const records = { call: nothing, attempt: nothing, refused: nothing }
  const observer = makeObserver(metrics, log, attempts, records)
  const fail = (times: number, route = 'a', result = 'reset') => {
    for (let n = 0; n < times; n++)
      observer.attempt({ ...whose, network: 'eth', route, method: 'eth_call', result, ms: 1 })
  }
  const more = (route: string, result: string, count: number): Line => ({
    level: 'warn',
    msg: 'more attempts failed',
    fields: { network: 'eth', route, result, count },
  })
  return { lines, attempts, metrics, fail, more }
}

t.beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout'] })
})
t.afterEach(() => {
  mock.timers.reset()
})

t.test('a flood of failures is five lines in ten seconds, and one with the number of the others', async t => {
  const { lines, fail, more, metrics } = open()
  fail(1_000)
  t.equal(lines.length, 5)
  t.match(lines[0], { level: 'warn', msg: 'attempt failed', fields: { route: 'a', result: 'reset', ms: 1 } })
  mock.timers.tick(9_999)
  t.equal(lines.length, 5)
  mock.timers.tick(1)
  t.strictSame(lines.slice(5), [more('a', 'reset', 995)])
  fail(7)
  mock.timers.tick(10_000)
  t.equal(lines.length, 5 + 1 + 5 + 1)
  t.strictSame(lines.at(-1), more('a', 'reset', 2))
  const text = (await metrics.text()).toString()
  t.match(text, 'tollgate_attempts_total{network="eth",route="a",result="reset"} 1007\n')
})

t.test('each route and reason has lines of its own, and few failures no further one', t => {
  const { lines, fail } = open()
  fail(5, 'a', 'no_turn')
  fail(5, 'a', 'timeout')
  fail(5, 'b', 'timeout')
  mock.timers.tick(60_000)
  t.equal(lines.length, 15)
  t.ok(lines.every(({ msg }) => msg === 'attempt failed'))
  t.end()
})

t.test('a node that goes through all statuses makes no more lines', t => {
  const { lines, fail, more } = open()
  for (let status = 500; status < 600; status++) fail(1, 'a', `http_${status}`)
  mock.timers.tick(10_000)
  t.equal(lines.length, 6)
  t.strictSame(lines.at(-1), more('a', 'http_5xx', 95))
  t.end()
})

t.test('what has not been said is said at the end', t => {
  const { lines, fail, attempts, more } = open()
  fail(8)
  fail(2, 'b')
  attempts.close()
  t.strictSame(lines.slice(7), [more('a', 'reset', 3)])
  mock.timers.tick(60_000)
  t.equal(lines.length, 8)
  t.end()
})

t.test('what clients cause is no warning', t => {
  const { lines, fail } = open()
  for (const result of ['missing', 'unsupported', 'too_wide', 'behind', 'aborted']) fail(10, 'a', result)
  t.equal(lines.length, 50)
  t.ok(lines.every(({ level }) => level === 'debug'))
  t.end()
})
