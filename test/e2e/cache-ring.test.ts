/**
 * A small cache under distinct calls of two accounts, with answers from one byte to more than `entry`, while it is purged and edited: every answer is
 * what the node said to exactly that call, and none that it said before a purge comes after it. `RUNS=150000 KILLS=12` for
 * a long run.
 */
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { stringify } from 'yaml'
import type { Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { Bystander } from '../support/bystander.ts'
import { runJson } from '../support/cli.ts'
import { startGateway } from '../support/gateway.ts'
import { metric, metricIs } from '../support/metrics.ts'
import { result } from '../support/node-replies.ts'
import { Random } from '../support/random.ts'
import { startNode } from '../support/scripted-node.ts'
import type { ScriptedNode } from '../support/scripted-node.ts'
import { openClient } from '../support/socket-client.ts'
import type { SocketClient } from '../support/socket-client.ts'

const runs = Number(process.env['RUNS'] ?? 2_500)
const kills = Number(process.env['KILLS'] ?? 1)
const random = new Random(Number(process.env['SEED'] ?? 1))
const below = (n: number): number => random.below(n)

const KiB = 1024
const DEPTH = 8
const chainId = 1001
const slugs = ['alpha', 'beta'] as const
type Slug = (typeof slugs)[number]

/** One answer of a node: to what, and when its head was where. */
interface Said {
  readonly key: string
  readonly head: number
}

/** What the nodes have said, by number. */
const said: Said[] = []
/** The answer with a number: its first bytes say which one, and the rest is made of all that it depends on. */
function render(n: number): string {
  const { key, head } = said[n]!
  const digest = createHash('sha256').update(`${key} ${head} ${n}`).digest('hex')
  const bytes = sizeOf(key)
  const begin = `"${n}:é\\u00e9 ${digest}`
  return `${begin}${digest.repeat(Math.ceil(bytes / digest.length)).slice(0, Math.max(0, bytes - begin.length))}"`
}

/** Of a call, how long its answer is; 0 for one of a single byte. */
function sizeOf(key: string): number {
  const digest = createHash('sha256').update(key).digest()
  const sizes = [0, 0, 90, 100, 150, 200, 300, 700, 1_000, 1_500, 3_000, 4_000, 16 * KiB, 16 * KiB + 200]
  return sizes[digest[0]! % sizes.length]!
}

/** A single byte can only say what was asked for. */
function digit(key: string): string {
  return String(createHash('sha256').update(key).digest()[1]! % 10)
}

const keyOf = (slug: Slug, method: string, params: unknown): string =>
  `${slug} ${method} ${JSON.stringify(params)}`

async function answering(slug: Slug): Promise<ScriptedNode> {
  const node = await startNode(t, { chainId })
  return node.otherwise((request, response) => {
    const key = keyOf(slug, request.method ?? '', JSON.parse(request.params || '[]'))
    const text = sizeOf(key) === 0 ? digit(key) : render(said.push({ key, head: node.head }) - 1)
    return result(text)(request, response)
  })
}

const nodes = { alpha: await answering('alpha'), beta: await answering('beta') }

/** What an operator edits. */
interface Edited {
  /** Null is no cache at all. */
  readonly cache: { readonly memory: number; readonly entry: number } | null
  readonly fixed: boolean
  readonly beta: boolean
  readonly finality: number
}

const methodsOf = ({ fixed }: Edited): string => `families:
  evm:
    eth_chainId: { answer: chainId }
    eth_blockNumber: { retry: safe, cache: [tip] }
    test_fixed: { retry: safe, cache: [fixed] }
    test_edited: { retry: safe${fixed ? ', cache: [fixed]' : ''} }
    test_final: { retry: safe, cache: [final], block: { at: 0, kind: num } }
    test_tip: { retry: safe, cache: [tip], block: { at: 1, kind: ref, omitted: latest } }
    test_some*: { retry: safe, cache: [fixed] }
`
const networksOf = ({ beta, finality }: Edited) => ({
  // What was asked of a node before a purge may be what others have joined.
  alpha: { chainId, share: false, finality, cache: { tip: '1h' } },
  beta: { chainId, share: false, finality, cache: beta ? { tip: '1h' } : false },
})
const gatewayOf = ({ cache }: Edited) => ({
  listen: '127.0.0.1:0',
  admin: '127.0.0.1:0',
  ...(cache === null ? {} : { cache }),
})

let edited: Edited = {
  cache: { memory: 64 * KiB, entry: 16 * KiB },
  fixed: true,
  beta: true,
  finality: DEPTH,
}
const gateway = await startGateway(t, {
  networks: networksOf(edited),
  routes: [
    { id: 'alpha-a', network: 'alpha', http: nodes.alpha.url, ws: nodes.alpha.url.replace('http', 'ws') },
    ...['a', 'b'].map(name => ({
      id: `beta-${name}`,
      network: 'beta',
      http: nodes.beta.url,
      ws: nodes.beta.url.replace('http', 'ws'),
    })),
  ],
  methods: methodsOf(edited),
  gateway: { cache: edited.cache },
})
for (const slug of slugs) {
  await gateway.headKnown(slug)
  await metricIs(gateway, 'tollgate_network_final', { network: slug }, nodes[slug].head - DEPTH)
}

/** The number of the first answer that may still be given, by network and row. */
const since = new Map<string, number>()
const sinceOf = (slug: Slug, row: string): number => since.get(`${slug} ${row}`) ?? 0
const rows = ['eth_blockNumber', 'test_fixed', 'test_edited', 'test_final', 'test_tip', 'test_some*']
function nothingBefore(n: number, network?: Slug, method?: string): void {
  for (const slug of slugs)
    for (const row of rows)
      if ((network ?? slug) === slug && (method ?? row) === row) since.set(`${slug} ${row}`, n)
}

/** One call on its way. */
interface Asked {
  readonly slug: Slug
  readonly row: string
  readonly key: string
  readonly id: number
  readonly text: string
  /** The block that it is about. */
  readonly block: number | null
  /** How many answers there were before it, and which of them may not be given any more. */
  readonly at: number
  readonly since: number
  /** The newest block that its reader had been shown. */
  readonly floor: number
}

/** One endpoint, and what its client knows. */
class Client {
  answered = 0
  unheard = 0
  hits = 0
  #floor = 0
  #ids = 0
  constructor(
    readonly access: Access,
    readonly slug: Slug,
  ) {}

  call(): Asked {
    const [method, params] = this.#call()
    const row = method.startsWith('test_some') ? 'test_some*' : method
    const id = (this.#ids += 1)
    const spaced = below(3) === 0 ? ' \n' : ''
    const text = `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${spaced}${written(params, spaced)}}`
    return {
      slug: this.slug,
      row,
      key: keyOf(this.slug, method, params),
      id,
      text,
      block: method === 'test_final' ? Number(params[0]) : null,
      at: said.length,
      since: sinceOf(this.slug, row),
      floor: this.#floor,
    }
  }

  /** What is wrong with an answer; null where it is right. */
  check(asked: Asked, raw: string): string | null {
    this.answered += 1
    if (asked.row === 'eth_blockNumber') {
      const head = Number(JSON.parse(raw))
      if (head < asked.floor) return `head ${head} after ${asked.floor}`
      if (head > nodes[this.slug].head) return `head ${head}, which there is not`
      this.#floor = Math.max(this.#floor, head)
      return null
    }
    if (sizeOf(asked.key) === 0) return raw === digit(asked.key) ? null : `not the digit of its call: ${raw}`
    const n = Number(/^"(\d+):/.exec(raw)?.[1] ?? NaN)
    const saying = said[n]
    if (saying?.key !== asked.key) return `the answer to ${String(saying?.key)}`
    if (raw !== render(n)) return `not byte for byte answer ${n}`
    if (n < asked.since) return `answer ${n} is from before what dropped everything before ${asked.since}`
    if (n < asked.at) this.hits += 1
    const isFinal = asked.block === null || asked.block <= nodes[this.slug].head - DEPTH + 1
    if (!isFinal && n < asked.at) return `answer ${n} was kept and its block is not final`
    if (asked.row === 'test_tip' && saying.head < asked.floor) return `from block ${saying.head}`
    return null
  }

  #call(): readonly [string, readonly unknown[]] {
    const { head } = nodes[this.slug]
    const n = below(3) === 0 ? below(2_000) : below(10)
    const block = below(3) === 0 ? head + 2 - below(12) : head - DEPTH - below(12)
    return random.pick<() => readonly [string, readonly unknown[]]>([
      () => ['test_fixed', [n, 'a b']],
      () => ['test_fixed', ['x'.repeat(below(40)), n % 7]],
      () => ['test_edited', [n % 30]],
      () => ['test_final', [`0x${block.toString(16)}`, n % 3]],
      () => ['test_tip', [n % 20]],
      () => ['test_tip', [n % 20, 'latest']],
      () => [`test_some${n % 4}`, [n % 100]],
      () => ['eth_blockNumber', []],
    ])()
  }
}

/** JSON with white space around some of its members. */
function written(params: readonly unknown[], space: string): string {
  return `[${params.map(each => space + JSON.stringify(each)).join(`${space},`)}${space}]`
}

const clients: Client[] = []
for (let account = 0; account < 2; account += 1) {
  const first = await createAccess(gateway, 'paid', 'alpha')
  clients.push(new Client(first, 'alpha'), new Client(await first.another('beta'), 'beta'))
}
const faults: string[] = []

/** Takes in the reply to some calls; none came where it is null. */
function take(client: Client, calls: readonly Asked[], text: string | null): void {
  if (text === null) {
    client.unheard += calls.length
    return
  }
  const replies = new Map<number, string>()
  for (const [, id, raw] of text.matchAll(/\{"jsonrpc":"2\.0","id":(\d+),"result":("(?:[^"\\]|\\.)*"|\d)\}/g))
    replies.set(Number(id), raw!)
  for (const asked of calls) {
    const raw = replies.get(asked.id)
    const fault = raw === undefined ? `no result: ${text.slice(0, 300)}` : client.check(asked, raw)
    if (fault !== null) faults.push(`${asked.text} of ${asked.slug}: ${fault}`)
  }
}

const agent = new Agent({ keepAlive: true })
t.teardown(() => {
  agent.destroy()
})

/** Sends one call, or a batch of them. */
async function post(client: Client, length: number): Promise<void> {
  const calls = Array.from({ length }, () => client.call())
  const body = calls.length === 1 ? calls[0]!.text : `[${calls.map(({ text }) => text).join()}]`
  const reply = await client.access.post(body, { agent }).catch(() => null)
  take(client, calls, reply === null ? null : reply.text)
}

async function lane(client: Client, goesOn: () => boolean): Promise<void> {
  while (goesOn()) await post(client, below(4) === 0 ? 2 + below(30) : 1)
}

async function socketLane(client: Client, socket: SocketClient, goesOn: () => boolean): Promise<void> {
  while (goesOn()) {
    const call = client.call()
    take(client, [call], await socket.exchange(call.text).catch(() => null))
  }
}

/** All lanes of all clients. */
async function load(goesOn: () => boolean): Promise<void> {
  const sockets = await Promise.all(clients.map(({ access }) => openClient(t, access)))
  await Promise.all(
    clients.flatMap((client, i) => [
      socketLane(client, sockets[i]!, goesOn),
      ...[1, 2, 3].map(() => lane(client, goesOn)),
    ]),
  )
  for (const { socket } of sockets) socket.terminate()
}

async function serveEdit(next: Edited): Promise<void> {
  const was = edited
  edited = next
  const from = said.length
  await writeFile(join(gateway.dir, 'gateway.yaml'), stringify(gatewayOf(next)))
  await writeFile(join(gateway.dir, 'methods.yaml'), methodsOf(next))
  const networks = Object.entries(networksOf(next)).map(([slug, network]) => [
    slug,
    { name: `Network ${slug}`, family: 'evm', ...network },
  ])
  const text = {
    baseUrl: 'http://{subdomain}.example.test',
    networks: Object.fromEntries(networks) as unknown,
  }
  await writeFile(join(gateway.dir, 'networks.yaml'), stringify(text))
  const reply = await fetch(`${gateway.adminUrl}/reload`, { method: 'POST' })
  const { ok } = (await reply.json()) as { readonly ok: boolean }
  if (!ok) throw new Error(`rejected: ${JSON.stringify(next)}`)
  if ((next.cache?.memory ?? 0) < (was.cache?.memory ?? 0)) nothingBefore(from)
  if (next.beta !== was.beta) nothingBefore(from, 'beta')
  if (next.finality !== was.finality) nothingBefore(from)
  if (next.fixed !== was.fixed) {
    nothingBefore(from, undefined, 'test_edited')
    nothingBefore(from, undefined, 'test_some*')
  }
}

async function purge(): Promise<void> {
  const from = said.length
  const slug = random.pick(slugs)
  const row = random.pick(rows)
  const [args, network, method] = random.pick<
    readonly [readonly string[], Slug | undefined, string | undefined]
  >([
    [['--network', slug], slug, undefined],
    [['--method', row], undefined, row],
    [['--network', slug, '--method', row], slug, row],
    [['--route', 'alpha-a'], 'alpha', undefined],
    [['--route', 'alpha-a', '--method', row], 'alpha', row],
  ])
  await runJson(gateway.dir, ['cache', 'purge', ...args])
  nothingBefore(from, network, method)
}

/** What may happen to a gateway that serves. */
async function happen(): Promise<void> {
  const memory = edited.cache?.memory ?? 0
  await random.pick<() => Promise<void> | void>([
    purge,
    purge,
    () => serveEdit({ ...edited, cache: { memory: (64 + below(960)) * KiB, entry: (1 + below(64)) * KiB } }),
    () => serveEdit({ ...edited, cache: { memory: memory + 64 * KiB, entry: 16 * KiB } }),
    () => serveEdit({ ...edited, cache: { memory: memory + 64 * KiB, entry: 16 * KiB } }),
    () => forAWhile({ cache: null }),
    () => forAWhile({ fixed: false }),
    () => forAWhile({ beta: false }),
    () => forAWhile({ finality: DEPTH - 1 }),
    // With two routes that agree, a head that is ahead of its network's pace would not be believed at once.
    () => void (nodes.alpha.head += 1),
    () => void (nodes.alpha.head += 1),
  ])()
}

async function forAWhile(change: Partial<Edited>): Promise<void> {
  const before = edited
  await serveEdit({ ...edited, ...change })
  await post(random.pick(clients), 1)
  await serveEdit(before)
}

const answered = (): number => clients.reduce((sum, client) => sum + client.answered, 0)
const unheard = (): number => clients.reduce((sum, client) => sum + client.unheard, 0)

t.test(`${runs} calls while the cache is purged and edited`, async t => {
  const watcher = new Bystander(await createAccess(gateway, 'free', 'alpha'))
  const goesOn = (): boolean => answered() + unheard() < runs && faults.length === 0
  const under = load(goesOn)
  let happened = 0
  while (goesOn()) {
    await happen()
    happened += 1
    const most = edited.cache?.memory ?? 0
    const bytes = await metric(gateway, 'tollgate_cache_bytes')
    if (bytes > most) faults.push(`${bytes} bytes of ${most}`)
    for (let i = 0; i < 4; i += 1) await post(random.pick(clients), 1)
  }
  await under
  await watcher.stop()
  t.strictSame(faults, [])
  t.equal(unheard(), 0)
  t.strictSame(watcher.failures, [], 'who watches is served')
  for (const client of clients) {
    const { calls } = await client.access.usage()
    t.equal(calls, client.answered, 'each call is charged once')
  }
  const hits = clients.reduce((sum, client) => sum + client.hits, 0)
  t.ok(hits > 0, `${hits} answers were kept ones`)
  const evicted = await metric(gateway, 'tollgate_cache_evicted_total')
  t.comment(
    `${answered()} calls, ${hits} hits, ${evicted} evicted, ${happened} events, watcher ${watcher.took.length} calls, slowest ${watcher.slowest}`,
  )
})

t.test(
  `${kills} times kill -9 amid hits: the ledger has what clients were answered, and no more than they asked for`,
  async t => {
    await serveEdit({ ...edited, cache: { memory: 256 * KiB, entry: 16 * KiB } })
    for (let round = 1; round <= kills; round += 1) {
      const enough = answered() + 200 + below(600)
      let killed: Promise<void> | undefined
      await load(() => {
        if (killed === undefined && answered() >= enough) killed = gateway.kill9()
        return killed === undefined && faults.length === 0
      })
      await killed
      nothingBefore(said.length)
      await gateway.start()
      t.strictSame(faults, [])
      for (const client of clients) {
        const { calls } = await client.access.usage()
        const most = client.answered + client.unheard
        t.ok(
          calls >= client.answered && calls <= most,
          `round ${round}: ${client.answered} to ${most}, charged ${calls}`,
        )
        // What is known now is the start of the next round.
        client.answered = calls
        client.unheard = 0
      }
    }
  },
)
