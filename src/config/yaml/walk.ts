import { isScalar, type Alias, type Node, type Pair, type YAMLSeq } from 'yaml'
import type { Finding } from '../finding.ts'
import type { Source } from './parse.ts'
import type { Lookup } from './substitute.ts'
import { nearest } from '../words/suggest.ts'

/** What one walk through a file's nodes keeps on its way. */
export interface Walk {
  readonly source: Source
  readonly lookup: Lookup
  readonly findings: Finding[]
  /** Steps from the root to the node that is looked at. */
  readonly path: (string | number)[]
  /** Anchors passed so far; a later one of the same name takes its place. */
  readonly anchors: Map<string, Node>
  /** Anchored nodes that are being copied. */
  readonly open: Set<Node>
  /** Nodes copied so far. */
  copied: number
  /** Lists and maps around the node that is looked at, those of aliases counted. */
  depth: number
  /** Whether a finding says already that they are too many. */
  isTooDeep: boolean
  /** What each alias stands for. */
  readonly targets: Map<Alias, Node>
  /** Pairs that an empty substitution took away. */
  readonly absent: Set<Pair>
  /** Paths of what those pairs would have said. */
  readonly emptied: Set<string>
  /** The items left of a list that lost some. */
  readonly kept: Map<YAMLSeq, readonly Node[]>
}

/** A walk that has not begun. */
export function newWalk(source: Source, lookup: Lookup): Walk {
  return {
    source,
    lookup,
    findings: [],
    path: [],
    anchors: new Map(),
    open: new Set(),
    copied: 0,
    depth: 0,
    isTooDeep: false,
    targets: new Map(),
    absent: new Set(),
    emptied: new Set(),
    kept: new Map(),
  }
}

/** Notes a finding at a node, which stands at the walk's path. */
export function wrong(walk: Walk, node: unknown, message: string, hint?: string): void {
  const offset = (node as Node | null)?.range?.[0] ?? 0
  walk.findings.push({
    file: walk.source.file,
    path: [...walk.path],
    at: offset,
    message,
    hint,
    spoils: true,
  })
}

/** The node an alias stands for; undefined when no such anchor stands before it. */
export function targetOf(walk: Walk, alias: Alias): Node | undefined {
  const target = walk.targets.get(alias) ?? walk.anchors.get(alias.source)
  if (target !== undefined) {
    walk.targets.set(alias, target)
    return target
  }
  const match = nearest(alias.source, [...walk.anchors.keys()])
  // The name is not shown: it can be the secret itself, unquoted and with a star in front.
  const hint = match === undefined ? 'quote text that begins with "*"' : `did you mean *${match}?`
  wrong(walk, alias, 'no anchor of this name stands before this alias', hint)
  return undefined
}

/** Whether a pair is a merge key (`<<: *anchor`). */
export function isMerge(pair: Pair): boolean {
  return isScalar(pair.key) && pair.key.value === '<<' && pair.key.type === 'PLAIN'
}

/** A pair's key as it is written. */
export function keyName(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : ''
}
