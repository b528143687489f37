import { defaultSubdomain } from '../link/networks.ts'
import { wordsOf } from '../families.ts'
import type { Finality } from '../answers.ts'
import type { NetworkConfig, NodeQuestion } from '../types.ts'
import { duration } from '../words/units.ts'
import type { RawNetwork, RawQuestion } from '../raw-config.ts'
import { buildRules } from './rules.ts'

/** The networks with their defaults, in the order of the file. */
export function buildNetworks(networks: Readonly<Record<string, RawNetwork>>): NetworkConfig[] {
  return Object.entries(networks).map(([slug, network]) => ({
    slug,
    name: network.name,
    family: network.family,
    dialect: network.dialect ?? null,
    chainId: network.chainId,
    genesisHash: network.genesisHash ?? null,
    head: network.head === undefined ? null : buildQuestion(network.head),
    identity:
      network.identity === undefined
        ? null
        : { ...buildQuestion(network.identity), equals: network.identity.equals },
    subdomain: network.subdomain ?? defaultSubdomain(slug),
    public: network.public ?? false,
    devnet: network.devnet ?? false,
    stateWindow: network.stateWindow ?? 128,
    maxLag: buildLag(network.maxLag ?? '30s'),
    hedge: network.hedge ?? false,
    broadcast: network.broadcast ?? 1,
    share: network.share ?? true,
    finality: buildFinality(network),
    cache: buildCache(network),
    methods: buildRules(network.methods),
  }))
}

function buildQuestion({ method, params, at }: RawQuestion): NodeQuestion {
  return { method, params: params ?? [], at: at === undefined ? [] : at.split('.').slice(1) }
}

function buildFinality({
  family,
  finality = wordsOf(family).finalityTags[0] ?? 'none',
}: RawNetwork): Finality | null {
  return finality === 'none' ? null : finality
}

function buildCache({ finality, cache = true }: RawNetwork): NetworkConfig['cache'] {
  if (cache === false || finality === 'none') return null
  return { tip: cache === true ? 0 : duration(cache.tip ?? '0s')! }
}

function buildLag(written: string | number): NetworkConfig['maxLag'] {
  return typeof written === 'number'
    ? { unit: 'blocks', value: written }
    : { unit: 'ms', value: duration(written)! }
}
