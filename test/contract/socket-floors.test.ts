import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { routesLookedAt } from '../support/route-status.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'

const head = 5_000
const shown = head + 2
const about = (slot: number, value: unknown) => JSON.stringify({ context: { slot }, value })

type Call = readonly [method: string, params: readonly unknown[]]

/** What is subscribed to, what the node says then, and a read that must not go back behind it. */
interface Case {
  readonly family: 'evm' | 'solana'
  readonly subscribe: string
  readonly params: readonly unknown[]
  readonly message: string
  readonly read: Call
  /** A read of what is more settled than what was shown. */
  readonly before: Call | null
}

const cases: Readonly<Record<string, Case>> = {
  heads: {
    family: 'evm',
    subscribe: 'eth_subscribe',
    params: ['newHeads'],
    message: `{"number":"0x${shown.toString(16)}","hash":"0x${'1'.repeat(64)}","parentHash":"0x${'2'.repeat(64)}"}`,
    read: ['eth_getBalance', ['0x00', 'latest']],
    before: null,
  },
  slots: {
    family: 'solana',
    subscribe: 'slotSubscribe',
    params: [],
    message: `{"parent":${shown - 1},"root":${shown - 32},"slot":${shown}}`,
    read: ['getBalance', ['x', { commitment: 'processed' }]],
    before: ['getBalance', ['x']],
  },
  signatures: {
    family: 'solana',
    subscribe: 'signatureSubscribe',
    params: ['sig', { commitment: 'confirmed' }],
    message: about(shown, { err: null }),
    read: ['getBalance', ['x', { commitment: 'confirmed' }]],
    before: ['getBalance', ['x', { commitment: 'finalized' }]],
  },
  roots: {
    family: 'solana',
    subscribe: 'rootSubscribe',
    params: [],
    message: String(shown),
    read: ['getBalance', ['x']],
    before: null,
  },
  accounts: {
    family: 'solana',
    subscribe: 'accountSubscribe',
    params: ['x'],
    message: about(shown, null),
    read: ['getAccountInfo', ['x']],
    before: null,
  },
}
const nodes = new Map<string, Awaited<ReturnType<typeof startSocketNode>>[]>()
for (const slug of Object.keys(cases))
  nodes.set(slug, [await startSocketNode(t, { head }), await startSocketNode(t, { head })])
const gateway = await startGateway(t, {
  networks: Object.fromEntries(
    Object.entries(cases).map(([slug, { family }]) => [
      slug,
      { family, chainId: family === 'evm' ? 1 : `solana-${slug}` },
    ]),
  ),
  // The node that comes first has no sockets: only the other one tells what is new.
  routes: [...nodes].flatMap(([network, [first, teller]]) => [
    { id: `${network}-a`, network, http: first!.url },
    { id: `${network}-b`, network, http: teller!.url, ws: teller!.wsUrl, priority: 2 },
  ]),
})
const account = await createAccess(gateway, 'paid', 'heads')
await routesLookedAt(gateway)

for (const [slug, { subscribe, params, message, read, before }] of Object.entries(cases)) {
  t.test(`${slug}: what a message showed is a floor for reads`, async t => {
    const access = slug === 'heads' ? account : await account.another(slug)
    const another = await access.another(slug)
    const [first, teller] = nodes.get(slug)!
    const goesTo = async ([method, args]: Call, through = access) => {
      const counts = [first!.count(method), teller!.count(method)]
      await through.call(method, args)
      return first!.count(method) > counts[0]!
        ? 'first'
        : teller!.count(method) > counts[1]!
          ? 'teller'
          : 'none'
    }
    t.equal(await goesTo(read), 'first')
    const client = await openClient(t, access)
    const subscription = await client.subscribe(subscribe, [...params])
    teller!.push(subscribe, message)
    await client.notified(subscription, 1)
    t.equal(await goesTo(read), 'teller')
    if (before !== null) t.equal(await goesTo(before), 'first', 'what is more settled was not shown')
    t.equal(await goesTo(read, another), 'first', 'and nothing to another endpoint')
  })
}
