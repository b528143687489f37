/** Reads the logo that gateway.yaml names. */
import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { LogoFile } from './types.ts'
import type { Finding } from '../finding.ts'
import { decode } from '../read.ts'
import { fileFault } from '../words/file-words.ts'

/** Bytes; every visitor loads it. */
const MOST = 64 * 1024
/** How much wider than high a logo with a name in it is, at least. */
const WIDE = 2

/** A logo, and its bytes as base64. */
export interface Logo {
  readonly file: LogoFile
  readonly content: string
}

/** The logo, or why it cannot be shown; null where none is named. */
export async function readLogo(written: string | undefined, dir: string): Promise<Logo | Finding | null> {
  if (written === undefined) return null
  const file = resolve(dir, written)
  const bytes = await read(file)
  if (typeof bytes === 'string') return finding(bytes)
  const image = pngOf(bytes) ?? svgOf(bytes)
  if (image === null) return finding('the file is neither an SVG nor a PNG')
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { file: { file, ...image, sha256 }, content: bytes.toString('base64') }
}

async function read(file: string): Promise<Buffer | string> {
  try {
    const status = await stat(file)
    // Reading a pipe would wait for whoever writes it.
    if (!status.isFile() && !status.isDirectory()) return 'the file is not a regular one'
    if (status.size > MOST)
      return `the file has ${Math.ceil(status.size / 1024)} KiB; at most 64 KiB are served`
    return await readFile(file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? 'the file does not exist' : `the file cannot be read: ${fileFault(error)}`
  }
}

type Image = Pick<LogoFile, 'type' | 'wide'>

const PNG = Buffer.from('89504e470d0a1a0a', 'hex')

/** A PNG begins with its signature, and a chunk with width and height. */
function pngOf(bytes: Buffer): Image | null {
  if (bytes.length < 24 || !bytes.subarray(0, 8).equals(PNG)) return null
  return { type: 'image/png', wide: bytes.readUInt32BE(16) >= WIDE * bytes.readUInt32BE(20) }
}

/** The root element of an SVG, behind what may precede it. */
const ROOT = /^(?:\s|<\?(?:(?!\?>)[^])*\?>|<!--(?:(?!-->)[^])*-->|<!DOCTYPE[^>]*>)*<svg(\s[^>]*)?>/

function svgOf(bytes: Buffer): Image | null {
  let root
  try {
    root = ROOT.exec(decode(bytes))
  } catch {
    return null
  }
  if (root === null) return null
  const attributes = root[1] ?? ''
  const box =
    /\sviewBox\s*=\s*["']([^"']*)/
      .exec(attributes)?.[1]
      ?.trim()
      .split(/[\s,]+/) ?? []
  const side = (name: string): string | undefined =>
    new RegExp(`\\s${name}\\s*=\\s*["']\\s*([0-9.]+)`).exec(attributes)?.[1]
  const [width, height] = [Number(box[2] ?? side('width')), Number(box[3] ?? side('height'))]
  return { type: 'image/svg+xml', wide: width >= WIDE * height }
}

function finding(message: string): Finding {
  return { file: 'gateway.yaml', path: ['dashboard', 'logo'], at: 'value', message }
}
