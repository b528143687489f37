/** The families by the name that networks.yaml has. */
import { addWords } from '../config/families.ts'
import type { FamilyWords } from '../config/families.ts'
import type { Network } from '../snapshot/types.ts'
import { evm } from './evm/evm.ts'
import type { Family } from './family.ts'
import { http } from './http/http.ts'
import { jsonrpc } from './jsonrpc/jsonrpc.ts'
import { solana } from './solana/solana.ts'

type Name = Network['family']

const FAMILIES: Record<Name, Family> = { evm, solana, http, jsonrpc }

/** What is known of a network's kind of chain. */
export function familyOf({ family }: Pick<Network, 'family'>): Family {
  return FAMILIES[family]
}

/** Whether calls of one network are calls of the other, so that an endpoint may go from one to the other. */
export function speakAlike(one: Pick<Network, 'family'>, other: Pick<Network, 'family'>): boolean {
  return one.family === other.family
}

/**
 * Adds a family, before the first configuration is read: what it knows of its nodes, and what the files may say of it. A thread that
 * reads the files, as the one that loads an edit does, has families of its own.
 */
export function addFamily(name: string, family: Family, words: FamilyWords): void {
  FAMILIES[name as Name] = family
  addWords(name as Name, words)
}
