import t from 'tap'
import type { Query } from '../../../../src/stores/postgres/postgres.ts'
import { Heartbeat } from '../../../../src/stores/postgres/usage/heartbeat.ts'
import { stateOf } from '../../../support/fleet-ledger.ts'

const node = {
  id: 'a',
  epoch: 1,
  claim: null,
  rev: 2,
  acked: 1,
  kept: 0,
  fenced: 0,
  since: null,
}

t.test('a heartbeat compares the clocks, and notices that its node is not its own any more', async t => {
  const said: { ahead: number; there: number; namesake: string | null } = {
    ahead: 0,
    there: 1,
    namesake: null,
  }
  const asked: (readonly unknown[])[] = []
  const heard: string[] = []
  const query = (_: string, values: readonly unknown[] = []) => {
    asked.push(values)
    const { there, ahead, namesake } = said
    return Promise.resolve([{ there, now: Date.now() - ahead * 1000, namesake }])
  }
  const waiting = { is: false }
  const failing = { is: false }
  const heartbeat = new Heartbeat({
    postgres: { query: query as Query },
    changes: {
      node,
      get isWaiting() {
        return waiting.is
      },
    },
    spool: {
      isClaimed: true,
      isFenced: false,
      get isFailing() {
        return failing.is
      },
      unclaimed: () => heard.push('unclaimed'),
    },
    state: () => stateOf('one'),
    named: id => heard.push(`named ${id}`),
  })
  t.teardown(() => {
    heartbeat.close()
  })
  t.equal(heartbeat.skewSeconds, null)
  await heartbeat.beat()
  t.ok(Math.abs(heartbeat.skewSeconds ?? NaN) < 1, 'in step')
  for (const ahead of [40, -40]) {
    said.ahead = ahead
    await heartbeat.beat()
    t.ok(Math.abs((heartbeat.skewSeconds ?? NaN) - ahead) < 1, `${ahead} s`)
  }
  const upto = (): unknown => asked.at(-1)?.at(-1)
  t.ok(Number(upto()) > 0 && Number(upto()) % 3600 === 0, 'hours that are over are final')
  waiting.is = true
  await heartbeat.beat()
  t.equal(upto(), 0, 'not while something of them may wait')
  Object.assign(waiting, { is: false })
  failing.is = true
  await heartbeat.beat()
  t.equal(upto(), 0, 'nor while it cannot be brought into the ledger')
  t.strictSame(heard, [])
  said.there = 0
  await heartbeat.beat()
  t.strictSame(heard, ['unclaimed'])
  Object.assign(said, { there: 1, namesake: 'b' })
  for (let i = 0; i < 2; i += 1) await heartbeat.beat()
  t.strictSame(heard, ['unclaimed', 'named b'], 'one of the same name is said once')
})
