/** The files of the browser program, read once: the request path touches no disk. */
import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'

/** One file as it is served. */
export interface Asset {
  readonly type: string
  readonly body: Buffer
  readonly gzip: Buffer | null
  readonly etag: string
  /** Whether its name changes with its content. */
  readonly hashed: boolean
  /** A picture, which a browser may open as a page of its own. */
  readonly isImage?: boolean
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The assets of a built dashboard by the path they are served at; fails with one sentence when there is none. */
export function loadAssets(dir: string): ReadonlyMap<string, Asset> {
  const page = join(dir, 'index.html')
  if (!existsSync(page)) throw new Error(`${page} is missing: run npm run build`)
  const names = readdirSync(join(dir, 'assets')).filter(name => extname(name) in TYPES)
  return new Map([
    ['/', read(page, false)],
    ...names.map(name => [`/assets/${name}`, read(join(dir, 'assets', name), true)] as const),
  ])
}

function read(file: string, hashed: boolean): Asset {
  const body = readFileSync(file)
  const gzip = existsSync(`${file}.gz`) ? readFileSync(`${file}.gz`) : null
  return { type: TYPES[extname(file)]!, body, gzip, etag: `"${hash('sha256', body, 'base64url')}"`, hashed }
}
