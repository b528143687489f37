import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { run } from '../support/cli.ts'
import { LogReader } from '../support/log-lines.ts'
import { until } from '../support/until.ts'
import { crewOf, isAlive, kill9, startTwoWorkers } from '../support/workers.ts'

const { gateway } = await startTwoWorkers(t)
const access = await createAccess(gateway, 'paid', 'alpha')

const data = `${gateway.dir}/data`
const silent = `a gateway runs on the data directory ${data}, but its admin listener does not answer: it is starting or stopping, or it hangs (with several workers its keeper does); see its log\n`
const command = (...args: readonly string[]) => run([...args, '--config', gateway.dir])

t.test('bug: while the keeper hung, commands said that no gateway runs', async t => {
  const { keeper } = await crewOf(gateway, 2)
  process.kill(keeper, 'SIGSTOP')
  const freed = () => process.kill(keeper, 'SIGCONT')
  t.teardown(freed)
  const [reload, explain, trace, ...others] = await Promise.all([
    command('reload'),
    command('explain', 'alpha', 'eth_gasPrice'),
    command('trace', access.accountId),
    command('account', 'list', '--json'),
    command('account', 'create', 'late', '--plan', 'paid'),
    command('usage'),
    command('top'),
    command('find', access.accountId),
  ])
  t.strictSame(reload, { code: 1, stdout: '', stderr: `tollgate: ${silent}` })
  t.equal(explain.code, 0)
  t.equal(explain.stderr, `tollgate: warning: ${silent}`)
  t.match(explain.stdout, /seen +offline, no head known: the running gateway does not answer, so the health/)
  t.match(trace, { code: 1, stderr: /the running gateway does not answer, so there are no calls to trace$/m })
  for (const { code, stderr } of others) {
    t.equal(code, 0)
    t.equal(stderr.split(`tollgate: warning: ${silent}`).length, 2, 'each warns once')
  }
  t.equal((await access.post('{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice","params":[]}')).status, 200)
  freed()
  t.match(await command('reload'), { code: 0, stderr: '' }, 'it answers again')
})

t.test('bug: while nothing held the lock, as the keeper was killed, commands said so too', async t => {
  const { keeper } = await crewOf(gateway, 2)
  // So that no other keeper is started.
  process.kill(gateway.pid, 'SIGSTOP')
  const freed = () => process.kill(gateway.pid, 'SIGCONT')
  t.teardown(freed)
  kill9(keeper)
  await until('it is gone', () => Promise.resolve(!isAlive(keeper)))
  t.strictSame(await command('reload'), { code: 1, stdout: '', stderr: `tollgate: ${silent}` })
  freed()
  await crewOf(gateway, 2)
})

t.test('bug: the log did not say why all ended when the primary was killed', async t => {
  const { keeper, workers } = await crewOf(gateway, 2)
  const log = new LogReader(gateway)
  log.all()
  kill9(gateway.pid)
  await until('all are gone', () => Promise.resolve(![keeper, ...workers].some(isAlive)))
  await gateway.exited
  const lines = log.all().filter(({ msg }) => msg.startsWith('the primary is gone'))
  t.strictSame(lines.map(({ level, worker = 'the keeper' }) => `${level} ${String(worker)}`).sort(), [
    'error 1',
    'error 2',
    'error the keeper',
  ])
  t.match(await command('reload'), { code: 1, stderr: /no gateway runs on the data directory/ })
})
