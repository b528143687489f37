import { familyNames } from '../families.ts'
import type { FileName } from '../files.ts'
import type { Path } from '../yaml/path.ts'
import type { Family } from '../types.ts'
import type { Partly, RawConfig, RawRule } from '../raw-config.ts'

/** A rule as it is left after the shape was checked. */
export type SomeRule = Partly<RawRule>

/** One rule, of a family or of a network, with its place. */
export interface Row {
  readonly file: FileName
  readonly path: Path
  readonly family: Family | undefined
  /** The network whose own rule it is; null for a family's. */
  readonly network: string | null
  /** Whether that network is one to test on. */
  readonly devnet: boolean
  readonly name: string
  /** As written. */
  readonly rule: SomeRule
  /** As it acts: laid over the family's rule of the same name. */
  readonly whole: SomeRule
}

/** All rules of all families and networks. */
export function rowsOf(written: Partly<RawConfig>): readonly Row[] {
  return [...familyNames().flatMap(family => familyRows(written, family)), ...networkRows(written)]
}

function familyRows(written: Partly<RawConfig>, family: Family): Row[] {
  return named(written.methods?.families?.[family]).map(([name, rule]) => ({
    file: 'methods.yaml',
    path: ['families', family, name],
    family,
    network: null,
    devnet: false,
    name,
    rule,
    whole: rule,
  }))
}

function networkRows(written: Partly<RawConfig>): Row[] {
  return named(written.networks?.networks).flatMap(([slug, network]) =>
    named(network.methods).map(([name, rule]) => {
      const inherited = network.family && written.methods?.families?.[network.family]?.[name]
      return {
        file: 'networks.yaml' as const,
        path: ['networks', slug, 'methods', name],
        family: network.family,
        network: slug,
        devnet: network.devnet === true,
        name,
        rule,
        whole: { ...inherited, ...rule },
      }
    }),
  )
}

/** The entries of a record that are there. */
export function named<T>(record: Readonly<Record<string, T | undefined>> | undefined): [string, T][] {
  return Object.entries(record ?? {}).filter((entry): entry is [string, T] => entry[1] !== undefined)
}
