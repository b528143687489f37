import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { systemClock } from '../../src/ports/clock.ts'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { answerExplain } from '../../src/runtime/admin/answer-explain.ts'
import { UsageError } from '../../src/commands/command.ts'
import { explain } from '../../src/commands/explain/explain.ts'
import { atOnce } from '../../src/reload/time-slices.ts'
import { isPublicService, isService } from '../../src/management/call.ts'
import { thisProcess } from '../../src/http/admin/running.ts'
import { servedOf } from '../../src/http/admin/served.ts'
import { writeServing } from '../../src/http/admin/serving-file.ts'
import type { Rule, Snapshot } from '../../src/snapshot/types.ts'
import type { LiveRoute } from '../../src/routes/live-route.ts'
import { Heads } from '../../src/routes/heads.ts'
import { MemoryAnswers } from '../../src/stores/memory/answers.ts'
import { failure } from '../../src/routes/transport/verdict.ts'
import { refuse } from '../../src/refusal/refusal.ts'
import { Upstreams } from '../../src/routes/upstreams.ts'
import type { Case } from './case.ts'

const now = () => 1_000_000

/** What may be said of a route under `# live`. */
const states: Readonly<Record<string, (route: LiveRoute, value: string) => void>> = {
  final: (route, value) => (route.final = Number(value)),
  syncing: route => (route.syncing = true),
  unidentified: route => (route.identified = false),
  fault: (route, value) => (route.fault = value.replaceAll('-', ' ')),
  paused: route => route.pauses.complain({ about: 'limited', asked: 5_000, from: 'status' }, now()),
  full: route => route.limits.enter(),
  refused: (route, value) => {
    route.refusesBodies = () => Promise.resolve(value.replaceAll('-', ' '))
    route.batching.refuse('one', now())
  },
  held: (route, value) => {
    const before = now() - 2_000
    route.limits.pace.fits(before)
    for (let calls = 0; calls < 100; calls += 1) route.limits.pace.count('one')
    for (const drawnBy of value.split('+'))
      route.limits.pace.slow(drawnBy === 'probe' ? null : drawnBy, before, now())
  },
  broken: route => {
    for (let failures = 0; failures < 3; failures++) route.breaker.probeFailed('connect_failed', now(), false)
  },
}

/** What may be said of the gateway itself under `# live`. */
const aboutGateway = ['another configuration is served', 'the gateway was killed'] as const

/** The real live routes of a snapshot, in the states that the lines tell. */
function liveParts(snapshot: Snapshot, lines: readonly string[]) {
  const heads = new Heads()
  const upstreams = new Upstreams(heads)
  upstreams.adopt(atOnce(upstreams.open(snapshot)))
  for (const network of Object.values(snapshot.networks))
    for (const route of upstreams.of(network)) route.identified = true
  for (const line of lines) {
    const [id = '', ...words] = line.split(' ')
    const live = upstreams.get(id)!
    const network = snapshot.networks[live.network]!
    for (const word of words) {
      const [state = '', value = ''] = word.split('=')
      if (state === 'lacks') told(upstreams, id, value)
      else if (state !== 'head') states[state]!(live, value)
      else {
        heads.claim(network, live, Number(value), upstreams.of(network), now())
        heads.show(network, live, Number(value), upstreams.of(network), now())
      }
    }
  }
  for (const network of Object.values(snapshot.networks)) {
    heads.update(network, upstreams.of(network), now())
    heads.finality.update(network, upstreams.of(network), now())
  }
  const management = {
    methods: { has: isService },
    isPublic: isPublicService,
    answer: () => Promise.reject(new Error('nobody is called')),
  }
  const subscriptions = { whyNoSocket: () => null }
  const clock = { ...systemClock, monotonic: now }
  return { upstreams, heads, management, subscriptions, clock, answers: new MemoryAnswers(1_000_000) }
}

/** A caller and a probe have been told that the route lacks a method. */
function told({ unsupported }: Upstreams, id: string, method: string): void {
  const live = { lacks: () => Promise.resolve(true as const) }
  const rule = { match: method } as Rule
  unsupported.take(lacking, { route: { id, errors: [] }, live, method, rule, caller: 'one' }, now())
}

const lacking = failure('unsupported', refuse('upstream_error'), false)

/** The admin listener of a gateway that serves the snapshot from `dir`, as far as `explain` asks it. */
async function serve(dir: string, snapshot: Snapshot, lines: readonly string[]) {
  const live = liveParts(snapshot, lines)
  const server = createServer((request, response) => {
    void text(request).then(body => {
      const answers: Readonly<Record<string, () => unknown>> = {
        '/process': () => ({ status: 200, json: thisProcess(dir, { dataDir: join(dir, 'data') }) }),
        '/on-disk': () => ({ status: 200, json: { version: null } }),
        '/served': () => ({ status: 200, json: servedOf(snapshot) }),
        '/explain': () => answerExplain(JSON.parse(body), { snapshot, live }),
      }
      const { status, json } = answers[request.url ?? '']!() as { status: number; json: unknown }
      response.writeHead(status).end(JSON.stringify(json))
    })
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  return {
    admin: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await live.upstreams.close()
    },
  }
}

function warned(sentence: string): never {
  throw new Error(sentence)
}

/** What `tollgate explain` prints for each line under `# ask`, and its exit code. */
export async function explained({ notes, env }: Case, dir: string, snapshot: Snapshot): Promise<string[]> {
  const lines: string[] = []
  const io = {
    env,
    program: 'tollgate',
    drained: () => Promise.resolve(true),
    out: (line: string) => lines.push(line),
    err: (line: string) => lines.push(line),
  }
  const { live } = notes
  const states = (live ?? []).filter(line => !aboutGateway.some(other => other === line))
  const serving = live?.includes(aboutGateway[0]) === true ? { ...snapshot, version: 'another' } : snapshot
  mkdirSync(join(dir, 'data'))
  const gateway = live === undefined ? null : await serve(dir, serving, states)
  if (gateway !== null) writeServing(join(dir, 'data'), { pid: 0, listen: '', admin: gateway.admin }, warned)
  const gone = live?.includes(aboutGateway[1]) === true
  if (gone) await gateway?.close()
  for (const line of notes['ask'] ?? []) {
    lines.push(...(lines.length === 0 ? [] : ['']), `$ tollgate explain ${line}`)
    const words = line.match(/'[^']*'|\S+/g) ?? []
    const args = words.map(word => word.replaceAll("'", ''))
    try {
      const code = await explain.run([...args, '--config', dir], io)
      lines.push(`exit ${code}`)
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      lines.push(`wrong usage: ${error.message}`)
    }
  }
  if (!gone) await gateway?.close()
  // Hints name the directory, which is another one each time.
  return lines.flatMap(line => line.replaceAll(` --config ${dir}`, '').split('\n'))
}
