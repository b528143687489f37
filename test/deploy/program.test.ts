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
