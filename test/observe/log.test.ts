import t from 'tap'
import { openLog } from '../../src/observe/log.ts'

t.test('a line of the log is printable, and as JSON the same value', t => {
  const lines: string[] = []
  const log = openLog('info', { write: line => void lines.push(line) })
  const why = 'a\x1b[2J\x9b2J\x7f\u202e\u2028\nb'
  log.warn({ why }, 'route is down')
  t.match(lines[0], /^[\x20-\x7e]+\n$/)
  t.match(JSON.parse(lines[0]!), { why, msg: 'route is down' })
  t.end()
})
