import t from 'tap'
import { message } from '../support/access.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'

/** Seen: request ids counted up, so two of one's own told how many calls of others came between them. */

t.test('request ids are random and never equal', async t => {
  const node = await startNode(t, { chainId: 1001 })
  const gateway = await startGateway(t, {
    networks: { alpha: { chainId: 1001, public: true } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
    methods: fewMethods,
  })
  const ids: string[] = []
  for (let i = 0; i < 40; i++) {
    const { headers } = await gateway.send({ path: '/alpha/v1/rpc/public', body: message('eth_chainId') })
    ids.push(String(headers['x-request-id']))
  }
  for (let round = 0; round < 12; round++) {
    const replies = await Promise.all(
      Array.from({ length: 100 }, () => gateway.send({ path: '/nowhere', method: 'GET' })),
    )
    ids.push(...replies.map(({ headers }) => String(headers['x-request-id'])))
  }
  t.equal(new Set(ids).size, ids.length, 'all differ')
  for (const id of ids.slice(0, 40)) t.match(id, /^[A-Za-z0-9_-]{16}$/)
  // Each character of ids in a row is drawn anew: none stays the same for long, as a name of the start or a counter would.
  for (let place = 0; place < 16; place++) {
    const seen = new Set(ids.slice(0, 40).map(id => id[place]))
    t.ok(seen.size > 8, `${seen.size} characters at place ${place}`)
  }
})
