import t from 'tap'
import { randomInt } from 'node:crypto'
import { Agent } from 'node:http'
import { createAccess } from '../support/accounts.ts'
import { total } from '../support/client-ledger.ts'
import { allCapabilities } from '../support/config-files.ts'
import { startGateway } from '../support/gateway.ts'
import { LoadedAccess, mixedCalls, mixedMethods } from '../support/ledger-load.ts'
import type { LedgerSocket } from '../support/ledger-socket.ts'
import { meteredByMethod, timedByMethod } from '../support/metered.ts'
import { error, html } from '../support/node-replies.ts'
import { Random } from '../support/random.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'

/** `KILLS=100` for a long run. */
const rounds = Number(process.env['KILLS'] ?? 6)
/** Clients of each kind and account that send one message after the other. */
const posting = 8
const sockets = 2

const node = await startSocketNode(t, { chainId: 1001 })
let answered = 0
node.on('test_sick', html).on('test_sometimes', (...call) => {
  const handler = ++answered % 2 === 0 ? html : error('{"code":-32000,"message":"execution reverted"}')
  return handler(...call)
})
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [
    { id: 'alpha-a', network: 'alpha', http: node.url, ws: node.wsUrl, capabilities: allCapabilities },
  ],
  methods: mixedMethods,
  gateway: { cache: {} },
})
const random = new Random(randomInt(2 ** 32))
const failing = [...mixedCalls.slice(0, 2), ['test_sick', []], ['test_sometimes', []]] as const
const accounts = [
  new LoadedAccess(await createAccess(gateway, 'paid', 'alpha'), random),
  new LoadedAccess(await createAccess(gateway, 'paid', 'alpha'), random, { methods: failing }),
]

/** Sends as fast as answers come until the gateway is killed, which is when it has answered so many calls. */
async function killUnderLoad(answers: number): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  const heard = () => accounts.reduce((sum, { ledger }) => sum + ledger.heard, 0)
  const enough = heard() + answers
  let killed: Promise<void> | undefined
  const goesOn = () => {
    if (killed === undefined && heard() >= enough) killed = gateway.kill9()
    return killed === undefined
  }
  const work: Promise<unknown>[] = []
  const open: { socket: LedgerSocket; account: LoadedAccess }[] = []
  for (const account of accounts)
    for (let i = 0; i < sockets; i++) open.push({ socket: await account.subscribed(), account })
  for (const account of accounts)
    for (let i = 0; i < posting; i++)
      work.push(
        (async () => {
          while (goesOn() && (await account.post(account.message(), agent)));
        })(),
      )
  for (const { socket, account } of open)
    work.push(
      (async () => {
        while (goesOn() && (await socket.send([account.call(), account.call()])));
      })(),
    )
  // The next head comes when everybody has been told of the last one: at most one a socket is under way.
  for (let told = 1; goesOn(); told++) {
    node.push('eth_subscribe', `{"number":"0x${told.toString(16)}"}`)
    await Promise.all(open.map(({ socket }) => socket.whenNotified(told)))
    for (const { socket, account } of open)
      if (socket.notified < told) account.ledger.lost('eth_subscription')
  }
  await Promise.all(work)
  await killed
  await Promise.all(open.map(({ socket }) => socket.closed))
  agent.destroy()
}

t.test(
  'no acknowledged call is unmetered after kill -9, and only calls in flight are metered for nothing',
  async t => {
    t.comment(`seed ${random.seed}`)
    for (let round = 1; round <= rounds; round++) {
      const answers = 1 + random.below(300)
      await killUnderLoad(answers)
      await gateway.start()
      for (const [index, { access, ledger }] of accounts.entries()) {
        const where = `round ${round}, account ${index}, killed after ${answers} answers`
        const metered = await meteredByMethod(access)
        t.strictSame(await access.usage(), total(metered), `the listing is the sum of the rows; ${where}`)
        // Counted in memory until the ledger has it, within a second: a call may lack it, and none has it twice.
        for (const [method, { calls, timed }] of await timedByMethod(access))
          if (timed > calls) t.fail(`${method}: ${timed} times of ${calls} calls; ${where}`)
        for (const method of new Set([...metered.keys(), ...ledger.told.keys()])) {
          const none = { calls: 0, requests: 0 }
          const is = metered.get(method) ?? none
          const sure = ledger.told.get(method) ?? none
          const unsure = ledger.unheard.get(method) ?? none
          const numbers = JSON.stringify({ method, is, sure, unsure })
          const within = (name: 'calls' | 'requests') =>
            is[name] >= sure[name] && is[name] <= sure[name] + unsure[name]
          if (!within('calls') || !within('requests')) t.fail(`${numbers}; ${where}`)
        }
        // What is known now is the start of the next round.
        ledger.settle(metered)
      }
    }
    const unheard = accounts.reduce((sum, { ledger }) => sum + ledger.everUnheard, 0)
    t.ok(unheard >= rounds, `calls were in flight when it was killed: ${unheard}`)
    const told = accounts.map(({ ledger }) => [...ledger.told.keys()])
    t.ok(
      told[0]!.includes('eth_subscription') && told[0]!.includes('eth_subscribe'),
      'subscriptions were served',
    )
    t.ok(told[1]!.includes('test_sometimes'), 'and calls that fail')
    const hashed = accounts.reduce((sum, { ledger }) => sum + (ledger.told.get('web3_sha3')?.calls ?? 0), 0)
    const asked = node.count('web3_sha3')
    t.ok(hashed > 5 * asked, `most answers to web3_sha3 were kept ones: ${hashed}, ${asked} from the node`)
    t.ok((accounts[1]!.ledger.refusals.get('upstream_error') ?? 0) > rounds, 'that were given back')
  },
)
