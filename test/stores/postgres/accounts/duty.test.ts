/** One gateway of all has the duty, and another one soon after it is gone. */
import t from 'tap'
import { Duty } from '../../../../src/stores/postgres/accounts/duty.ts'
import { noServers, startPostgres } from '../../../support/servers.ts'
import { until } from '../../../support/until.ts'
import { configOf, openMachine } from '../support/machines.ts'

t.test('a duty', { skip: noServers }, async t => {
  const { url } = await startPostgres(t)
  const { postgres } = await openMachine(t, configOf(url, 'duty'))
  const duties = Array.from({ length: 3 }, () => new Duty(postgres, 'webhooks'))
  t.teardown(() => Promise.all(duties.map(duty => duty.close())))
  const held = () => duties.filter(({ isHeld }) => isHeld)
  await until('one has it', async () => Promise.resolve(held().length > 0))
  t.equal(held().length, 1)
  const first = held()[0]!
  await first.close()
  t.notOk(first.isHeld)
  await until('another one has it', async () => Promise.resolve(held().length > 0))
  t.equal(held().length, 1)
  // One that is gone without a word: its lease ends by PostgreSQL's clock.
  await postgres.query("UPDATE duty SET holder = gen_random_uuid(), until = now() + interval '4 s'")
  await until('its holder has lost it', async () => Promise.resolve(held().length === 0))
  await until('the lease of nobody has ended', async () => Promise.resolve(held().length === 1))
})

t.test('a duty that a gateway no longer wants is left to another', { skip: noServers }, async t => {
  const { url } = await startPostgres(t)
  const { postgres } = await openMachine(t, configOf(url, 'duty'))
  const wants = { first: true }
  const first = new Duty(postgres, 'operator-webhook', () => wants.first)
  await until('the first has it', async () => Promise.resolve(first.isHeld))
  const never = new Duty(postgres, 'operator-webhook', () => false)
  const second = new Duty(postgres, 'operator-webhook')
  t.teardown(() => Promise.all([first, never, second].map(duty => duty.close())))
  wants.first = false
  await until('the second has it', async () => Promise.resolve(second.isHeld))
  t.strictSame([first.isHeld, never.isHeld], [false, false])
})
