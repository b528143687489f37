import t from 'tap'
import type { Problem } from '../../src/config/problem.ts'
import type { Config } from '../../src/config/types.ts'
import type { LoadedConfig } from '../../src/reload/loader.ts'
import { Reloader } from '../../src/reload/reloader.ts'
import type { ReloaderParts } from '../../src/reload/reloader.ts'
import { load } from '../support/snapshot.ts'

const { config } = await load(t)
if (config === null) throw new Error('the configuration of the tests is not valid')
const places = {} as LoadedConfig['places']
const loaded = (version: string, more: Partial<Config> = {}): LoadedConfig => ({
  config: { ...config, ...more },
  version,
  problems: [],
  places,
})
const problem = (message: string, severity: 'error' | 'warning' = 'error'): Problem => ({
  file: 'routes.yaml',
  line: 1,
  column: 1,
  path: 'routes',
  severity,
  message,
})

/** A reloader whose files are `files.now`; `did` is what was done and logged. */
function scene(parts: Partial<ReloaderParts> = {}) {
  const did: string[] = []
  const files = { now: loaded('v1') }
  const log = (level: string) => (message: string) => did.push(`${level}: ${message}`)
  const reloader = new Reloader(
    { config: config!, version: 'v1', problems: [] },
    {
      load: () => Promise.resolve(files.now),
      meet: () => Promise.resolve([]),
      renewCertificate: () => Promise.resolve(false),
      swap: ({ version }) => Promise.resolve(void did.push(`swap ${version}`)),
      log: { info: log('info'), warn: log('warn'), error: log('error') },
      ...parts,
    },
  )
  return { reloader, files, did }
}
const rejected = 'error: the configuration was rejected; the last good one is still served'

t.test('an edit is served, and what changed is logged and answered', async t => {
  const { reloader, files, did } = scene()
  files.now = { ...loaded('v2', { routes: [] }), problems: [problem('careful', 'warning')] }
  const result = await reloader.reload('watcher')
  t.match(result, { ok: true, version: 'v2', afterRestart: [], taken: { by: 'watcher' } })
  t.equal(result.changes.length, 1)
  t.strictSame(did, ['swap v2', `info: ${result.changes[0]!}`])
  t.match(reloader.state, { ok: true, problems: [{ message: 'careful' }] })
})

t.test('files that say the same are found valid, and nothing is swapped', async t => {
  const { reloader, did } = scene()
  t.match(await reloader.reload('signal'), { ok: true, version: 'v1', changes: [], taken: { by: 'start' } })
  t.strictSame(did, [])
})

t.test('a bad edit changes nothing but what is told of it', async t => {
  const met = [problem('the port is taken')]
  const { reloader, files, did } = scene({
    meet: () => Promise.resolve(met),
    renewCertificate: () => {
      t.equal(met.length, 0, 'the certificate is taken only with a good one')
      return Promise.resolve(false)
    },
  })
  files.now = { ...loaded('v2'), config: null, problems: [problem('broken'), problem('careful', 'warning')] }
  const result = await reloader.reload('request')
  t.match(result, { ok: false, version: 'v1', changes: [], problems: { length: 2 }, taken: { by: 'start' } })
  t.strictSame(did.splice(0), ['error: routes.yaml:1:1 routes: broken', rejected])
  files.now = loaded('v2')
  t.match(await reloader.reload('request'), { ok: false, problems: [{ message: 'the port is taken' }] })
  t.strictSame(did, ['error: routes.yaml:1:1 routes: the port is taken', rejected])
  t.match(reloader.state, { ok: false })
  // Undone.
  files.now = loaded('v1')
  met.length = 0
  did.splice(0)
  t.match(await reloader.reload('watcher'), { ok: true, version: 'v1', changes: [] })
  t.match(await reloader.reload('watcher'), { ok: true, version: 'v1', changes: [] })
  t.strictSame(
    did,
    ['info: the configuration is valid again: it is the one that is served'],
    'bug: an edit that was undone left the rejection as the last word of the log',
  )
})

t.test(
  'another certificate is taken with files that say the same, and told with those that do not',
  async t => {
    const { reloader, files, did } = scene({ renewCertificate: () => Promise.resolve(true) })
    const changes = ['gateway.yaml: the certificate is another one']
    t.match(await reloader.reload('watcher'), { ok: true, version: 'v1', changes, taken: { by: 'start' } })
    t.strictSame(did, [`info: ${changes[0]!}`])
    files.now = loaded('v2', { routes: [] })
    const result = await reloader.reload('watcher')
    t.strictSame([result.changes.length, result.changes[0]], [2, changes[0]])
  },
)

t.test('what is read once is held against the start, not against the last edit', async t => {
  const { reloader, files, did } = scene()
  const notice = 'warn: gateway.yaml: dataDir: the change takes effect after a restart'
  const elsewhere = { gateway: { ...config.gateway, dataDir: '/elsewhere' } }
  for (const [version, more, names] of [
    ['v2', elsewhere, ['dataDir']],
    ['v3', { ...elsewhere, routes: [] }, ['dataDir']],
    ['v4', {}, []],
  ] as const) {
    files.now = loaded(version, more)
    t.strictSame((await reloader.reload('watcher')).afterRestart, names, version)
  }
  t.equal(did.filter(line => line === notice).length, 2)
})

t.test('reloads run one at a time, in order, and one that breaks stops none behind it', async t => {
  const edits = [loaded('v2', { routes: [] }), loaded('v3'), loaded('v4')]
  const { reloader, did } = scene({
    load: () => Promise.resolve(edits.shift()!),
    meet: async ({ routes }) => {
      did.push(`meet ${routes.length}`)
      await new Promise(resolve => setImmediate(resolve))
      did.push(`met ${routes.length}`)
      if (routes.length === 0) throw new Error('a bug')
      return []
    },
  })
  const broken = reloader.reload('watcher')
  const next = reloader.reload('request')
  const onDisk = reloader.onDisk()
  await t.rejects(broken, { message: 'a bug' })
  t.match(await next, { ok: true, version: 'v3', taken: { by: 'request' } })
  t.equal(await onDisk, 'v4')
  await reloader.idle()
  t.strictSame(did, ['meet 0', 'met 0', 'meet 1', 'met 1', 'swap v3'])
})

t.test('two hundred lines are logged of one edit, and all are answered', async t => {
  const { reloader, files, did } = scene()
  const problems = Array.from({ length: 201 }, (_, i) => problem(`${i}`))
  files.now = { ...loaded('v2'), config: null, problems }
  t.equal((await reloader.reload('watcher')).problems.length, 201)
  t.strictSame(
    [did.length, did[199], did[200]],
    [202, 'error: routes.yaml:1:1 routes: 199', 'error: and 1 more'],
  )
})
