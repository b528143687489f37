/** What the built program must not hold, whatever its packages do. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { root } from '../support/paths.ts'

const dist = join(root, 'dist')
const files = readdirSync(dist).filter(name => name.endsWith('.js'))

t.test('bug: a class that extends String made each scanned byte of a call three times as slow', t => {
  t.ok(files.includes('main.js'))
  const texts = files.map(name => readFileSync(join(dist, name), 'utf8'))
  t.ok(
    texts.some(text => text.includes('VerbatimString')),
    'what ioredis has in its place',
  )
  t.strictSame(
    files.filter((_, i) => /extends\s+String\b/.test(texts[i]!)),
    [],
  )
  t.end()
})

t.test('what exports traces is one chunk, which nothing loads that is not asked for it', t => {
  const texts = new Map(files.map(name => [name, readFileSync(join(dist, name), 'utf8')]))
  const having = files.filter(name =>
    /OTLPExportDelegate|ReadableSpan|opentelemetry\.io/.test(texts.get(name)!),
  )
  t.equal(having.length, 1)
  const [chunk] = having
  t.match(chunk, /^otlp-/)
  const naming = files.filter(name => name !== chunk && texts.get(name)!.includes(chunk!))
  t.ok(naming.length > 0)
  for (const name of naming) {
    const all = texts.get(name)!.split(chunk!).length - 1
    const lazy = texts.get(name)!.split(`import("./${chunk!}")`).length - 1
    t.equal(lazy, all, `${name} imports it when it is needed`)
  }
  t.end()
})
