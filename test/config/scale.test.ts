import { readFileSync } from 'node:fs'
import t from 'tap'
import { load } from './directory.ts'

const methods = readFileSync(new URL('../../examples/devnet/methods.yaml', import.meta.url), 'utf8')
const plans = readFileSync(new URL('../../examples/devnet/plans.yaml', import.meta.url), 'utf8')

const networks = ['baseUrl: http://{subdomain}.localhost:8080', 'networks:']
const routes = ['routes:']
for (let n = 0; n < 1000; n++) {
  networks.push(`  net${n}: { name: Net ${n}, family: evm, chainId: ${n + 1}, public: true }`)
  for (let r = 0; r < 10; r++)
    routes.push(
      `  - id: net${n}-r${r}`,
      `    network: net${n}`,
      `    http: https://node-${n}-${r}.example.com/v1/0123456789abcdef`,
      `    ws: wss://node-${n}-${r}.example.com/v1/0123456789abcdef`,
      '    capabilities: [archive, trace, debug]',
      '    methods: { deny: [eth_getProof] }',
    )
}

// Some two seconds of CPU on the machine this was written on, nearly all of it in the YAML parser.
const LIMIT_MS = 15_000

async function timed(texts: Parameters<typeof load>[0]) {
  const start = process.cpuUsage()
  const loaded = await load({ plans, methods, networks: networks.join('\n'), ...texts })
  const { user, system } = process.cpuUsage(start)
  return { ...loaded, ms: (user + system) / 1_000 }
}

t.test('1 000 networks with 10 routes each', async t => {
  const { config, problems, ms } = await timed({ routes: routes.join('\n') })
  t.same(problems, [])
  t.equal(config?.routes.length, 10_000)
  t.ok(ms < LIMIT_MS, `${ms} ms`)
})

t.test('the same with four findings in every route', async t => {
  let n = 0
  const wrong = routes
    .join('\n')
    .replace(/network: net/g, () => `network: nwt${n++}x`)
    .replace(/trace,/g, () => `tracee${n++},`)
    .replace(/methods:/g, 'metods:')
    .replace(/https:/g, 'htps:')
  const { problems, ms } = await timed({ routes: wrong })
  t.equal(problems.length, 40_000)
  t.ok(ms < LIMIT_MS, `${ms} ms`)
})

t.test('and with an unknown method in every route', async t => {
  let n = 0
  const { problems, ms } = await timed({
    routes: routes.join('\n').replace(/eth_getProof/g, () => `eth_getProoof${n++}`),
  })
  t.equal(problems.length, 10_000)
  t.ok(ms < LIMIT_MS, `${ms} ms`)
})
