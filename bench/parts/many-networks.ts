import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { configFor } from './processes.ts'

const methods = new URL('../../examples/devnet/methods.yaml', import.meta.url)

/** How large a configuration is. */
export interface Size {
  readonly networks: number
  /** Of each network. */
  readonly routes: number
  /** Of the first route of each network. */
  readonly weight?: number
}

/** A configuration of networks `net0`, `net1`, … with the methods of the devnet, whose routes all lead to one upstream. */
export function manyNetworks(
  upstream: string,
  { networks, routes, weight = 1 }: Size,
): Record<string, string> {
  const slugs = Array.from({ length: networks }, (_, n) => `net${n}`)
  return {
    ...configFor(upstream),
    'networks.yaml': [
      'baseUrl: http://127.0.0.1:1/{slug}',
      'networks:',
      ...slugs.map((slug, n) => `  ${slug}: { name: Net ${n}, family: evm, chainId: 1 }`),
    ].join('\n'),
    'routes.yaml': [
      'routes:',
      ...slugs.flatMap(slug =>
        Array.from(
          { length: routes },
          (_, r) =>
            `  - { id: ${slug}-r${r}, network: ${slug}, http: "http://${upstream}", capabilities: [archive, trace, debug], weight: ${r === 0 ? weight : 1} }`,
        ),
      ),
    ].join('\n'),
    'methods.yaml': readFileSync(fileURLToPath(methods), 'utf8'),
    'plans.yaml':
      'plans: { bench: { tiers: [any, paid], rate: { perSecond: 1000000, burst: 1000000 }, quota: { requests: 1000000000, every: month }, maxBatch: 1000 } }',
  }
}
