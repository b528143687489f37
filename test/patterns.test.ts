/** Every pattern of src/ takes time in proportion to the text it is applied to: clients and nodes send up to megabytes of their choice. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import ts from 'typescript'
import { OPERATIONS } from '../src/api/operations.ts'
import { SHAPES } from '../src/config/denied.ts'
import { worstAttack } from './support/pattern-attacks.ts'

const folder = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))

/** The patterns of the files that make some as they run; those of `sentence.ts` come from the schemas. */
const MADE: Readonly<Record<string, readonly RegExp[]>> = {
  'api/api.ts': OPERATIONS.map(({ path }) => new RegExp(`^${path.replace('{id}', '([^/]+)')}$`)),
  'config/dashboard/logo.ts': [/\swidth\s*=\s*["']\s*([0-9.]+)/],
  'config/denied.ts': SHAPES,
  'config/schema/sentence.ts': readdirSync(folder('schema')).flatMap(file =>
    [...readFileSync(join(folder('schema'), file), 'utf8').matchAll(/"pattern": ("(?:[^"\\]|\\.)*")/g)].map(
      ([, written]) => new RegExp(JSON.parse(written!) as string, 'u'),
    ),
  ),
}

/** The regular expressions in a source file, and whether it calls the constructor. */
function patternsOf(file: string): { readonly literals: readonly RegExp[]; readonly makes: boolean } {
  const literals: RegExp[] = []
  let makes = false
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      literals.push(new RegExp(node.text.slice(1, end), node.text.slice(end + 1)))
    }
    makes ||=
      (ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp'
    ts.forEachChild(node, visit)
  }
  const text = readFileSync(join(folder('src'), file), 'utf8')
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true))
  return { literals, makes }
}

t.test('the time of each pattern grows no faster than its text', t => {
  const files = readdirSync(folder('src'), { recursive: true, encoding: 'utf8' }).filter(file =>
    file.endsWith('.ts'),
  )
  const found = files.map(file => ({ file, ...patternsOf(file) }))
  t.strictSame(
    found.flatMap(({ file, makes }) => (makes ? [file] : [])).sort(),
    Object.keys(MADE),
    'the patterns that a file makes as it runs are listed above',
  )
  const patterns = found.flatMap(({ file, literals }) =>
    [...literals, ...(MADE[file] ?? [])].map(pattern => ({ file, pattern })),
  )
  t.ok(patterns.length > 200, `${patterns.length} patterns`)
  for (const { file, pattern } of patterns) t.equal(worstAttack(pattern), null, `${file}: ${String(pattern)}`)
  t.end()
})

t.test('patterns of quadratic and of exponential time are found', t => {
  const slow = [
    // Two runs of blanks that meet where the part between them is left out.
    /^application\/json\s*(;\s*charset\s*=\s*"?utf-?8"?\s*)?;?\s*$/i,
    // A match is tried from each character of a run.
    /\\+(?:u|x)/g,
    // One run may be split in many ways.
    /^(a+)+$/,
  ]
  for (const pattern of slow) t.not(worstAttack(pattern), null, String(pattern))
  t.end()
})
