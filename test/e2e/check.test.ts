import t from 'tap'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '../support/cli.ts'
import { tempDir } from '../support/temp-dir.ts'

const plan = (tiers: string) =>
  `{ tiers: [${tiers}], rate: { perSecond: 10, burst: 100 }, maxBatch: 10, ws: { connections: 1, subscriptions: 1 } }`

/** Five files; what stands between « and » is a finding, reported where it begins. */
const files: Record<string, string> = {
  'networks.yaml': `baseUrl: http://{subdomain}.example.test
networks:
  alpha:
    name: Alpha
    family: evm
    chainId: 1001
    «colour»: red
  beta:
    name: Beta
    family: evm
    chainId: 1002
`,
  'routes.yaml': `routes:
  - id: alpha-a
    network: alpha
    http: http://127.0.0.1:1
    capabilities: [archive, «tracee»]
  - id: beta-a
    network: beta
    http: http://127.0.0.1:1
  - { id: beta-b, http: "http://127.0.0.1:2", network:   «betta» }
`,
  'methods.yaml': `notification: { cost: 1 }
families:
  evm:
    web3_sha3: { params: [1, 1], cost: «three» }
    eth_gasPrice: { params: [0, 0] }
    eth_getBalance: { params: [1, 2], block: { at: 1, kind: ref, omitted: latest }, reads: state }
    trace_block: { tier: paid, needs: [trace] }
`,
  'plans.yaml': `plans:
  public: ${plan('any')}
  paid: ${plan('any, paid')}
  «paid»: ${plan('any')}
`,
  'gateway.yaml': `# comments count as lines
listen: 127.0.0.1:0
admin: 127.0.0.1:0
timeouts:
  connect: «2 parsecs»
`,
}

const paths: Record<string, string> = {
  colour: 'networks.alpha.colour',
  tracee: 'routes[0].capabilities[1]',
  betta: 'routes[2].network',
  three: 'families.evm.web3_sha3.cost',
  paid: 'plans.paid',
  '2 parsecs': 'timeouts.connect',
}

interface Planted {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly path: string
}

function planted(): Planted[] {
  return Object.entries(files).flatMap(([file, text]) =>
    text.split('\n').flatMap((line, index) => {
      // A mark in front of another on the same line would move it; there is one a line.
      const column = line.indexOf('«') + 1
      const wrong = /«(.*)»/.exec(line)?.[1]
      return wrong === undefined ? [] : [{ file, line: index + 1, column, path: paths[wrong]! }]
    }),
  )
}

async function writeFiles(dir: string, change: (text: string) => string): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), change(text))
}

const byPlace = (a: Planted, b: Planted) => a.file.localeCompare(b.file) || a.line - b.line

t.test('check finds six planted findings at once, each in its place and nothing else', async t => {
  const dir = await tempDir(t)
  await writeFiles(dir, text => text.replaceAll(/[«»]/g, ''))
  const expected = planted().sort(byPlace)
  t.equal(expected.length, 6)

  const json = await run(['check', '--config', dir, '--json'])
  t.equal(json.code, 1)
  const { ok, problems } = JSON.parse(json.stdout) as {
    ok: boolean
    problems: (Planted & { severity: string; message: string; hint?: string })[]
  }
  t.equal(ok, false)
  const errors = problems.filter(({ severity }) => severity === 'error').sort(byPlace)
  t.strictSame(
    errors.map(({ file, line, column, path }) => ({ file, line, column, path })),
    expected,
  )
  for (const { message } of errors) t.match(message, /\S/)
  t.match(errors.find(({ path }) => path === 'routes[0].capabilities[1]')?.hint, /"trace"/)

  const human = await run(['check', '--config', dir])
  t.equal(human.code, 1)
  const lines = `${human.stdout}\n${human.stderr}`.split('\n')
  for (const { file, line, column, path } of expected) {
    const place = `${file}:${line}:${column} ${path}: `
    t.equal(lines.filter(one => one.includes(place)).length, 1, place)
  }
})

t.test('without the findings check is content and counts', async t => {
  const dir = await tempDir(t)
  const rights: Record<string, string> = {
    tracee: 'trace',
    betta: 'beta',
    three: '3',
    paid: 'other',
    '2 parsecs': '2s',
  }
  await writeFiles(dir, text =>
    text.replaceAll(/ +«colour».*\n/g, '').replaceAll(/«(.*?)»/g, (_, wrong: string) => rights[wrong]!),
  )
  const { code, stdout } = await run(['check', '--config', dir, '--json'])
  t.equal(code, 0)
  const { ok, problems, counts } = JSON.parse(stdout)
  t.equal(ok, true)
  t.same(
    problems.filter(({ severity }: any) => severity === 'error'),
    [],
  )
  t.match(counts, { networks: 2, routes: 3, plans: 3 })
  t.ok(counts.methods >= 3)
  t.equal((await run(['check', '--config', dir])).code, 0)
})
