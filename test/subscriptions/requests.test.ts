import { mock } from 'node:test'
import t from 'tap'
import { Requests } from '../../src/subscriptions/socket/requests.ts'
import type { Reply } from '../../src/jsonrpc/message.ts'

const reply = (result: string): Reply => ({ kind: 'result', result })

/** Requests, and what was heard of them. */
function scene() {
  const requests = new Requests()
  const heard: string[] = []
  const hear = (name: string) => (got: Reply | null) =>
    heard.push(`${name} ${got === null ? 'nothing' : got.kind === 'result' ? got.result : got.error}`)
  return { requests, hear, heard }
}

t.beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout'] })
})
t.afterEach(() => {
  mock.timers.reset()
})

t.test('each reply goes to its request, once, in whatever order they come', t => {
  const { requests, hear, heard } = scene()
  const [a, b] = [requests.begin(hear('a'), hear('late a')), requests.begin(hear('b'), hear('late b'))]
  t.ok(b > a)
  t.strictSame([requests.settle(b, reply('2')), requests.settle(b, reply('3'))], [true, false])
  t.strictSame(
    [requests.settle(a, null), requests.settle(a, null), requests.settle(99, reply('4'))],
    [true, false, false],
  )
  t.strictSame([heard, requests.size, requests.has(a)], [['b 2', 'a nothing'], 0, false])
  mock.timers.tick(20_000)
  t.strictSame([requests.settle(b, reply('5')), heard.length], [false, 2], 'what was answered is never late')
  t.end()
})

t.test('after ten seconds there is no reply, and a late one goes to who undoes it', t => {
  const { requests, hear, heard } = scene()
  const a = requests.begin(hear('a'), hear('late a'))
  const b = requests.begin(hear('b'))
  mock.timers.tick(9_999)
  t.strictSame([heard.length, requests.size], [0, 2])
  mock.timers.tick(1)
  t.strictSame([heard.splice(0), requests.size, requests.has(a)], [['a nothing', 'b nothing'], 0, false])
  t.strictSame([requests.settle(a, null), requests.settle(b, reply('1'))], [false, false])
  t.strictSame([requests.settle(a, reply('1')), requests.settle(a, reply('1'))], [true, false])
  t.strictSame(heard, ['late a 1'])
  t.end()
})

t.test('with the socket all end without a reply, and nothing is late any more', t => {
  const { requests, hear, heard } = scene()
  const late = requests.begin(hear('a'), hear('late a'))
  mock.timers.tick(10_000)
  const open = requests.begin(got => {
    hear('b')(got)
    requests.settleAll()
  })
  requests.begin(hear('c'))
  requests.settleAll()
  t.strictSame(heard, ['a nothing', 'b nothing', 'c nothing'])
  t.strictSame(
    [requests.settle(late, reply('1')), requests.settle(open, reply('1')), requests.size],
    [false, false, 0],
  )
  t.end()
})

t.test('ten thousand late replies are waited for, not more', t => {
  const { requests, hear, heard } = scene()
  const quiet = (): void => undefined
  const ids = Array.from({ length: 10_001 }, () => requests.begin(quiet, hear('late')))
  mock.timers.tick(10_000)
  t.strictSame(
    [requests.settle(ids[9_999]!, reply('1')), requests.settle(ids[10_000]!, reply('1'))],
    [true, false],
  )
  t.equal(heard.length, 1)
  t.end()
})
