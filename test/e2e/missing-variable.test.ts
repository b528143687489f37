/** Commands in a shell that lacks a variable of the YAML: limits are those of the running gateway, or unknown; never "none". */
import t from 'tap'
import { createAccount, run } from '../support/cli.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { get } from '../support/http.ts'
import { startNode } from '../support/scripted-node.ts'

const node = await startNode(t, { chainId: 1001 })
const env = { TOLLGATE_X: node.url, TOLLGATE_SAME: 'A' }
const gateway = await startGateway(
  t,
  {
    networks: { alpha: { chainId: 1001 } },
    routes: [
      {
        id: 'alpha-a',
        network: 'alpha',
        http: '${TOLLGATE_X}',
        headers: { 'x-name': '${TOLLGATE_SAME:-A}' },
      },
    ],
    methods: fewMethods,
    plans: {
      counted: {
        tiers: ['any'],
        rate: { perSecond: 7, burst: 14 },
        quota: { requests: 1_000, every: '30d' },
      },
    },
  },
  { env },
)
const { dir } = gateway
const { accountId, endpoint } = await createAccount(dir, 'counted', 'alpha')
const { endpointId, apiKey: key } = endpoint
const withoutIt = (...args: string[]) => run([...args, '--config', dir])
const json = async (...args: string[]): Promise<Record<string, unknown>> =>
  JSON.parse((await withoutIt(...args, '--json')).stdout) as Record<string, unknown>

const SHOW = ['account', 'show', accountId]
const EXPLAIN = ['explain', 'alpha', 'web3_sha3', '--endpoint', endpointId]
const WINDOWS = ['usage', '--period', 'quota']
const LIMITS =
  /^quota {5}0 of 1000 request units used, resets .+\nrate {6}7 request units per second, bursts of 14$/m

await run(['explain', 'alpha', 'web3_sha3', '--config', dir], env)

t.test('the running gateway is asked', async t => {
  for (const args of [SHOW, EXPLAIN]) {
    const { code, stdout, stderr } = await withoutIt(...args)
    t.equal(code, 0, args.join(' '))
    t.match(stdout, LIMITS)
    t.match(stderr, 'tollgate: warning: TOLLGATE_X is not set; the running gateway says what is served\n')
    t.notMatch(stderr, 'errors')
  }
  t.match(await json(...SHOW), { rate: { perSecond: 7, burst: 14 }, quota: { requests: 1_000, used: 0 } })
})

t.test('explain names the variables that differ, and no others', async t => {
  const lacking = await withoutIt('explain', 'alpha', 'web3_sha3')
  t.match(lacking.stdout, /differs from the gateway's in a variable of these files: TOLLGATE_X$/m)
  const other = await run(['explain', 'alpha', 'web3_sha3', '--config', dir], {
    TOLLGATE_X: 'http://127.0.0.1:9',
    TOLLGATE_SAME: 'A',
  })
  t.match(other.stdout, /differs from the gateway's in a variable of these files: TOLLGATE_X$/m)
})

t.test('bug: the admin listener told the defaults of variables, which may be secrets', async t => {
  const { status, text } = await get(`${gateway.adminUrl}/on-disk`)
  t.equal(status, 200)
  t.notMatch(text, 'TOLLGATE_SAME')
  t.notMatch(text, ':-')
})

t.test('whoever is refused every call is refused by explain', async t => {
  for (const [change, undo, reason] of [
    [['account', 'suspend', accountId], ['account', 'resume', accountId], 'account_suspended'],
    [['endpoint', 'deactivate', endpointId], ['endpoint', 'activate', endpointId], 'endpoint_inactive'],
  ] as const) {
    await run([...change, '--config', dir], env)
    for (const caller of [
      ['--endpoint', endpointId],
      ['--key', key],
    ]) {
      const args = ['explain', 'alpha', 'web3_sha3', ...caller]
      const { code, stdout } = await run([...args, '--config', dir], env)
      t.equal(code, 1, `${reason} ${caller[0]}`)
      t.match(stdout, `is refused with ${reason}: `)
      t.notMatch(stdout, 'is sent to')
      const shown = await json(...args)
      t.match(shown, { outcome: 'refuse', reason, message: String, caller: { refusal: reason } })
    }
    await run([...undo, '--config', dir], env)
  }
})

t.test('without a gateway a limit is unknown', async t => {
  await gateway.stop()
  const { code, stdout } = await withoutIt(...SHOW)
  t.equal(code, 0)
  t.match(stdout, /^quota {5}unknown: TOLLGATE_X is not set\nrate {6}unknown: TOLLGATE_X is not set$/m)
  const { limitsUnknown, ...shown } = await json(...SHOW)
  t.equal(limitsUnknown, 'TOLLGATE_X is not set')
  t.notOk('quota' in shown || 'rate' in shown, 'neither is reported as absent')
  t.match(await run([...SHOW, '--config', dir], env), { code: 0, stdout: LIMITS })
  const windows = await withoutIt(...WINDOWS)
  t.strictSame([windows.code, windows.stdout], [1, ''])
  t.match(windows.stderr, 'quotas are unknown: TOLLGATE_X is not set\n')
})
