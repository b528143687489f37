import t from 'tap'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createAccess } from '../support/accounts.ts'
import { get } from '../support/http.ts'
import { metric } from '../support/metrics.ts'
import { until } from '../support/until.ts'
import { crewOf, isAlive, kill9, restart, startTwoWorkers } from '../support/workers.ts'

const { gateway } = await startTwoWorkers(t)

/** Lines of the log about a worker that hangs. */
const said = (msg: string): number => gateway.printed.split('\n').filter(line => line.includes(msg)).length

t.test('bug: a worker that hung counted as there, and each question waited for it', async t => {
  const { workers } = await crewOf(gateway, 2)
  process.kill(workers[1]!, 'SIGSTOP')
  t.teardown(() => process.kill(workers[1]!, 'SIGCONT'))
  await until('it counts as away', () => Promise.resolve(said('a worker does not answer') > 0))
  const status = await gateway.status()
  t.match(status.workers, [{ slot: 1 }, null])
  t.equal(await metric(gateway, 'tollgate_worker_up', { slot: '1' }), 1)
  t.equal(await metric(gateway, 'tollgate_worker_up', { slot: '2' }), 0)
  t.equal((await get(`${gateway.adminUrl}/readyz`)).status, 200)
  process.kill(workers[1]!, 'SIGCONT')
  await until('it answers again', () => Promise.resolve(said('the worker answers again') > 0))
  t.match((await gateway.status()).workers, [{ slot: 1 }, { slot: 2 }])
  t.strictSame([said('a worker does not answer'), said('the worker answers again')], [1, 1], 'once each')
})

t.test('bug: counters went back when the keeper was killed behind a scrape', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  for (let round = 1; round <= 2; round += 1) {
    const { keeper } = await crewOf(gateway, 2)
    await access.call('eth_gasPrice')
    const shown = await metric(gateway, 'tollgate_requests_total')
    kill9(keeper)
    await until('it is gone', () => Promise.resolve(!isAlive(keeper)))
    const first = await until('the next one answers', () =>
      metric(gateway, 'tollgate_requests_total').catch(() => undefined),
    )
    t.ok(first >= shown, `${first} behind ${shown}`)
  }
})

t.test('bug: what is read of usage was "internal" while there was another keeper to come', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  const calls: [method: string, params: unknown[]][] = [
    ['service_usage', [{ by: 'day' }]],
    ['service_listEndpoints', []],
    ['service_account', []],
  ]
  const state = { isOver: false, answered: 0 }
  const odd = new Set<string>()
  const callers = calls.map(async ([method, params]) => {
    while (!state.isOver) {
      const { error } = await access.call(method, params)
      const reason = (error?.data as { reason?: string } | undefined)?.reason
      // A keeper may take longer to come than they wait.
      const isExpected = reason === 'rate_limited' || reason === 'store_unavailable'
      if (error !== undefined && !isExpected) odd.add(`${method}: ${JSON.stringify(error)}`)
      state.answered += 1
    }
  })
  for (let round = 0; round < 3; round += 1) {
    const { keeper } = await crewOf(gateway, 2)
    const before = state.answered
    await until('calls are under way', () => Promise.resolve(state.answered > before + 20))
    kill9(keeper)
    await until('there is another keeper', async () => (await crewOf(gateway, 2)).keeper !== keeper)
  }
  state.isOver = true
  await Promise.all(callers)
  t.strictSame([...odd], [])
})

/** Null for a question that its keeper had taken, and left without an answer when it went; throws any other error. */
function isCut(error: NodeJS.ErrnoException): null {
  if (error.code !== 'ECONNRESET') throw error
  return null
}

t.test('bug: a restart was not ready, took the workers for lost and a broken edit for taken', async t => {
  const { keeper, workers } = await crewOf(gateway, 2)
  await writeFile(join(gateway.dir, 'plans.yaml'), 'plans: nonsense')
  await until('it is rejected', async () => (await gateway.status()).reload.ok === false)
  const before = await metric(gateway, 'tollgate_config_last_reload_success_timestamp_seconds')
  const odd = new Set<string>()
  const state = { isOver: false }
  const watched = (async () => {
    while (!state.isOver) {
      const ready = await get(`${gateway.adminUrl}/readyz`).catch(isCut)
      if (ready === null) continue
      if (ready.status !== 200) odd.add(`readyz: ${ready.text}`)
      const status = await gateway.status().catch(isCut)
      if (status === null) continue
      const { workers: there, restarting, reload, networks } = status
      if (there.includes(null)) odd.add(`workers: ${JSON.stringify([there, restarting])}`)
      if (reload.ok === true) odd.add('reload.ok')
      for (const { why } of networks[0].routes) if (String(why).includes('not open')) odd.add(String(why))
      if (restarting === null && [keeper, ...workers].some(isAlive)) odd.add('restarting is null')
    }
  })()
  t.equal((await restart(gateway)).status, 202)
  await until('all processes are others', () => Promise.resolve(![keeper, ...workers].some(isAlive)), 60_000)
  await until('the restart is over', async () => (await gateway.status()).restarting === null)
  state.isOver = true
  await watched
  t.strictSame([...odd], [])
  t.equal(await metric(gateway, 'tollgate_config_last_reload_success_timestamp_seconds'), before)
})

t.test('bug: a signal during a restart was ignored without a word', async t => {
  await restart(gateway)
  gateway.signal('SIGUSR2')
  await until('it is logged', () => Promise.resolve(said('a restart is under way') > 0))
  await until('the restart is over', async () => (await gateway.status()).restarting === null, 60_000)
  t.pass()
})
