import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { loadConfig, type Loaded } from '../../src/config/load.ts'
import { formatProblem } from '../../src/config/problem.ts'

/** Texts of a configuration directory by stem; null leaves a file out. */
export type Texts = Partial<Record<'networks' | 'routes' | 'methods' | 'plans' | 'gateway', string | null>>

type Env = Record<string, string | undefined>

/** A small configuration without a finding. */
export const VALID = {
  networks: `baseUrl: http://{subdomain}.localhost:8080
networks:
  ethereum: { name: Ethereum Mainnet, family: evm, chainId: 1 }
  solana: { name: Solana Mainnet, family: solana, chainId: solana-mainnet }
`,
  routes: `routes:
  - id: ethereum-a
    network: ethereum
    http: http://127.0.0.1:8545
    capabilities: [archive, trace]
  - { id: solana-a, network: solana, http: 'http://127.0.0.1:8899' }
`,
  methods: `families:
  evm:
    eth_call: {}
    eth_getProof: { cost: 3 }
    trace_block: { cost: 20, tier: paid, needs: [trace] }
    eth_subscribe: { needs: [ws], subscribe: eth_unsubscribe }
  solana:
    getSlot: {}
`,
  plans: `plans:
  free: { tiers: [any], rate: { perSecond: 25, burst: 50 } }
  paid: { tiers: [any, paid], rate: { perSecond: 500, burst: 1000 } }
`,
  gateway: null,
} satisfies Texts

/** Writes a directory of the valid files with some replaced. It is gone after the test file. */
export function directory(texts: Texts): string {
  const dir = mkdtempSync(join(tmpdir(), 'config-'))
  t.teardown(() => rmSync(dir, { recursive: true }))
  for (const [stem, text] of Object.entries({ ...VALID, ...texts }))
    if (text !== null) writeFileSync(join(dir, `${stem}.yaml`), text)
  return dir
}

/** Loads such a directory, with nothing in the environment but what is given. */
export function load(texts: Texts, env: Env = {}): Promise<Loaded> {
  return loadConfig(directory(texts), env)
}

/** The problem lines of such a directory. */
export async function problemsOf(texts: Texts, env: Env = {}): Promise<string[]> {
  return (await load(texts, env)).problems.map(formatProblem)
}

/** A valid networks.yaml with some lines under `ethereum`, indented by four. */
export function ethereum(...lines: string[]): string {
  const own = ['name: Ethereum Mainnet', 'family: evm', 'chainId: 1'].filter(
    line => !lines.some(other => other.startsWith(line.split(' ')[0]!)),
  )
  const all = [...own, ...lines].map(line => `    ${line}\n`).join('')
  return `baseUrl: http://{subdomain}.localhost:8080\nnetworks:\n  solana: { name: S, family: solana, chainId: s }\n  ethereum:\n${all}`
}

/** A valid routes.yaml with one route and some lines more, indented by four. The first of them is line 5. */
export function route(...lines: string[]): string {
  const all = lines.map(line => `    ${line}\n`).join('')
  return `routes:\n  - id: a\n    network: ethereum\n    http: http://127.0.0.1:1\n${all}`
}

/** A valid methods.yaml with some lines more under `evm`, indented by four. The first of them is line 7. */
export function rules(...lines: string[]): string {
  const all = lines.map(line => `    ${line}\n`).join('')
  return VALID.methods.replace('  solana:\n', `${all}  solana:\n`)
}
