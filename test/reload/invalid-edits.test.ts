import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { prepareGateway } from '../support/gateway.ts'
import { metric } from '../support/metrics.ts'
import { echo } from '../support/node-replies.ts'
import { Random } from '../support/random.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { sideBySide } from '../support/side-by-side.ts'
import { ConfigDir, files } from './config-dir.ts'
import { otherMistakes } from './other-findings.ts'
import { schemaKeys, schemaMistakes, type Finding } from './schema-findings.ts'
import { wholeConfig } from './whole-config.ts'
import { WrittenYaml } from './written-yaml.ts'

/** Keys that the whole configuration is without, as they name other files or servers. */
const WITHOUT: Readonly<Record<string, readonly string[]>> = {
  'gateway.yaml': [
    'cert',
    'key',
    'tls',
    'logo',
    'postgres',
    'url',
    'schema',
    'pool',
    'timeout',
    'spool',
    'accountsMaxAge',
    'redis',
    'prefix',
    'sync',
    'away',
  ],
  'methods.yaml': ['extends'],
}
/** Invalid edits that are made. */
const times = 128
const seed = 14

const node = (await startSocketNode(t, { chainId: 1001 })).on('web3_sha3', echo)
const documents = wholeConfig(node.url, node.wsUrl)
const good = new Map(files.map(file => [file, new WrittenYaml(documents[file]).text]))
const bySchema = new Map(files.map(file => [file, schemaMistakes(file, documents[file])]))

const gateway = await prepareGateway(t, { networks: {}, routes: [] })
const dir = new ConfigDir(gateway.dir)
dir.write(good, 'plain')
await gateway.start()
const access = await createAccess(gateway, 'paid', 'alpha')
const ask = async (): Promise<{ status: number; json: any }> => {
  const reply = await fetch(`${gateway.adminUrl}/reload`, { method: 'POST' })
  return { status: reply.status, json: await reply.json() }
}
const successful = () => metric(gateway, 'tollgate_config_last_reload_successful')

t.test('the generator reaches every key that the schemas have', t => {
  for (const file of files) {
    const reached = bySchema.get(file)!.keys
    const passed = [...schemaKeys(file)].filter(key => !reached.has(key))
    t.same(passed.sort(), [...(WITHOUT[file] ?? [])].sort(), file)
  }
  t.end()
})

t.test('each finding is told alone, at its place, and the last good configuration serves on', async t => {
  const { version } = await gateway.status()
  let over = false
  const answers = new Map<string, number>()
  const calling = sideBySide(
    ['a', 'b', 'c', 'd'],
    async lane => {
      for (let n = 0; !over; n++) {
        const params = [`${lane}${n}`]
        const reply = await access.post(message('web3_sha3', params))
        const right = reply.text === `{"jsonrpc":"2.0","id":1,"result":${JSON.stringify(params)}}`
        const outcome = right ? 'right' : `${reply.status} ${reply.text}`
        answers.set(outcome, (answers.get(outcome) ?? 0) + 1)
      }
    },
    4,
  )
  for (const [i, finding] of chosen().entries()) {
    const { file, kind, text, path, place } = finding
    const what = `${kind}: ${file}:${place.line}:${place.column} ${path}`
    dir.write(new Map([[file, text]]), i % 2 === 0 ? 'plain' : 'rename')
    const { status, json } = await ask()
    const problem = { file, ...place, path, severity: 'error' }
    const told = json.problems.map(({ file: f, line, column, path: p, severity }: any) => ({
      file: f,
      line,
      column,
      path: p,
      severity,
    }))
    if (status !== 422 || json.version !== version || json.changes.length > 0) t.fail(what, { status, json })
    t.same(told, [problem], `${what}: ${json.problems[0]?.message}`)
    t.match(json.problems[0]?.message, finding.message)
    const { version: served, reload } = await gateway.status()
    t.same(
      { served, ok: reload.ok, problems: reload.problems },
      { served: version, ok: false, problems: json.problems },
    )
    t.equal(await successful(), 0)
    dir.write(new Map([[file, good.get(file)!]]), 'rename')
    if (i % 10 > 0) continue
    t.match(await ask(), { status: 200, json: { ok: true, version, changes: [], problems: [] } }, 'restored')
    t.equal(await successful(), 1)
  }
  t.match(await ask(), { status: 200, json: { ok: true, version, changes: [], problems: [] } })
  t.equal(await successful(), 1)
  over = true
  await calling
  t.same([...answers.keys()], ['right'], `${answers.get('right')} calls meanwhile`)
  t.ok(answers.get('right')! > times)
})

/** All handwritten ones, and of the generated ones as many of each kind in each file as make up the number. */
function chosen(): readonly Finding[] {
  const random = new Random(seed)
  const groups = new Map<string, Finding[]>()
  for (const finding of [...bySchema.values()].flatMap(({ findings }) => findings)) {
    const group = `${finding.file} ${finding.kind}`
    groups.set(group, [...(groups.get(group) ?? []), finding])
  }
  const all = otherMistakes(documents)
  while (all.length < times)
    for (const group of groups.values()) {
      const [finding] = group.splice(random.below(Math.max(group.length, 1)), 1)
      if (finding !== undefined && all.length < times) all.push(finding)
    }
  return all
}
