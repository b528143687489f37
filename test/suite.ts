/**
 * Runs the test files, each in a process of its own, as tap does for a list of files, but without the loader that tap puts into each of them,
 * and into all processes which they start, to measure coverage: that takes as long as the tests do.
 *
 *     npx tap                        all but those that send load, build the program, or measure time and memory
 *     npx tap --test-arg=load        those, one after the other
 *     npx tap --test-arg=test/e2e/   the files whose path begins like this
 *     npx tap test/e2e/help.test.ts  one file as it stands, without this one
 */
import t from 'tap'
import { bundleTests } from '../build/tests.ts'

/** Files that take ten minutes each: they are run one by one, when there is reason. */
const isSoak = (file: string): boolean => file.startsWith('test/soak/')
/** Files that send load, measure time and memory, build the program, or want the time of a database server to be their own. */
const isLoad = (file: string): boolean =>
  !isSoak(file) &&
  /^test\/(isolation\/timed|bench)\/|-load\.test\.ts$|^test\/(deploy\/build|reload\/soak|e2e\/(workers-(kill|restart|upgrade)|fleet-)|stores\/(postgres|redis)\/)/.test(
    file,
  )

const what = process.argv.slice(2)
const wants = (file: string): boolean => {
  if (what.length === 0) return !isLoad(file) && !isSoak(file)
  return what.some(word => (word === 'load' ? isLoad(file) : file.startsWith(word)))
}

const files = [...(await bundleTests())].filter(([file]) => wants(file))
t.setTimeout(0)
t.jobs = what.includes('load') ? 1 : 5
for (const [file, built] of files)
  // tap's loader comes by NODE_OPTIONS.
  void t.spawn(
    'env',
    ['-u', 'NODE_OPTIONS', process.execPath, '--enable-source-maps', built],
    { timeout: 300_000, buffered: t.jobs > 1 },
    file,
  )
if (files.length === 0) t.fail(`no test file is called ${what.join(' or ')}`)
