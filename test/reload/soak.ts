import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import { stringify } from 'yaml'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { amplePlans } from '../support/config-files.ts'
import { startGateway, type Gateway } from '../support/gateway.ts'
import { LogReader } from '../support/log-lines.ts'
import { echo } from '../support/node-replies.ts'
import { Random } from '../support/random.ts'
import { ScriptedChain } from '../support/scripted-chain.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { steadyLoad } from '../support/steady-load.ts'
import { until } from '../support/until.ts'
import { ConfigDir, type File, type Writing } from './config-dir.ts'
import { Edits, mainNetwork, unusedMethod, type Documents, type Edit } from './edits.ts'
import { isDuring, latencies, type Span } from './latencies.ts'
import { SideNetworks } from './side-networks.ts'
import { openCrowd } from './socket-crowd.ts'

/** How much of it. */
export interface Soak {
  readonly seed: number
  readonly edits: number
  readonly sockets: number
  readonly callsPerSecond: number
  /** Milliseconds without an edit, before and after. */
  readonly quiet: number
}

const chainId = 1001
const sideChainId = 2001
/** Milliseconds between two blocks, and after an edit was taken. */
const blockTime = 400
const breath = 150

const methods = {
  families: {
    evm: {
      web3_sha3: { params: [1, 1], retry: 'safe' },
      eth_getBlockReceipts: { cost: 3, params: [1, 1], retry: 'safe' },
      eth_subscribe: { needs: ['ws'], subscribe: 'eth_unsubscribe' },
      trace_block: { cost: 20, tier: 'paid', needs: ['trace'] },
      debug_traceCall: { cost: 5, tier: 'paid', needs: ['debug'] },
      txpool_status: { tier: 'paid', needs: ['txpool'] },
      [unusedMethod]: { cost: 1 },
    },
  },
}

/** Calls and sockets go on while the YAML is edited over and over: nothing of it may show. */
export async function soak(t: Test, { seed, edits: times, sockets, callsPerSecond, quiet }: Soak) {
  const chain = new ScriptedChain()
  const nodes = [
    await startSocketNode(t, { chainId, chain }),
    await startSocketNode(t, { chainId, chain }),
    await startSocketNode(t, { chainId, chain }),
  ] as const
  const [a, b, spare] = nodes
  for (const node of nodes) node.on('web3_sha3', echo).on('eth_getBlockReceipts', echo)
  const side = await startSocketNode(t, { chainId: sideChainId })
  const plain = { weight: 1, priority: 1, capabilities: [], enabled: true }
  const ample = (connections: number) => ({
    ...amplePlans['paid']!,
    rate: { perSecond: 100_000, burst: 100_000 },
    ws: { connections, subscriptions: connections },
  })
  const documents: Documents = {
    'networks.yaml': {
      baseUrl: 'http://{subdomain}.example.test',
      networks: { [mainNetwork]: { name: 'Main', family: 'evm', chainId } },
    },
    'routes.yaml': {
      routes: [
        { id: 'main-a', network: mainNetwork, http: a.url, ws: a.wsUrl, ...plain },
        { id: 'main-b', network: mainNetwork, http: b.url, ws: b.wsUrl, ...plain },
      ],
    },
    'methods.yaml': methods,
    'plans.yaml': {
      plans: {
        public: ample(1),
        free: ample(1),
        paid: ample(sockets + 100),
      },
    },
    'gateway.yaml': {
      listen: '127.0.0.1:0',
      admin: '127.0.0.1:0',
      log: { level: 'info' },
      cors: { origins: ['*'] },
      acknowledge: ['endpoints-without-network'],
    },
  }
  const gateway = await startGateway(t, {
    networks: { [mainNetwork]: { name: 'Main', chainId } },
    routes: documents['routes.yaml'].routes as never,
    methods: stringify(methods),
    plans: documents['plans.yaml'].plans as never,
    gateway: documents['gateway.yaml'],
  })
  const dir = new ConfigDir(gateway.dir)
  const access = await createAccess(gateway, 'paid', mainNetwork)
  await gateway.headKnown(mainNetwork)
  const crowd = await openCrowd(t, await access.another(mainNetwork), sockets)
  const sideNetworks = new SideNetworks(t, access)

  const log = new LogReader(gateway)
  log.all()
  const expected: string[][] = []
  const spans: Span[] = []
  let over = false
  const load = steadyLoad(access, callsPerSecond, bodyOf, () => over)
  const talk = crowd.talk(() => over)
  const mining = mine(chain, () => over)

  const random = new Random(seed)
  const edits = new Edits(documents, random, { spare, side: { ...ways(side), chainId: sideChainId } })
  const make = async (edit: Edit): Promise<void> => {
    if (edit.network?.is === 'gone') sideNetworks.expectEnd(edit.network.slug)
    const from = performance.now()
    const how: Writing = edit.files.length > 1 ? random.pick(['plain', 'rename']) : random.pick(writings)
    const told = log.changes().length
    dir.write(textsOf(documents, edit.files), how)
    const by = random.pick(['SIGHUP', 'POST', 'watch'] as const)
    if (by === 'SIGHUP') gateway.signal('SIGHUP')
    if (by === 'POST') await reloadNow(gateway)
    await until(`the log tells of ${edit.lines.join(' and ')}`, () =>
      Promise.resolve(log.changes().length >= told + edit.lines.length),
    )
    expected.push([...edit.lines].sort())
    spans.push({ from, to: performance.now() })
    if (edit.network?.is === 'here') await sideNetworks.open(edit.network.slug)
    if (edit.network?.is === 'gone') await sideNetworks.ended(edit.network.slug)
  }
  const begin = performance.now()
  await pause(quiet)
  for (let i = 0; i < times; i++) {
    await make(edits.next())
    await pause(breath)
  }
  const editing = performance.now() - begin - quiet
  await pause(quiet)
  for (const edit of edits.cleanUp()) await make(edit)
  over = true
  const calls = await load
  await talk
  await mining

  t.comment(`${times} edits in ${Math.round(editing / 100) / 10} s, seed ${seed}`)
  const [during, still] = isDuring(calls, spans)
  t.comment(`calls during reloads: ${latencies(during)}`)
  t.comment(`calls in quiet:       ${latencies(still)}`)

  t.ok(during.length > times && still.length > times, 'there were calls during reloads and between')
  t.same(
    calls.filter(({ body, status, text }) => status !== 200 || text !== replyTo(body)).slice(0, 5),
    [],
    `every one of ${calls.length} calls has its own right result`,
  )
  const units = calls.reduce((sum, { body }) => sum + costOf(body), 0)
  t.same(await access.usage(), { requests: units, calls: calls.length }, 'the metered sum is exact')

  const last = chain.mine()
  await crowd.heardOf(last.number)
  crowd.check(t, chain)
  t.same(await crowd.charged(access), crowd.units, 'what sockets were charged is exact')

  let read = 0
  const changes = log.changes()
  const told = expected.map(lines => changes.slice(read, (read += lines.length)).sort())
  t.same(told, expected, 'each edit is told as it is, when it is made')
  t.equal(changes.length, read, `the log has a line for each of ${read} changes, and no other`)
  t.same(
    log
      .all()
      .filter(({ err, msg }) => err !== undefined || msg === 'attempt failed')
      .slice(0, 3),
    [],
  )
  t.match(await reloadNow(gateway), { ok: true, changes: [], version: (await gateway.status()).version })

  for (const [name, node] of Object.entries({ spare, side })) {
    await until(`nothing is left open to ${name}`, async () => (await node.connections) === 0)
    t.equal(node.sockets, 0, `no socket is left to ${name}`)
  }
  const alive = nodes.flatMap(node => node.live('eth_subscribe'))
  t.equal(alive.length, 1, 'one upstream subscription serves all')
}

const writings: readonly Writing[] = ['plain', 'rename', 'plain', 'rename', 'swap']

function ways({ url, wsUrl }: { readonly url: string; readonly wsUrl: string }) {
  return { url, wsUrl }
}

function textsOf(documents: Documents, files: readonly File[]): ReadonlyMap<File, string> {
  return new Map(files.map(file => [file, stringify(documents[file])]))
}

async function reloadNow({ adminUrl }: Gateway): Promise<unknown> {
  const reply = await fetch(`${adminUrl}/reload`, { method: 'POST' })
  return reply.json()
}

async function mine(chain: ScriptedChain, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    chain.mine()
    await pause(blockTime)
  }
}

function bodyOf(n: number): string {
  return message(n % 5 === 0 ? 'eth_getBlockReceipts' : 'web3_sha3', [`0x${n.toString(16)}`], n)
}

function costOf(body: string): number {
  return body.includes('eth_getBlockReceipts') ? 3 : 1
}

function replyTo(body: string): string {
  const { id, params } = JSON.parse(body) as { id: number; params: unknown }
  return `{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify(params)}}`
}
