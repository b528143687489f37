/** src/config/validators.ts as the built program has it: the code that ajv makes of the schemas, without ajv. */
import standalone from 'ajv/dist/standalone/index.js'
import { compileSchemas } from '../src/config/schema/compile-schemas.ts'
import { readSecretKeys } from '../src/config/schema/secret-keys.ts'
import { FILES } from '../src/config/files.ts'

/** A module of JavaScript that exports `validatorOf` and `secretKeys`. */
export function validatorsModule(): string {
  const { ajv } = compileSchemas({ source: true })
  const nameOf = (file: string) => `of_${file.replace('.yaml', '')}`
  const names = Object.fromEntries(FILES.map(file => [nameOf(file), file.replace('.yaml', '.schema.json')]))
  const table = FILES.map(file => `  '${file}': ${nameOf(file)},`)
  return `${standalone.default(ajv, names)}
const validators = {
${table.join('\n')}
}
export function validatorOf(file) {
  return validators[file]
}
const secrets = ${JSON.stringify(readSecretKeys())}
export function secretKeys() {
  return secrets
}
`
}
