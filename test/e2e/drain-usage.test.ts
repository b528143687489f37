import t, { type Test } from 'tap'
import { randomInt } from 'node:crypto'
import { Agent } from 'node:http'
import { createAccess } from '../support/accounts.ts'
import { bodyOf, clientCall, total } from '../support/client-ledger.ts'
import { allCapabilities } from '../support/config-files.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { LoadedAccess, mixedMethods } from '../support/ledger-load.ts'
import type { LedgerSocket } from '../support/ledger-socket.ts'
import { meteredByMethod } from '../support/metered.ts'
import { echo, hang, held, html } from '../support/node-replies.ts'
import { Random } from '../support/random.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'

const node = await startSocketNode(t, { chainId: 1001 })
node.on('test_sick', html)
const start = (drain: string) =>
  startGateway(t, {
    networks: { alpha: { chainId: 1001 } },
    routes: [
      { id: 'alpha-a', network: 'alpha', http: node.url, ws: node.wsUrl, capabilities: allCapabilities },
    ],
    methods: mixedMethods,
    gateway: { timeouts: { drain, drainIdle: '500ms' } },
  })
const failing = [
  ['test_sick', []],
  ['web3_sha3', ['0x00']],
] as const
const random = new Random(randomInt(2 ** 32))

/** What the next life says is exactly what the client was told in this one. */
async function agrees(t: Test, { access, ledger }: LoadedAccess): Promise<void> {
  const metered = await meteredByMethod(access)
  const told = new Map([...ledger.told].filter(([, { calls }]) => calls > 0))
  t.strictSame(sorted(metered), sorted(told), 'what was answered is metered, and nothing else')
  t.strictSame(await access.usage(), total(told))
}
const sorted = (uses: ReadonlyMap<string, unknown>) =>
  Object.fromEntries([...uses].sort(([a], [b]) => a.localeCompare(b)))

t.test('SIGTERM under load: metered is what was answered, to the unit', async t => {
  t.comment(`seed ${random.seed}`)
  const gateway = await start('60s')
  const accounts = [
    new LoadedAccess(await createAccess(gateway, 'paid', 'alpha'), random),
    new LoadedAccess(await createAccess(gateway, 'paid', 'alpha'), random, { methods: failing }),
  ]
  for (let life = 1; life <= 3; life++) {
    const agent = new Agent({ keepAlive: true })
    const heard = () => accounts.reduce((sum, { ledger }) => sum + ledger.heard, 0)
    const enough = heard() + 200 + random.below(300)
    let over = false
    const goesOn = () => {
      if (!over && heard() >= enough) {
        over = true
        gateway.signal('SIGTERM')
      }
      return true
    }
    const open: LedgerSocket[] = []
    for (const account of accounts) for (let i = 0; i < 2; i++) open.push(await account.subscribed())
    const work = accounts.flatMap((account, index) => [
      ...Array.from({ length: 8 }, async () => {
        while (goesOn() && (await account.post(account.message(), agent)));
      }),
      ...open.slice(2 * index, 2 * index + 2).map(async socket => {
        while (goesOn() && (await socket.send([account.call(), account.call()])));
      }),
    ])
    // Heads go on while the sockets are told goodbye.
    let told = 0
    while (node.sockets > 0) {
      node.push('eth_subscribe', `{"number":"0x${(++told).toString(16)}"}`)
      await new Promise(resolve => setTimeout(resolve, 1))
    }
    await Promise.all(work)
    t.strictSame(await gateway.exited, { code: 0, signal: null })
    await Promise.all(open.map(({ closed }) => closed))
    agent.destroy()
    await gateway.start()
    for (const account of accounts) await agrees(t, account)
    t.ok(accounts[0]!.ledger.told.get('eth_subscription')!.calls > 0)
    t.strictSame([...accounts[0]!.ledger.refusals], [], 'every call was served')
    t.strictSame([...accounts[1]!.ledger.refusals.keys()], ['upstream_error'])
  }
})

t.test(
  'what gets a 503 at the end of the drain is not metered; what was answered beside it in a batch is',
  async t => {
    const gateway = await start('300ms')
    const gate = new Gate()
    node.on('trace_transaction', hang).on('debug_traceBlockByNumber', held(gate, echo))
    const account = new LoadedAccess(await createAccess(gateway, 'paid', 'alpha'), random)
    const agent = new Agent({ keepAlive: true })
    const hash = `0x${'ab'.repeat(32)}`
    const single = [clientCall('debug_traceBlockByNumber', ['latest'])]
    const batch = [
      clientCall('eth_getBlockReceipts', ['latest']),
      clientCall('trace_transaction', [hash]),
      clientCall('eth_chainId', []),
    ]
    const socket = await account.subscribed()
    const onSocket = [clientCall('trace_transaction', [hash]), clientCall('web3_sha3', ['0x00'])]
    const before = { traced: node.count('trace_transaction'), block: node.count('debug_traceBlockByNumber') }
    const replies = [single, batch].map(async calls => {
      const reply = await account.access.post(bodyOf(calls), { agent })
      account.ledger.reply(calls, reply.text)
      return reply
    })
    const overSocket = socket.send(onSocket)
    await node.arrived('trace_transaction', before.traced + 2)
    await node.arrived('debug_traceBlockByNumber', before.block + 1)
    gateway.signal('SIGTERM')
    const [one, many] = await Promise.all(replies)
    gate.open()
    t.equal(one!.status, 503)
    t.match(JSON.parse(one!.text), { id: single[0]!.id, error: { data: { reason: 'no_route' } } })
    t.equal(many!.status, 200)
    t.match(JSON.parse(many!.text), [
      { id: batch[0]!.id, result: 'ok' },
      { id: batch[1]!.id, error: { message: 'The gateway is shutting down', data: { reason: 'no_route' } } },
      { id: batch[2]!.id, result: '0x3e9' },
    ])
    t.ok(await overSocket, 'a socket is told too')
    await socket.closed
    t.strictSame(await gateway.exited, { code: 0, signal: null })
    agent.destroy()
    await gateway.start()
    t.equal(account.ledger.refusals.get('no_route'), 3)
    await agrees(t, account)
  },
)
