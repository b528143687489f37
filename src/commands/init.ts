/** `tollgate init`: the smallest configuration that serves some of the networks that ship with the program. */
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'
import { wordsOf } from '../config/families.ts'
import { FILES } from '../config/files.ts'
import { NO_ROUTE } from '../config/kinds.ts'
import type { FileName } from '../config/files.ts'
import type { RawNetwork, RawRoute } from '../config/raw-config.ts'
import { packageFile } from '../config/package-file.ts'
import { missingFolders, removeFolders } from '../stores/sqlite/data-dir.ts'
import { typed } from './output/called-as.ts'
import { fail, print, readArguments, UsageError } from './command.ts'
import type { Command } from './command.ts'
import { listed, unknown } from './unknown.ts'

const options = { network: 'strings' } as const

export const init: Command = {
  options,
  usage: `tollgate init [DIR] --network SLUG… [--json]

Writes networks.yaml, routes.yaml, methods.yaml, plans.yaml and gateway.yaml into DIR (default: here) for some of the
networks that ship with the program, with their public upstreams. --config DIR names the same folder. Nothing that is
there already is written over.

  tollgate init gateway --network ethereum --network solana`,

  run(args, io) {
    const { words, config, lists, json } = readArguments(args, ['dir?'], options)
    const dir = folderOf(words[0], config)
    const wanted = lists['network'] ?? []
    const shipped = shippedNetworks()
    const known = Object.keys(shipped.networks)
    const stranger = wanted.find(slug => !known.includes(slug))
    if (stranger !== undefined) return Promise.resolve(fail(io, json, unknown('network', stranger, known)))
    if (wanted.length === 0) throw new UsageError(`--network is missing; ${listed(known)}`)
    const there = FILES.find(file => existsSync(join(dir, file)))
    if (there !== undefined) return Promise.resolve(fail(io, json, `${join(dir, there)} is there already`))
    const texts = textsFor([...new Set(wanted)], shipped)
    writeAll(dir, texts)
    const wrote = `wrote ${FILES.map(file => join(dir, file)).join(', ')}`
    const method = shipped.networks[wanted[0]!]!.family === 'solana' ? 'getSlot' : 'eth_blockNumber'
    const next = () => [
      wrote,
      'next:',
      `  ${typed(io, ['check'], dir)}`,
      `  ${typed(io, ['account', 'create', 'acme', '--plan', 'free', '--chain', wanted[0]!, '--init'], dir)}`,
      `  ${typed(io, ['serve'], dir)}`,
      `  curl -s http://127.0.0.1:8080/${wanted[0]!}/v1/rpc/$KEY -H 'content-type: application/json' \\`,
      `    -d '{"jsonrpc":"2.0","id":1,"method":"${method}"}'`,
    ]
    print(io, json, { dir, files: FILES }, next, wrote)
    return Promise.resolve(0)
  },
}

/** Writes all files or none: what a disk that is full left of them would keep the next `init` from writing. */
function writeAll(dir: string, texts: Readonly<Record<FileName, string>>): void {
  const missing = foldersToMake(dir)
  const made: string[] = []
  try {
    mkdirSync(dir, { recursive: true })
    for (const file of FILES) writeNew(join(dir, file), texts[file], made)
  } catch (error) {
    for (const path of made) rmSync(path, { force: true })
    removeFolders(missing.filter(folder => existsSync(folder)))
    throw error
  }
}

/** None where a file is in the way: making them says so. */
function foldersToMake(dir: string): readonly string[] {
  try {
    return missingFolders(dir)
  } catch {
    return []
  }
}

/** Node.js does not say which file could not be written once it is open. */
function writeNew(path: string, text: string, made: string[]): void {
  const descriptor = openSync(path, 'wx')
  made.push(path)
  try {
    writeFileSync(descriptor, text)
  } catch (error) {
    throw Object.assign(error as Error, { path })
  } finally {
    closeSync(descriptor)
  }
}

/** The folder that is meant: a word, or `--config`, which is `.` where it is not given. */
function folderOf(word: string | undefined, config: string): string {
  if (word === undefined) return config
  if (word === '') throw new UsageError('DIR is empty; it takes a folder')
  if (config !== '.' && resolve(config) !== resolve(word))
    throw new UsageError(`DIR is "${word}" and --config is "${config}"; name one folder`)
  return word
}

interface Shipped {
  readonly networks: Readonly<Record<string, RawNetwork>>
  readonly routes: readonly RawRoute[]
}

function shippedNetworks(): Shipped {
  const read = (file: FileName): unknown => parse(readFileSync(packageFile(file), 'utf8'))
  const { networks } = read('networks.yaml') as Pick<Shipped, 'networks'>
  const { routes } = read('routes.yaml') as Pick<Shipped, 'routes'>
  return { networks, routes }
}

function textsFor(
  slugs: readonly string[],
  { networks, routes }: Shipped,
): Readonly<Record<FileName, string>> {
  const rare = new Set(slugs.flatMap(slug => wordsOf(networks[slug]!.family).rare))
  return {
    'networks.yaml': `# What clients see: a host for each network. http://127.0.0.1:{port}/{slug} tells them apart by path instead.
# {port} is the port of listen in gateway.yaml.
baseUrl: \${TOLLGATE_BASE_URL:-http://{subdomain}.localhost:{port}}

# public: true under a network serves /v1/rpc/public without a key, on the plan named public.
networks:
${slugs.map(slug => networkText(slug, networks[slug]!)).join('')}`,
    'routes.yaml': `# Ways to your nodes. These are public endpoints with limits of their own: set the variables to nodes of yours, both of a
# pair (an unset ..._WS would still be the public one; ETHEREUM_A_WS= is none). More routes of a network share its
# calls; one with a higher priority number is a spare. What a node has besides:
#   capabilities: [archive, trace, debug, txpool]
routes:
${slugs.map(slug => routeText(routes.find(({ network }) => network === slug)!)).join('')}`,
    'methods.yaml': METHODS,
    'plans.yaml': PLANS,
    'gateway.yaml': GATEWAY + acknowledged([...rare]),
  }
}

/** Without `public`: who serves callers without a key should have said so. */
function networkText(slug: string, { name, family, dialect, chainId, genesisHash }: RawNetwork): string {
  const keys = { name, family, dialect, chainId, genesisHash }
  const lines = Object.entries(keys).flatMap(([key, value]) =>
    value === undefined ? [] : [`    ${key}: ${value}\n`],
  )
  return `  ${slug}:\n${lines.join('')}`
}

function routeText({ id, network, http, ws }: RawRoute): string {
  return `  - id: ${id}\n    network: ${network}\n    http: ${http}\n${ws === undefined ? '' : `    ws: ${ws}\n`}`
}

const METHODS = `# What exists, what it costs, who may call it: the rows that ship with the program.
extends: catalogue

# Rows of your own are laid over those of the same name, key by key; null removes a row, or a key of it:
#
# families:
#   evm:
#     eth_getLogs: { cost: 5 }
#     eth_feeHistory: null
`

const PLANS = `# What accounts may do, and how much of it.
plans:
  # Of /v1/rpc/public, for each client address.
  public:
    tiers: [any]
    rate: { perSecond: 10, burst: 30 }
    maxBatch: 20
    ws: { connections: 2, subscriptions: 5 }
  free:
    tiers: [any]
    rate: { perSecond: 25, burst: 50 }
    quota: { requests: 3000000, every: 30d }
  paid:
    tiers: [any, paid]
    rate: { perSecond: 500, burst: 1000 }
    maxBatch: 1000
    ws: { connections: 100, subscriptions: 1000 }
`

const GATEWAY = `# This process. Every key has a default, so this file may be absent.
# Reached from this machine alone: 0.0.0.0:8080 lets others in.
listen: \${TOLLGATE_LISTEN:-127.0.0.1:8080}
# Metrics, status and reload, without a password: keep it on loopback.
admin: \${TOLLGATE_ADMIN:-127.0.0.1:9464}
# Only keys of endpoints that you create manage their account with service_* calls, and those that they let manage it.
management: { keys: first }
# Accounts and usage; relative to this directory.
dataDir: \${TOLLGATE_DATA:-./data}
`

function acknowledged(rare: readonly string[]): string {
  if (rare.length === 0) return ''
  return `
# Public endpoints have none of these. Remove what your own nodes have.
acknowledge: [${rare.map(capability => `${NO_ROUTE}${capability}`).join(', ')}]
`
}
