/** The program runs as a few bundled files; whoever reads of a bug wants the place in src/. */
import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import type { SourceMapPayload } from 'node:module'
import { fileURLToPath } from 'node:url'

const PLACE = /(file:\/\/(?:(?!file:\/\/)\S)+\.js):(\d+):(\d+)/g

/** Read with the first bug, since reading them at the start would cost 5 MiB; null for files that have none. */
const maps = new Map<string, SourceMap | null>()

/** A stack with the places that were bundled from src/ named by file and line there. */
export function sourceStack(stack: string): string {
  return stack.replace(PLACE, (place: string, file: string, line: string, column: string) => {
    const found = mapOf(file)?.findEntry(Number(line) - 1, Number(column) - 1)
    if (found === undefined || !('originalSource' in found)) return place
    const { originalSource, originalLine, originalColumn } = found
    return `${originalSource.replace(/^(\.\.\/)+/, '')}:${originalLine + 1}:${originalColumn + 1}`
  })
}

function mapOf(file: string): SourceMap | null {
  const known = maps.get(file)
  if (known !== undefined) return known
  const map = readMap(file)
  maps.set(file, map)
  return map
}

function readMap(file: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(file)}.map`, 'utf8')) as SourceMapPayload)
  } catch {
    return null // a place of Node's or of a package that is not bundled
  }
}
