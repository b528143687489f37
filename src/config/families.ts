/** What each family of networks lets the files say: data beside the schemas, so that no check asks which family it is. */
import type { Family } from './types.ts'
import type { RawNetwork } from './raw-config.ts'

/** What the files may say of one family. */
export interface FamilyWords {
  /** What the names of its rules look like; `hint` says what to write. */
  readonly names: { readonly pattern: RegExp; readonly hint: string }
  /** Whether these names are verbs and paths of an HTTP API. */
  readonly arePaths: boolean
  /** The keys that mean something in its rules; null is all of them. */
  readonly ruleKeys: ReadonlySet<string> | null
  /** Keys of its rules that mean nothing although `ruleKeys` has them. */
  readonly unusedKeys: readonly string[]
  /** How a network of it is called in a sentence about a key that means nothing there. */
  readonly called: string
  /** What identifies its chains. */
  readonly chainId: 'number' | 'text'
  /** Keys of a network that mean nothing here, with what to do about them. */
  readonly unused: Readonly<Partial<Record<keyof RawNetwork, string>>>
  /** The names that its nodes have for final blocks, the usual one first. */
  readonly finalityTags: readonly ('finalized' | 'safe')[]
  /** Codes of errors that are the outcome of an execution, which no row of `errors` makes anything else of. */
  readonly outcomes: readonly number[]
  /** Capabilities that rules of the shipped catalogue need and public endpoints do not have. */
  readonly rare: readonly string[]
}

const NAMES = {
  pattern: /^[A-Za-z0-9_]+\*?$/,
  hint: 'use letters, digits and _, and a * at the end for a prefix',
}
const REMOVE = 'remove it'
const QUESTIONS = { head: REMOVE, identity: REMOVE } as const
/** Of no other family is it known what a node says that has a transaction already. */
const NO_BROADCAST = { broadcast: REMOVE } as const

/** Whether a rule of verbatim HTTP may be repeated follows from its verb; the rest is about JSON-RPC. */
const HTTP_KEYS = 'cost tier needs timeout enabled networks dialects'
/** Without what belongs to the subscriptions, filters and tracers of EVM nodes, and to Solana's commitments. */
const JSONRPC_KEYS = `${HTTP_KEYS} params block reads retry sends hedge share answer nullIsLag jsonParams maxRange cache shows is`

const WORDS = new Map<Family, FamilyWords>([
  [
    'evm',
    {
      names: NAMES,
      arePaths: false,
      ruleKeys: null,
      called: 'an EVM network',
      unusedKeys: [],
      chainId: 'number',
      unused: QUESTIONS,
      outcomes: [3, -32015],
      rare: ['debug', 'trace', 'txpool', 'erigon', 'bundler', 'block-access-lists'],
      finalityTags: ['finalized', 'safe'],
    },
  ],
  [
    'solana',
    {
      names: NAMES,
      arePaths: false,
      ruleKeys: null,
      called: 'a Solana network',
      unusedKeys: ['is', 'broadcast'],
      chainId: 'text',
      unused: { ...QUESTIONS, ...NO_BROADCAST },
      outcomes: [],
      rare: [],
      finalityTags: ['finalized'],
    },
  ],
  [
    'http',
    {
      names: {
        pattern: /^(GET|POST|PUT|PATCH|DELETE|HEAD) \/[^\s?#*]*\*?$/,
        hint: 'write METHOD /path, and a * at the end for a prefix',
      },
      arePaths: true,
      ruleKeys: new Set(HTTP_KEYS.split(' ')),
      called: 'a verbatim HTTP network',
      unusedKeys: [],
      chainId: 'text',
      unused: { ...QUESTIONS, ...NO_BROADCAST, finality: REMOVE, cache: REMOVE, share: REMOVE },
      outcomes: [3, -32015],
      rare: [],
      finalityTags: [],
    },
  ],
  [
    'jsonrpc',
    {
      names: {
        pattern: /^[A-Za-z0-9_.:-]+\*?$/,
        hint: 'use letters, digits and _ . : -, and a * at the end for a prefix',
      },
      arePaths: false,
      ruleKeys: new Set(JSONRPC_KEYS.split(' ')),
      unusedKeys: [],
      called: 'a network of family jsonrpc',
      chainId: 'text',
      unused: { ...NO_BROADCAST, genesisHash: 'write identity' },
      outcomes: [],
      rare: [],
      finalityTags: [],
    },
  ],
])

/** Every family, in the order in which problems are told. */
export function familyNames(): readonly Family[] {
  return [...WORDS.keys()]
}

/** What the files may say of a family. */
export function wordsOf(family: Family): FamilyWords {
  return WORDS.get(family)!
}

/** Lets the files speak of one more family. The schemas are read once, so this comes before the first configuration. */
export function addWords(family: Family, words: FamilyWords): void {
  WORDS.set(family, words)
}
