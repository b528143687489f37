/** From a request id in a mail to what became of the call; the access log; `tollgate trace`. */
import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { Access } from '../support/access.ts'
import { createAccess, withAccounts } from '../support/accounts.ts'
import { Child, cleanEnvironment } from '../support/child.ts'
import { run } from '../support/cli.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import type { Gateway } from '../support/gateway.ts'
import { mainFile, nodeFile } from '../support/paths.ts'
import { error } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'

/** A line, as far as it is looked at. */
type Line = Readonly<
  Record<
    'requestId' | 'msg' | 'endpoint' | 'reason' | 'method' | 'route' | 'result' | 'status' | 'address',
    unknown
  >
>

/** Endpoints of each of ten accounts. */
const EACH = Number(process.env['EACH'] ?? 100)

const node = await startNode(t, { chainId: 1001 })
node.on('web3_sha3', error('{"code":-32000,"message":"no"}'))

function startWith(access: object, workers: number): Promise<Gateway> {
  return startGateway(t, {
    networks: { alpha: { chainId: 1001 }, beta: { chainId: 1002 } },
    routes: [
      { id: 'alpha-a', network: 'alpha', http: node.url },
      { id: 'beta-a', network: 'beta', http: 'http://127.0.0.1:1' },
    ],
    methods: fewMethods,
    gateway: { workers, log: { access } },
  })
}

const linesIn = async (file: string): Promise<Line[]> =>
  (await readFile(file, 'utf8'))
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Line)

for (const workers of [1, 2])
  t.test(
    `workers ${workers}: a request id leads to account, endpoint, method, route, reason and milliseconds`,
    async t => {
      const gateway = await startWith(
        { to: 'access.log', address: 'full', filter: { status: ['4xx', '5xx'], slower: '1h' } },
        workers,
      )
      const access = await createAccess(gateway, 'paid', 'alpha')
      const other = await createAccess(gateway, 'paid', 'beta')
      const find = async (what: string) => {
        const { code, stdout, stderr } = await run(['find', what, '--config', gateway.dir, '--json'])
        return { code, stderr, found: code === 0 ? JSON.parse(stdout) : null }
      }

      const failing = (await other.call('eth_gasPrice')).error.data
      const lookup = await find(failing.requestId)
      t.match(lookup.found, {
        account: { accountId: other.accountId },
        endpoint: { endpointId: other.endpointId, network: 'beta' },
        calls: [
          {
            msg: 'call',
            requestId: failing.requestId,
            method: 'eth_gasPrice',
            network: 'beta',
            status: 503,
            reason: failing.reason,
            outcome: 'refused',
            transport: 'http',
            requests: 0,
          },
        ],
      })
      t.type(lookup.found.calls[0].ms, 'number')

      const unwell = await access.post(
        JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'web3_sha3', params: ['0x'] }),
      )
      t.match((await find(String(unwell.headers['x-request-id']))).found, {
        endpoint: { endpointId: access.endpointId },
        calls: [{ route: 'alpha-a', outcome: 'error', status: 200, reason: null, requests: 1 }],
      })
      const wrong = (await access.on('beta').call('eth_gasPrice')).error.data
      t.match((await find(wrong.requestId)).found.calls, [
        { msg: 'refusal', status: 403, reason: 'wrong_network' },
      ])

      const fine = await access.post(
        JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_gasPrice', params: [] }),
      )
      const unknown = await find(String(fine.headers['x-request-id']))
      t.match(unknown, { code: 1, stderr: /no call with this request id is known.*log\.access/s })
      t.match(
        (await run(['find', failing.requestId, '--config', gateway.dir])).stdout,
        [new RegExp(`^account   ${other.accountId} \\(.*\\)\\nendpoint  ${other.endpointId} `)][0],
      )

      // The access log has what its filter names, from whichever process, and is read without a gateway, too.
      const file = join(gateway.dir, 'access.log')
      await until('all lines are written', async () => (await linesIn(file)).length >= 2)
      await rename(file, `${file}.1`)
      gateway.signal('SIGUSR1')
      const again = (await other.call('eth_gasPrice')).error.data
      await until('the log was opened again', async () => {
        await other.call('eth_gasPrice')
        return (await linesIn(file).catch(() => [])).length > 0
      })
      t.strictSame(
        (await linesIn(`${file}.1`)).slice(0, 2).map(({ msg, reason, address }) => [msg, reason, address]),
        [
          ['call', failing.reason, '127.0.0.1'],
          ['refusal', 'wrong_network', '127.0.0.1'],
        ],
      )
      await gateway.stop()
      for (const { requestId } of [failing, wrong, again])
        t.match((await find(requestId)).found, { calls: [{ requestId }] })
      t.equal((await find(String(unwell.headers['x-request-id']))).code, 1)
      t.notOk(/"msg":"(call|refusal)"/.test(gateway.printed), 'none of it went to standard output')
    },
  )

for (const workers of [1, 2])
  t.test(
    `workers ${workers}: a trace prints one endpoint among a thousand, and nothing goes into the log`,
    async t => {
      const gateway = await startWith({ to: 'stdout', filter: { status: [599] } }, workers)
      const accesses: Access[] = []
      for (let n = 0; n < 10; n += 1) accesses.push(await createAccess(gateway, 'paid', 'alpha'))
      await withAccounts(gateway, async store => {
        for (const { accountId } of [...accesses])
          for (let n = 1; n < EACH; n += 1) {
            const made = await store.endpoints.create({ accountId, network: 'alpha' })
            if (typeof made === 'string') throw new Error(made)
            accesses.push(new Access(gateway, 'alpha', made.apiKey, made.id, accountId))
          }
      })
      t.equal(accesses.length, 10 * EACH)
      const traced = accesses[accesses.length / 2]!
      const child = new Child(
        nodeFile,
        [mainFile, 'trace', traced.key, '--for', '1m', '--config', gateway.dir, '--json'],
        cleanEnvironment({}),
      )
      const seen = () =>
        child.stdout
          .split('\n')
          .filter(line => line !== '')
          .map(line => JSON.parse(line) as Line)
      await until('the trace is on', async () => {
        await traced.call('eth_chainId')
        return seen().length > 0
      })
      const before = gateway.printed.length
      const marker = (await traced.call('eth_nothing')).error.data.requestId as string
      await until('the trace has come so far', () =>
        Promise.resolve(seen().some(({ requestId }) => requestId === marker)),
      )
      const start = seen().length
      for (let at = 0; at < accesses.length; at += 50)
        await Promise.all(accesses.slice(at, at + 50).map(access => access.call('eth_gasPrice')))
      await traced.on('beta').call('eth_gasPrice')
      await until('all of it is printed', () => Promise.resolve(seen().some(({ msg }) => msg === 'refusal')))
      t.ok(
        seen().every(({ endpoint }) => endpoint === traced.endpointId),
        'nobody else is in it',
      )
      t.strictSame(
        seen()
          .slice(start)
          .map(({ msg, method, route, result, status, reason }) => ({
            msg,
            method,
            route,
            result,
            status,
            reason,
          })),
        [
          {
            msg: 'attempt',
            method: 'eth_gasPrice',
            route: 'alpha-a',
            result: 'ok',
            status: undefined,
            reason: undefined,
          },
          {
            msg: 'call',
            method: 'eth_gasPrice',
            route: 'alpha-a',
            result: undefined,
            status: 200,
            reason: null,
          },
          {
            msg: 'refusal',
            method: null,
            route: null,
            result: undefined,
            status: 403,
            reason: 'wrong_network',
          },
        ],
      )
      t.notOk(
        /"msg":"(attempt|call|refusal)"/.test(gateway.printed.slice(before)),
        'the log has nothing of it',
      )
      t.notOk(
        child.stdout.includes(traced.key) || child.stderr.includes(traced.key),
        'the key is not printed',
      )
      child.signal('SIGINT')
      t.equal((await child.exited).code, 0)

      const short = await run(['trace', traced.accountId, '--for', '1s', '--config', gateway.dir])
      t.match(short, { code: 0, stderr: /tracing account acc_/ })
      t.match(await run(['trace', 'ep_none', '--config', gateway.dir]), {
        code: 1,
        stderr: /no such endpoint/,
      })
      await gateway.stop()
      t.match(await run(['trace', traced.endpointId, '--config', gateway.dir]), {
        code: 1,
        stderr: /no gateway runs/,
      })
    },
  )
