import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import t from 'tap'
import { FILES } from '../../src/config/files.ts'

type Schema = Readonly<Record<string, unknown>>

const schemas = FILES.map(file => {
  const name = file.replace('.yaml', '.schema.json')
  const text = readFileSync(new URL(`../../schema/${name}`, import.meta.url), 'utf8')
  return { name, schema: JSON.parse(text) as Schema }
})

/** Every schema of a key, of an item, of a name or of a definition in a schema, with its path; those by reference once. */
function* keysOf(schema: unknown, path: string): Generator<[string, Schema]> {
  if (typeof schema !== 'object' || schema === null) return
  for (const [keyword, inner] of Object.entries(schema)) {
    if (['properties', 'patternProperties', 'definitions'].includes(keyword))
      for (const [name, key] of Object.entries(inner as object)) yield [`${path}/${name}`, key as Schema]
    if (['items', 'propertyNames', 'additionalProperties'].includes(keyword) && !isReference(inner))
      yield [`${path}/${keyword}`, inner as Schema]
    if (keyword !== 'examples') yield* keysOf(inner, `${path}/${keyword}`)
  }
}

/** Whether an editor finds everything at another schema, or there is none. */
function isReference(schema: unknown): boolean {
  return typeof schema !== 'object' || schema === null || Object.keys(schema).join() === '$ref'
}

const ajv = new Ajv({ strict: true, allErrors: true, allowUnionTypes: true })
ajv.addVocabulary(['patternErrorMessage'])
for (const { name, schema } of schemas) ajv.addSchema(schema, name)

for (const { name, schema } of schemas)
  t.test(name, t => {
    const keys = [...keysOf(schema, '')]
    t.ok(keys.length > 5)
    for (const [path, key] of keys) {
      t.match(key, { title: /^[A-Z]/, description: /\.$/, examples: Array }, path)
      t.ok((key['examples'] as unknown[]).length > 0, path)
    }
    t.end()
  })

t.test('examples are valid', t => {
  for (const { name, schema } of schemas)
    for (const [path, key] of keysOf(schema, '')) {
      const { $ref, ...plain } = key
      const validate = ajv.compile(
        $ref === undefined ? absolute(plain, name) : { $ref: refOf($ref as string, name) },
      )
      for (const example of key['examples'] as unknown[])
        if (!JSON.stringify(example).includes('${'))
          t.ok(validate(example), `${name} ${path} ${JSON.stringify(example)}`)
    }
  t.end()
})

t.test('no key is let through unnamed, but for notes and names', t => {
  const open: string[] = []
  const walk = (schema: unknown, path: string) => {
    if (typeof schema !== 'object' || schema === null) return
    const { type, additionalProperties } = schema as Schema
    if (type === 'object' && additionalProperties !== false) open.push(path)
    for (const [keyword, inner] of Object.entries(schema))
      if (keyword !== 'examples') walk(inner, `${path}/${keyword}`)
  }
  for (const { name, schema } of schemas) walk(schema, name)
  t.same(open, [
    'networks.schema.json/properties/networks',
    'networks.schema.json/definitions/network/properties/methods',
    'routes.schema.json/definitions/route/properties/headers',
    'methods.schema.json/definitions/rules',
    'plans.schema.json/properties/plans',
    'gateway.schema.json/properties/tracing/properties/headers',
  ])
  t.end()
})

function refOf($ref: string, name: string): string {
  return $ref.startsWith('#') ? `${name}${$ref}` : $ref
}

function absolute(schema: unknown, name: string): Schema {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) =>
    key === '$ref' ? refOf(String(value), name) : value,
  ) as Schema
}
