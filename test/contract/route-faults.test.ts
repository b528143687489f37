/** Why a route is down: `/status`, the log and `explain` have the cause beside the word. */
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { createAccesses } from '../support/accesses.ts'
import { run } from '../support/cli.ts'
import { fewMethods } from '../support/few-methods.ts'
import { freePort } from '../support/free-port.ts'
import { startGateway } from '../support/gateway.ts'
import { LogReader } from '../support/log-lines.ts'
import { routesOf } from '../support/route-status.ts'
import { certificates } from '../support/tls.ts'
import { until } from '../support/until.ts'

const missing: RequestListener = (_, response) => {
  response.writeHead(404, { 'content-type': 'Text/HTML; charset=utf-8' }).end('<p>no such page')
}
async function portOf(server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}
const refusing = await freePort()
const page = await portOf(createServer(missing))
const secure = await portOf(createTlsServer(certificates.first, missing))

/** The URL of each network's route, and what is reported of it. */
const faults: Readonly<Record<string, readonly [url: string, lastError: string | RegExp]>> = {
  refused: [`http://127.0.0.1:${refusing}`, 'unreachable: ECONNREFUSED'],
  unknown: ['http://node.invalid', /^unreachable: (ENOTFOUND|EAI_AGAIN)$/],
  untrusted: [
    `https://127.0.0.1:${secure}`,
    /^unreachable: certificate not trusted: (DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE)$/,
  ],
  page: [`http://127.0.0.1:${page}`, 'bad_reply: HTTP 404, text/html'],
  plainapi: [`http://127.0.0.1:${refusing}`, 'unreachable: ECONNREFUSED'],
  secureapi: [
    `https://127.0.0.1:${secure}`,
    /^unreachable: certificate not trusted: (DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE)$/,
  ],
}
const isApi = (slug: string) => slug.endsWith('api')
const gateway = await startGateway(t, {
  networks: Object.fromEntries(
    Object.keys(faults).map(slug => [
      slug,
      isApi(slug) ? { family: 'http' as const, chainId: 'x' } : { chainId: 1001 },
    ]),
  ),
  routes: Object.entries(faults).map(([network, [http]]) => ({
    id: `${network}-a`,
    network,
    http,
  })),
  methods: `${fewMethods}  http:
    "GET /plain/*": {}
`,
  gateway: { log: { level: 'info' } },
})
const log = new LogReader(gateway)
const accesses = await createAccesses(gateway, 'paid', Object.keys(faults))

for (const [slug, [, expected]] of Object.entries(faults))
  t.test(slug, async t => {
    const called = async () => {
      if (isApi(slug)) await gateway.send({ method: 'GET', path: `${accesses.in(slug).path}/plain/a` })
      const route = (await routesOf(gateway)).find(({ id }) => id === `${slug}-a`)
      return route?.lastError
    }
    const lastError = await until('it has failed', called)
    t.match(lastError, expected)
    const { stdout } = await run([
      'explain',
      slug,
      isApi(slug) ? 'GET /plain/a' : 'web3_sha3',
      '--config',
      gateway.dir,
    ])
    t.match(stdout, lastError)
    if (!isApi(slug))
      t.ok(
        log.all().some(line => JSON.stringify(line).includes(lastError)),
        'the log has it',
      )
  })
