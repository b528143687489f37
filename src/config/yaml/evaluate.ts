import { isAlias, isMap, isScalar, isSeq, type Alias, type Node, type Pair, type Scalar } from 'yaml'
import type { YAMLMap, YAMLSeq } from 'yaml'
import type { FileName } from '../files.ts'
import { DEEPEST, TOO_DEEP } from './parse.ts'
import type { Source } from './parse.ts'
import { formatPath } from './path.ts'
import { emptyRecord } from '../record.ts'
import { retype } from './retype.ts'
import { substitute, type Lookup } from './substitute.ts'
import { isMerge, keyName, newWalk, targetOf, wrong, type Walk } from './walk.ts'

/** A file as plain values. */
export interface Evaluated extends Pick<Walk, 'findings' | 'emptied'> {
  readonly file: FileName
  readonly value: unknown
  /** What it takes to find the node of a value again. */
  readonly nodes: () => Nodes
}

/** The nodes of a file, and what was made of them. */
export interface Nodes extends Source, Pick<Walk, 'targets' | 'absent' | 'kept'> {}

/** Stops aliases of aliases from growing until the memory is full. */
const MOST_COPIED = 1_000_000

/** Takes the place of a value that an empty substitution took away. */
const ABSENT = Symbol('absent')

/** Takes the place of an alias inside what it refers to, and of what nests too deeply. */
const ENDLESS = Symbol('endless')

/** Resolves aliases, merge keys and `${…}` of a parsed file. */
export function evaluate(source: Source, lookup: Lookup): Evaluated {
  const walk = newWalk(source, lookup)
  const value = valueOf(walk, source.root)
  const { findings, targets, absent, kept, emptied } = walk
  // An empty file says nothing, which is not the same as saying something wrong.
  const plain = value === null || value === ABSENT ? emptyRecord() : value
  const nodes = { ...source, targets, absent, kept }
  return { file: source.file, value: plain, findings, emptied, nodes: () => nodes }
}

function valueOf(walk: Walk, node: unknown): unknown {
  if (walk.depth > DEEPEST) {
    // Every further one would say the same.
    if (!walk.isTooDeep) wrong(walk, node, TOO_DEEP)
    walk.isTooDeep = true
    return ENDLESS
  }
  walk.depth++
  const value = valueWithin(walk, node)
  walk.depth--
  return value
}

function valueWithin(walk: Walk, node: unknown): unknown {
  if (isAlias(node)) return copyOf(walk, node)
  if (walk.open.size > 0) walk.copied++
  else if ((isScalar(node) || isMap(node) || isSeq(node)) && node.anchor !== undefined)
    walk.anchors.set(node.anchor, node)
  if (isMap(node)) return mapOf(walk, node)
  if (isSeq(node)) return listOf(walk, node)
  if (!isScalar(node)) return null
  return typeof node.value === 'string' && node.value.includes('${')
    ? replaced(walk, node, node.value)
    : node.value
}

function replaced(walk: Walk, node: Scalar, text: string): unknown {
  const result = substitute(text, walk.lookup)
  if (!('text' in result)) {
    wrong(walk, node, result.message, result.hint)
    return text
  }
  const plain = node.type === 'PLAIN' && node.tag === undefined
  const value = plain ? result.text.trim() : result.text
  if (value === '') return ABSENT
  return plain ? retype(value) : value
}

function copyOf(walk: Walk, alias: Alias): unknown {
  const target = targetOf(walk, alias)
  if (target === undefined) return null
  const endless = walk.open.has(target)
  if (endless || walk.copied > MOST_COPIED) {
    if (endless) wrong(walk, alias, `*${alias.source} stands inside what it refers to`)
    // Every further alias would say the same.
    else if (walk.copied < Infinity) wrong(walk, alias, 'these aliases grow too large')
    if (!endless) walk.copied = Infinity
    // Whoever looks a place up through this alias must not run in circles either.
    walk.targets.delete(alias)
    return ENDLESS
  }
  walk.open.add(target)
  // An alias is no level.
  walk.depth--
  const value = valueOf(walk, target)
  walk.depth++
  walk.open.delete(target)
  // Places are looked up through aliases, too.
  if (value === ENDLESS) walk.targets.delete(alias)
  return value
}

function listOf(walk: Walk, list: YAMLSeq): unknown[] {
  const values: unknown[] = []
  const kept: Node[] = []
  for (const item of list.items as Node[]) {
    walk.path.push(values.length)
    const value = valueOf(walk, item)
    walk.path.pop()
    if (value === ABSENT || value === ENDLESS) continue
    values.push(value)
    kept.push(item)
  }
  if (kept.length < list.items.length) walk.kept.set(list, kept)
  return values
}

function mapOf(walk: Walk, map: YAMLMap): Record<string, unknown> {
  const result = emptyRecord<unknown>()
  const merged: Record<string, unknown>[] = []
  const seen = new Set<string>()
  for (const pair of map.items) {
    if (isMerge(pair)) merged.push(...mergedBy(walk, pair))
    else setPair(walk, pair, result, seen)
  }
  for (const from of merged) for (const name in from) if (!(name in result)) result[name] = from[name]
  return result
}

function setPair(walk: Walk, pair: Pair, result: Record<string, unknown>, seen: Set<string>): void {
  const name = keyName(pair)
  walk.path.push(name)
  if (seen.has(name)) wrong(walk, pair.key, 'duplicate key')
  else {
    seen.add(name)
    const value = valueOf(walk, pair.value)
    if (value === ABSENT) {
      walk.absent.add(pair)
      walk.emptied.add(formatPath(walk.path))
    } else if (value !== ENDLESS) result[name] = value
  }
  walk.path.pop()
}

/** The maps that `<<` merges, the strongest first. */
function mergedBy(walk: Walk, pair: Pair): Record<string, unknown>[] {
  const maps: Record<string, unknown>[] = []
  for (const source of mergeSources(walk, pair)) {
    const target = isAlias(source) ? targetOf(walk, source) : source
    const value = isMap(target) ? valueOf(walk, source) : null
    // What says nothing here is an alias that was told already: to nothing, or to itself.
    if (value !== null && value !== ENDLESS) maps.push(value as Record<string, unknown>)
    else if (target !== undefined && !isMap(target))
      wrong(walk, isAlias(pair.value) ? pair.value : (source ?? pair.key), 'only a map can be merged')
  }
  return maps
}

function mergeSources(walk: Walk, pair: Pair): unknown[] {
  const value = isAlias(pair.value) ? targetOf(walk, pair.value) : pair.value
  if (isSeq(value)) return value.items
  return isAlias(pair.value) && value === undefined ? [] : [pair.value]
}
