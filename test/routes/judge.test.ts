import t from 'tap'
import { judgeHead } from '../../src/routes/transport/proxy/judge.ts'
import type { ExchangeFailure, ReplyHead } from '../../src/routes/transport/proxy/proxied-request.ts'

/** What a head means: that it passes, or why it is a failure and what follows from that. */
function judged(status: number, retryAfter?: string): string {
  const head = {
    kind: 'head',
    status,
    reply: { headers: { 'retry-after': retryAfter } },
  } as unknown as ReplyHead
  return worded(judgeHead(head))
}
function broken(how: ExchangeFailure['how'], sent: boolean): string {
  return worded(judgeHead({ kind: 'failure', how, sent }))
}
function worded(judgement: ReturnType<typeof judgeHead>): string {
  if (judgement.kind === 'head') return 'passes'
  const { why, refusal, fault, sent, detour, complaint } = judgement
  const facts = { fault, sent, detour, [complaint?.about ?? '']: complaint !== null }
  const marks = Object.entries(facts).flatMap(([name, is]) => (is ? [name] : []))
  return [why, refusal.reason, ...marks].join(' ')
}

t.test('the status alone decides whether a reply passes', t => {
  const passing = [200, 204, 206, 304, 400, 404, 405, 406, 409, 410, 412, 415, 416, 422, 499]
  t.strictSame(
    passing.filter(status => judged(status) !== 'passes'),
    [],
  )
  const faults = [100, 103, 300, 301, 302, 303, 305, 307, 308, 399, 408, 500, 502, 503, 504, 599]
  t.strictSame(
    faults.map(status => judged(status)),
    faults.map(status => `http_${status} upstream_error fault sent`),
  )
  t.end()
})

t.test("the operator's key and plan are no business of the client, and no fault of the route", t => {
  t.strictSame(
    [401, 402, 403].map(status => judged(status)),
    [401, 402, 403].map(status => `http_${status} no_route sent billing`),
  )
  t.equal(judged(429), 'limited no_route sent limited')
  const head = {
    kind: 'head',
    status: 429,
    reply: { headers: { 'retry-after': '7' } },
  } as unknown as ReplyHead
  t.match(judgeHead(head), { complaint: { asked: 7_000, from: 'status' } })
  t.end()
})

t.test('another route may have what this one never had', t => {
  t.equal(judged(501), 'unsupported upstream_error sent detour')
  t.end()
})

t.test('an exchange without a head says whether the upstream may have seen the request', t => {
  t.strictSame(
    (['unreachable', 'reset', 'timeout', 'garbage', 'aborted', 'body_too_large'] as const).map(how =>
      broken(how, how !== 'unreachable'),
    ),
    [
      'unreachable no_route fault',
      'reset upstream_error fault sent',
      'timeout upstream_timeout fault sent',
      'bad_reply upstream_error fault sent',
      'aborted upstream_error sent',
      'body_too_large body_too_large sent',
    ],
  )
  t.equal(broken('aborted', false), 'aborted upstream_error')
  t.end()
})
