import t from 'tap'
import { parse } from 'yaml'
import { validatorsModule } from '../../build/validators.ts'
import { FILES, type FileName } from '../../src/config/files.ts'
import { validatorOf } from '../../src/config/validators.ts'
import { schemaMistakes } from '../reload/schema-findings.ts'
import { wholeConfig } from '../reload/whole-config.ts'

/** The module that the built program has, which asks for parts of ajv as CommonJS does. */
async function built(): Promise<{ validatorOf: typeof validatorOf }> {
  const require = `import { createRequire } from 'node:module'; const require = createRequire('${import.meta.url}');`
  const text = encodeURIComponent(require + validatorsModule())
  return (await import(`data:text/javascript,${text}`)) as { validatorOf: typeof validatorOf }
}

t.test('the built program finds what the schemas say, word for word', async t => {
  const program = await built()
  const errorsOf = (file: FileName, value: unknown, from: { validatorOf: typeof validatorOf }) => {
    const validate = from.validatorOf(file)
    return validate(value) ? [] : validate.errors
  }
  const documents = wholeConfig('http://127.0.0.1:1', 'ws://127.0.0.1:1')
  for (const file of FILES) {
    t.same(errorsOf(file, documents[file], program), [], `${file} as it should be`)
    const { findings } = schemaMistakes(file, documents[file])
    t.ok(findings.length > 10, `${findings.length} findings in ${file}`)
    const found = (from: { validatorOf: typeof validatorOf }) =>
      findings.map(({ path, kind, text }) => ({ path, kind, errors: errorsOf(file, parse(text), from) }))
    const told = found(program)
    t.strictSame(told, found({ validatorOf }), file)
    const silent = told.filter(({ errors }) => errors?.length === 0)
    t.strictSame(silent, [], `${file}: nothing is found in these`)
  }
})
