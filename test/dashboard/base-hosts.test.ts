/** On which hosts the dashboard is: those of the base URL, localhost and the addresses listened on, and none else. */
import t from 'tap'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'
import { createOwner } from './support/owner.ts'
import { Visitor } from './support/visitor.ts'

const node = await startNode(t, { chainId: 1001 })
const config = {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  methods: fewMethods,
}

const forms: [what: string, baseUrl: string, hosts: string[], others: string[]][] = [
  [
    'hosts',
    'http://{subdomain}.example.test',
    ['example.test'],
    ['alpha-rpc.example.test', 'www.example.test'],
  ],
  ['paths', 'http://127.0.0.1:8080/{slug}', [], ['example.test']],
  ['paths under a name', 'https://rpc.example.test/{slug}', ['rpc.example.test'], ['example.test']],
  [
    'hosts of another pattern',
    'http://x-{subdomain}.example.test',
    [],
    ['example.test', 'x-alpha-rpc.example.test'],
  ],
]
for (const [what, baseUrl, hosts, others] of forms)
  t.test(`networks told apart by ${what}`, async t => {
    const gateway = await startGateway(t, { ...config, baseUrl })
    const { token } = await createOwner(gateway, 'alpha')
    for (const host of [...hosts, 'localhost', '127.0.0.1', '[::1]', 'LOCALHOST.']) {
      const own = `${host}:${gateway.port}`
      // As a browser without Sec-Fetch-Site: the Origin must be the page's own.
      const by = new Visitor(gateway, { host: own, origin: `http://${own}` })
      const plain = { headers: { 'sec-fetch-site': undefined } }
      const page = await by.send('GET', '/', plain)
      t.match(page, { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } }, host)
      const [asset = ''] = /\/assets\/[^"]+\.js/.exec(page.text) ?? []
      t.equal((await by.send('GET', asset, plain)).status, 200, `${host}: its program`)
      const opened = await by.send('POST', '/api/session', {
        ...plain,
        body: JSON.stringify({ secret: token }),
      })
      t.equal(opened.status, 200, `${host}: signing in`)
      t.match(opened.headers['set-cookie'], [/^tollgate=\S+; Path=\/; HttpOnly; SameSite=Strict$/])
      t.equal((await by.call('service_account')).result.plan, 'paid', `${host}: a call with the session`)
      const foreign = { ...plain.headers, origin: 'http://evil.example' }
      t.equal(
        (await by.ask('service_account', {}, { headers: foreign })).status,
        403,
        `${host}: another origin`,
      )
    }
    for (const host of [...others, 'evil.example', '192.0.2.1', '127.0.0.1.evil.example'])
      t.match(
        await new Visitor(gateway, { host }).send('GET', '/'),
        { status: 404, text: /"reason":"not_found"/ },
        `${host} has none`,
      )
  })
