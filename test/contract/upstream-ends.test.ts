import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'

/** Seen: the process ended by an assertion of undici's when a connection ended amid long replies of which several are read in turn. */
const someone = `0x${'1'.repeat(40)}`
const ROUNDS = Number(process.env['ROUNDS'] ?? 2)
const value = `0x${'a'.repeat(2 ** 20)}`

const node = await startNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  methods: `${fewMethods}    eth_getCode: { params: [1, 2] }\n`,
})
const access = await createAccess(gateway, 'paid', 'alpha')

for (const [name, head, sent] of [
  ['a reply whose end is that of its connection', '', Infinity],
  [
    'a last reply that is cut short',
    `Connection: close\r\nContent-Length: ${value.length + 50}\r\n`,
    900_000,
  ],
] as const)
  t.test(`${name}, 60 at a time`, async t => {
    node.on('eth_getCode', ({ id }, response) => {
      const body = `{"jsonrpc":"2.0","id":${id},"result":"${value}"}`.slice(0, sent)
      response.socket!.end(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${head}\r\n${body}`)
    })
    for (let round = 0; round < ROUNDS; round += 1) {
      const calls = Array.from({ length: 60 }, async () => {
        try {
          const { result } = await access.call('eth_getCode', [someone, 'latest'])
          return result === value
        } catch {
          // The cut is passed on: the head of the reply was on its way.
          return 'cut'
        }
      })
      const expected = sent === Infinity ? true : 'cut'
      const wrong = (await Promise.all(calls)).filter(each => each !== expected)
      t.same(wrong, [], `round ${round}`)
    }
    node.on('eth_getCode', ({ id }, response) => {
      response.end(`{"jsonrpc":"2.0","id":${id},"result":"0x"}`)
    })
    t.equal((await access.call('eth_getCode', [someone, 'latest'])).result, '0x')
    t.notMatch(gateway.printed, 'internal error')
  })
