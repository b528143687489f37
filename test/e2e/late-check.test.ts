/** The process that checks a large file. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { DatabaseSync } from '../../src/stores/sqlite/driver.ts'
import { checkLate, type LateCheck } from '../../src/stores/sqlite/late-check.ts'
import { mainFile } from '../support/paths.ts'
import { until, within } from '../support/until.ts'

const checkProcess = join(dirname(mainFile), 'file-check.js')

/** Milliseconds for processes of the lowest priority, which wait for all others of a busy machine. */
const PATIENCE = 120_000

/** A database, and a file that is not one. */
function smallFiles(dir: string): { readonly sound: string; readonly damaged: string } {
  const [sound, damaged] = [join(dir, 'sound.db'), join(dir, 'damaged.db')]
  const database = new DatabaseSync(sound)
  database.exec('CREATE TABLE some (x)')
  database.close()
  writeFileSync(damaged, 'no database at all')
  return { sound, damaged }
}

/** A small file whose check takes minutes: it computes the second column. */
function slowFile(file: string): string {
  const database = new DatabaseSync(file)
  database.exec(`CREATE TABLE slow (x INTEGER);
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
    INSERT INTO slow SELECT 20000000 FROM n;
    ALTER TABLE slow ADD COLUMN y INTEGER AS (length(hex(zeroblob(x)))) VIRTUAL`)
  database.close()
  return file
}

/** Whether the process runs: one that has ended and that nobody has asked for does not. */
function runs(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

t.test('it says whether a file is sound', async t => {
  const dir = t.testdir()
  const { sound, damaged } = smallFiles(dir)
  for (const [file, verdict] of [
    [sound, null],
    [damaged, `${damaged} is not a SQLite database`],
    [join(dir, 'none.db'), /cannot be opened/],
  ] as const) {
    const check = fork(checkProcess, [file], { stdio: 'ignore' })
    const ended = once(check, 'exit')
    t.teardown(() => check.kill('SIGKILL'))
    const [told] = await within('a verdict', once(check, 'message'), PATIENCE)
    if (verdict instanceof RegExp) t.match(told, verdict)
    else t.equal(told, verdict)
    await within('its end', ended, PATIENCE)
  }
})

t.test('bug: two large files were read at the same time', async t => {
  const { sound, damaged } = smallFiles(t.testdir())
  const heard: string[] = []
  await within(
    'all checks',
    new Promise<void>(resolve => {
      const check = (file: string, isLast = false): LateCheck => {
        const hear = (what: string): void => {
          heard.push(`${what} ${file}`)
          if (isLast && what !== 'begun') resolve()
        }
        return {
          unchecked: { file, refuse: () => void heard.push(`refused ${file}`) },
          events: {
            begun: () => {
              hear('begun')
            },
            ended: () => {
              hear('ended')
            },
            damaged: () => {
              hear('damaged')
            },
            failed: () => {
              hear('failed')
            },
          },
        }
      }
      t.teardown(checkLate([check(damaged), check(sound), check(sound, true)]))
    }),
    PATIENCE,
  )
  t.strictSame(heard, [
    `begun ${damaged}`,
    `refused ${damaged}`,
    `damaged ${damaged}`,
    `begun ${sound}`,
    `ended ${sound}`,
    `begun ${sound}`,
    `ended ${sound}`,
  ])
})

t.test('it ends when the one who asked is killed, however long it would take', async t => {
  if (process.platform !== 'linux') return void t.pass('looks at /proc', { skip: true })
  const dir = t.testdir()
  const parent = join(dir, 'parent.mjs')
  writeFileSync(
    parent,
    `import { fork } from 'node:child_process'
     const check = fork(process.argv[2], [process.argv[3]], { stdio: 'ignore' })
     check.once('message', verdict => process.send({ verdict }))
     process.send({ pid: check.pid })
     setInterval(() => undefined, 1000)`,
  )
  const asker = fork(parent, [checkProcess, slowFile(join(dir, 'slow.db'))], { stdio: 'ignore' })
  t.teardown(() => asker.kill('SIGKILL'))
  let verdict: unknown
  const { pid } = await within(
    'a check',
    new Promise<{ pid: number }>(resolve =>
      asker.on('message', (message: { pid: number } & { verdict?: unknown }) => {
        if ('verdict' in message) ({ verdict } = message)
        else resolve(message)
      }),
    ),
  )
  t.teardown(() => {
    if (runs(pid)) process.kill(pid, 'SIGKILL')
  })
  // It has begun once it has loaded what reads the file.
  const maps = () => readFileSync(`/proc/${pid}/maps`, 'utf8')
  await until('it reads', () => Promise.resolve(maps().includes('sqlite')), PATIENCE)
  t.ok(runs(pid))
  const gone = once(asker, 'exit')
  asker.kill('SIGKILL')
  await gone
  await until('it ends', () => Promise.resolve(!runs(pid)), 30_000)
  t.equal(verdict, undefined)
})
