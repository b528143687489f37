import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml'
import type { Evaluated, Nodes } from './evaluate.ts'
import { placeOf } from './parse.ts'
import type { Path } from './path.ts'
import { isMerge, keyName } from './walk.ts'

/** A line and a column, both counted from 1. */
export interface Place {
  readonly line: number
  readonly column: number
}

/** Where the key of `path` stands; of a list item its beginning; of a path that is not there, the nearest parent's. */
export function keyPlace(file: Evaluated, path: Path): Place {
  const nodes = file.nodes()
  const spot = find(nodes, path)
  return spot === null ? { line: 1, column: 1 } : placeOf(nodes.lines, offsetOf(spot.key))
}

/** Where the value of `path` stands; the key when nothing is written behind it. */
export function valuePlace(file: Evaluated, path: Path): Place {
  const nodes = file.nodes()
  const spot = find(nodes, path) ?? { key: nodes.root, value: nodes.root }
  const nothing = isScalar(spot.value) && spot.value.type === 'PLAIN' && spot.value.source === ''
  const written = spot.value !== null && !nothing
  return placeOf(nodes.lines, offsetOf(written ? spot.value : spot.key))
}

interface Spot {
  readonly key: Node | null
  readonly value: Node | null
}

function offsetOf(node: Node | null): number {
  return node?.range?.[0] ?? 0
}

/** The last step of the path that exists; null for the document itself. */
function find(nodes: Nodes, path: Path): Spot | null {
  let spot: Spot | null = null
  let node: Node | null = nodes.root
  for (const step of path) {
    const next = stepInto(nodes, node, step)
    if (next === null) break
    spot = next
    node = next.value
  }
  return spot
}

function stepInto(nodes: Nodes, from: Node | null, step: string | number): Spot | null {
  const node = isAlias(from) ? nodes.targets.get(from) : from
  if (isMap(node)) return inMap(nodes, node, String(step))
  if (!isSeq(node)) return null
  const items = nodes.kept.get(node) ?? (node.items as Node[])
  const item = items[Number(step)]
  return item === undefined ? null : { key: item, value: item }
}

function inMap(nodes: Nodes, map: YAMLMap, name: string): Spot | null {
  const own = map.items.find(pair => !isMerge(pair) && keyName(pair) === name && !nodes.absent.has(pair))
  if (own !== undefined) return { key: own.key as Node, value: own.value as Node | null }
  for (const pair of map.items.filter(isMerge)) {
    const merged = inMerged(nodes, pair, name)
    if (merged !== null) return merged
  }
  return null
}

function inMerged(nodes: Nodes, pair: Pair, name: string): Spot | null {
  const value = isAlias(pair.value) ? nodes.targets.get(pair.value) : pair.value
  for (const source of isSeq(value) ? value.items : [value]) {
    const map = isAlias(source) ? nodes.targets.get(source) : source
    const found = isMap(map) ? inMap(nodes, map, name) : null
    if (found !== null) return found
  }
  return null
}
