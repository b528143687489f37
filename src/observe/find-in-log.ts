/** Finds a request in access logs: in the file that is written now, and in those that logrotate has made of it, newest first. */
import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { CallLine } from './call-line.ts'

/** Bytes that are read at a time: a short turn of the loop each. */
const PIECE = 256 * 1024
const NEWLINE = 10

/** The lines of a request in the newest file that has any. `progress` hears of each file that is read. */
export async function findInLogs(
  path: string,
  requestId: string,
  progress: (file: string) => void = () => undefined,
): Promise<CallLine[]> {
  for (const file of await filesOf(path)) {
    progress(file)
    const lines = await findIn(file, requestId)
    if (lines.length > 0) return lines
  }
  return []
}

/** `access.log`, and what begins so: `access.log.1`, `access.log-20261123.gz`. */
async function filesOf(path: string): Promise<string[]> {
  const [folder, name] = [dirname(path), basename(path)]
  const names = await readdir(folder).catch(() => [])
  const found: { readonly file: string; readonly at: number }[] = []
  for (const each of names) {
    if (each !== name && !each.startsWith(`${name}.`) && !each.startsWith(`${name}-`)) continue
    const file = join(folder, each)
    const known = await stat(file).catch(() => null)
    if (known?.isFile() === true) found.push({ file, at: each === name ? Infinity : known.mtimeMs })
  }
  return found.sort((a, b) => b.at - a.at).map(({ file }) => file)
}

async function findIn(file: string, requestId: string): Promise<CallLine[]> {
  const needle = Buffer.from(`"requestId":${JSON.stringify(requestId)}`)
  const found: CallLine[] = []
  let rest = Buffer.alloc(0)
  for await (const piece of piecesOf(file)) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece])
    const end = bytes.lastIndexOf(NEWLINE) + 1
    for (let at = bytes.indexOf(needle); at !== -1 && at < end; at = bytes.indexOf(needle, at + 1)) {
      const line = readLine(bytes.subarray(bytes.lastIndexOf(NEWLINE, at) + 1, bytes.indexOf(NEWLINE, at)))
      if (line !== null) found.push(line)
    }
    // A copy: the piece may be large, and its rest is a part of a line.
    rest = Buffer.from(bytes.subarray(end))
  }
  return found
}

function piecesOf(file: string): AsyncIterable<Buffer> {
  const read = createReadStream(file, { highWaterMark: PIECE })
  // What breaks one off is thrown where it is read.
  return file.endsWith('.gz') ? pipeline(read, createGunzip(), () => undefined) : read
}

/** Null for a line that was torn by a crash. */
function readLine(bytes: Buffer): CallLine | null {
  try {
    return JSON.parse(bytes.toString()) as CallLine
  } catch {
    return null
  }
}
