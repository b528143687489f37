/** Phrases that are not said any more, in messages, schemas, help, README and docs: the right column is what a native engineer writes. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import t from 'tap'

const root = new URL('..', import.meta.url)

const PHRASES: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/["}] is no [a-z]/, '"x" is not a duration'],
  [/is no (capability|duration|slug|size|origin|tracer|window|identifier)\b/, 'is not a duration'],
  [/is too (little|much); /, 'must be at least 1, not 0'],
  [/nothing is written here/, 'value is missing'],
  [/is written twice/, 'duplicate key'],
  [/truth value/, 'a boolean'],
  [/one word too many/, 'unexpected argument "x"'],
  [/say which of:/, 'missing subcommand; expected one of …'],
  [/\b1 networks\b/, '1 network'],
  [/costs? \d+ requests?\b(?! unit)|\d+ requests per second of its own/, 'request units'],
  [/\b(rate|units|bucket), in requests\b|whole number of requests\b/, 'request units'],
  [/(old one|key) is dead/, 'is revoked'],
  [/nothing was used in that time/, 'no usage in this period'],
  [/acts after a restart/, 'takes effect after a restart'],
  [/(configuration|edit) was not taken/, 'was rejected'],
  [/is given a pause|asked for a pause/, 'circuit open, rate limited by upstream'],
  [/leaves calls unanswered/, 'requests are hanging'],
  [/has not come to block/, 'is behind block'],
  [/is there twice/, 'duplicate member'],
  [/client does not read/, 'slow consumer'],
  [/usage is recorded again/, 'usage journal recovered'],
]

const files = execFileSync(
  'git',
  ['ls-files', 'src', 'schema', 'docs', 'README.md', 'dashboard/src', 'examples', ':(top,glob)*.yaml'],
  {
    cwd: root,
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter(file => /\.(ts|tsx|json|md|ya?ml)$/.test(file))

t.test('no phrase of a private English is left', t => {
  t.ok(files.length > 400, `${files.length} files are read`)
  for (const [phrase, instead] of PHRASES) {
    const found = files.filter(file => phrase.test(readFileSync(new URL(file, root), 'utf8')))
    t.strictSame(found, [], `${phrase.source} → ${instead}`)
  }
  t.end()
})
