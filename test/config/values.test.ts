import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { knownText } from '../../build/catalogue.ts'
import { FILES } from '../../src/config/files.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Evaluated } from '../../src/config/yaml/evaluate.ts'
import { keyPlace, valuePlace } from '../../src/config/yaml/place.ts'
import { valuesOf } from '../../src/config/yaml/values.ts'
import { run } from '../support/cli.ts'
import { root } from '../support/paths.ts'

const text = readFileSync(join(root, 'methods.yaml'), 'utf8')
const known = knownText(text)
const nothing = { env: {}, readFile: () => ({ failure: 'no file' }) }

/** What a text says; `from` is what is known beforehand. */
function read(from: typeof known | null, written = text): Evaluated {
  const values = valuesOf('methods.yaml', written, nothing, from)
  if (!('nodes' in values)) throw new Error(values.message)
  return values
}

/** Every path of a value. */
function paths(value: unknown, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  const isList = Array.isArray(value)
  const inner = Object.entries(value).map(([name, one]) =>
    paths(one, [...path, isList ? Number(name) : name]),
  )
  return [path, ...inner.flat()]
}

t.test('what is known of the shipped methods.yaml is what it says', t => {
  const [parsed, prepared] = [read(null), read(known)]
  t.strictSame(prepared.value, parsed.value)
  t.strictSame([...prepared.findings, ...prepared.emptied], [])
  const rows = paths(parsed.value)
  t.ok(rows.length > 1_000, `${rows.length} paths`)
  const places = (file: Evaluated) => rows.map(path => [keyPlace(file, path), valuePlace(file, path)])
  t.strictSame(places(prepared), places(parsed))
  t.end()
})

t.test('names that come from outside are plain keys of it', t => {
  const { families } = read(known).value as { families: Record<string, Record<string, unknown>> }
  for (const map of [families, families['evm']!, families['evm']!['eth_call']!])
    t.equal(Object.getPrototypeOf(map), null)
  t.end()
})

t.test('each caller gets values of its own', t => {
  const { families } = read(known).value as { families: Record<string, unknown> }
  delete families['evm']
  t.ok((read(known).value as { families: Record<string, unknown> }).families['evm'])
  t.end()
})

t.test('any other text is parsed', t => {
  const { value } = read(known, `${text}\n# edited\n`)
  t.strictSame(value, read(null).value)
  t.match(read(known, 'families: { own: {} }').value, { families: { own: {} } })
  t.match(valuesOf('methods.yaml', 'families: [', nothing, known), { file: 'methods.yaml', line: 1 })
  t.end()
})

t.test('nothing is known of a text that the environment has a say in, or that is wrong', t => {
  t.throws(() => knownText('families: ${FAMILIES}'), /not plain/)
  t.throws(() => knownText('families: { a: 1, a: 2 }'), /not plain/)
  t.throws(() => knownText('families: ['), /methods\.yaml:1/)
  t.end()
})

t.test('the built program says where something stands in the shipped methods.yaml', async t => {
  const dir = t.testdir()
  for (const file of FILES) copyFileSync(join(root, file), join(dir, file))
  const plans = readFileSync(join(root, 'plans.yaml'), 'utf8')
  writeFileSync(join(dir, 'plans.yaml'), plans.replace('burst: 1000 ', 'burst: 10 '))
  const { problems } = await loadConfig(dir, {})
  const told = problems.filter(({ file }) => file === 'methods.yaml')
  t.ok(told.length > 0, 'a row costs more than the plan has at once')
  const { code, stdout } = await run(['check', '--config', dir, '--json'])
  t.equal(code, 1)
  const { problems: built } = JSON.parse(stdout) as { problems: typeof problems }
  t.strictSame(
    built.filter(({ file }) => file === 'methods.yaml').map(({ line, column }) => [line, column]),
    told.map(({ line, column }) => [line, column]),
  )
})
