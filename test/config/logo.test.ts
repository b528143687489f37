import t from 'tap'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { readLogo } from '../../src/config/dashboard/logo.ts'

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

/** The beginning of a PNG of this size. */
function png(width: number, height: number): Buffer {
  const size = Buffer.alloc(8)
  size.writeUInt32BE(width, 0)
  size.writeUInt32BE(height, 4)
  return Buffer.concat([PNG, size])
}

t.test('a logo is known by its content, and by its sides whether it has the name in it', async t => {
  const square = { type: 'image/svg+xml', wide: false }
  const wide = { type: 'image/svg+xml', wide: true }
  const cases: readonly (readonly [string, string | Buffer, object])[] = [
    ['a square', '<svg viewBox="0 0 32 32"/>', square],
    ['a word', '<svg viewBox="0 0 96 32"/>', wide],
    ['commas', "<svg viewBox='0,0,96,32'>", wide],
    ['sides', '<svg width="200px" height="40px">', wide],
    ['the box counts', '<svg width="200" height="40" viewBox="0 0 9 9">', square],
    ['no sides', '<svg xmlns="http://www.w3.org/2000/svg"></svg>', square],
    ['nothing but a tag', '<svg>', square],
    [
      'what may precede it',
      '\uFEFF<?xml version="1.0"?>\n<!-- <b> -->\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://x">\n<!---->\n<svg viewBox="0 0 64 32"/>',
      wide,
    ],
    ['a PNG', png(64, 64), { type: 'image/png', wide: false }],
    ['a wide PNG', png(128, 64), { type: 'image/png', wide: true }],
  ]
  const dir = t.testdir(Object.fromEntries(cases.map(([name, content]) => [name, content])))
  for (const [name, content, image] of cases) {
    const logo = await readLogo(name, dir)
    if (logo === null || 'message' in logo) return t.fail(`${name}: ${String(logo?.message)}`)
    t.match(logo.file, { file: join(dir, name), ...image }, name)
    t.ok(Buffer.from(logo.content, 'base64').equals(Buffer.from(content)), `${name} is served as it is`)
  }
  t.equal(await readLogo(undefined, dir), null)
})

t.test('what cannot be shown is a problem of the key', async t => {
  const many = '<!--a-->'.repeat(8000)
  const dir = t.testdir({
    gif: 'GIF89a',
    html: '<!doctype html><svg>',
    text: 'an <svg> in a text',
    latin1: Buffer.from([0x3c, 0x73, 0x76, 0x67, 0x20, 0xe9, 0x3e]),
    short: PNG,
    empty: '',
    comments: `${many}<svgs>`,
    large: `<svg>${' '.repeat(64 * 1024)}</svg>`,
    folder: {},
  })
  execFileSync('mkfifo', [join(dir, 'pipe')])
  const expected: Readonly<Record<string, string>> = {
    gif: 'neither',
    text: 'neither',
    latin1: 'neither',
    short: 'neither',
    empty: 'neither',
    html: 'neither',
    comments: 'neither',
    large: 'has 65 KiB; at most 64 KiB',
    folder: 'a directory',
    pipe: 'not a regular one',
    nowhere: 'does not exist',
  }
  for (const [name, words] of Object.entries(expected)) {
    const found = await readLogo(name, dir)
    t.match(found, { file: 'gateway.yaml', path: ['dashboard', 'logo'], at: 'value' }, name)
    t.match(found, { message: new RegExp(words) }, name)
  }
})
