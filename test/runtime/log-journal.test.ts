import t from 'tap'
import { logJournal } from '../../src/runtime/log.ts'
import { openLog } from '../../src/observe/log.ts'
import { Metrics } from '../../src/observe/metrics.ts'
import { Away } from '../../src/ports/store-unavailable.ts'

t.test('bug: a keeper that is away was an error with a stack', t => {
  const lines: Record<string, unknown>[] = []
  const log = openLog('info', { write: line => void lines.push(JSON.parse(line) as Record<string, unknown>) })
  const events = logJournal(new Metrics(), log)
  events.delayed('fold', new Away('the keeper is away'))
  events.delayed('fold', new Away('the keeper is away'))
  events.delayed('sync', new Error('no room'))
  t.match(lines, [
    { level: 'warn', why: 'the keeper is away', msg: /^usage cannot be brought into its tables/ },
    {
      level: 'error',
      err: { message: 'no room', stack: /log-journal/ },
      msg: /^the log of usage cannot be synced/,
    },
  ])
  t.equal(lines.length, 2)
  t.notMatch(lines[0], { err: Object })
  t.end()
})
