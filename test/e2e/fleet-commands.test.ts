import t from 'tap'
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run, runJson } from '../support/cli.ts'
import { startFleet } from '../support/fleet.ts'
import { get } from '../support/http.ts'
import { metric } from '../support/metrics.ts'
import { result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { noServers } from '../support/servers.ts'
import { until } from '../support/until.ts'

t.test('commands about machines', { skip: noServers }, async t => {
  const node = await startNode(t, { chainId: 1001 })
  node.on('web3_sha3', result('"ok"'))
  const fleet = await startFleet(
    t,
    {
      networks: { alpha: { chainId: 1001 } },
      routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
    },
    [{}, { postgres: { spool: '1h' } }, {}],
  )
  const [first, second, third] = fleet.gateways as [
    (typeof fleet.gateways)[0],
    (typeof fleet.gateways)[0],
    (typeof fleet.gateways)[0],
  ]
  const call = async (machine: number, times: number): Promise<void> => {
    for (let i = 0; i < times; i += 1) await fleet.accesses[machine]!.call('web3_sha3', ['0x00'])
  }

  t.test('what a dead machine has left is sent, and the machine forgotten', async t => {
    await call(0, 5)
    await call(1, 7)
    await second.kill9()
    await until('the first has reported', async () => (await fleet.sums()).usage === 5)
    const words = ['spool', '--dir', join(second.dir, 'data')]
    for (let time = 0; time < 2; time += 1) {
      const { code, stderr } = await run([...words, '--config', first.dir])
      t.same({ code, stderr }, { code: 0, stderr: '' })
      t.strictSame(await fleet.sums(), { usage: 12, total: 12, quota_window: 0 })
    }
    const listed = await runJson(first.dir, ['nodes'])
    t.strictSame(
      listed.map(({ name }: { name: string }) => name),
      ['machine-1', 'machine-2', 'machine-3'],
    )
    const { id } = listed[1]
    t.strictSame(await runJson(first.dir, ['node', 'forget', id]), { forgotten: id })
    t.equal((await runJson(first.dir, ['nodes'])).length, 2)
    t.equal((await run(['node', 'forget', 'nobody', '--config', first.dir])).code, 1)
    t.strictSame(await fleet.sums(), { usage: 12, total: 12, quota_window: 0 })
  })

  t.test('identities of a machine that lost its journal are superseded, and forgotten together', async t => {
    const machines = async (): Promise<
      readonly { name: string; id: string; supersededBy: string | null }[]
    > => (await runJson(first.dir, ['nodes'])) as never
    const thirds = async () => (await machines()).filter(({ name }) => name === 'machine-3')
    for (let times = 1; times <= 2; times += 1) {
      await third.stop()
      for (const file of ['journal.db', 'journal.db-wal', 'journal.db-shm'])
        await rm(join(third.dir, 'data', file), { force: true })
      await third.start()
      await until('it is listed under another id', async () => (await thirds()).length === times + 1)
    }
    await until(
      'both have been silent for long enough',
      async () => (await thirds()).filter(({ supersededBy }) => supersededBy !== null).length === 2,
      30_000,
    )
    const listed = await machines()
    const current = listed.filter(({ supersededBy }) => supersededBy === null)
    t.strictSame(
      current.map(({ name }) => name),
      ['machine-1', 'machine-3'],
    )
    const dead = (await thirds()).filter(({ supersededBy }) => supersededBy !== null)
    t.strictSame(
      dead.map(({ supersededBy }) => supersededBy),
      [current[1]!.id, current[1]!.id],
      'each by the one that is there now',
    )
    const { stdout, stderr, code } = await run(['nodes', '--config', first.dir])
    t.equal(code, 0)
    t.equal(stdout.match(/ superseded +\S+$/gm)?.length, 2)
    t.match(
      stderr,
      /^tollgate: 2 of these are superseded: .+; "tollgate node forget --superseded" removes them from this list$/m,
    )

    for (const words of [[], ['--superseded', dead[0]!.id]])
      t.match(await run(['node', 'forget', ...words, '--config', first.dir]), {
        code: 2,
        stderr: /give an id or --superseded/,
      })
    const forget = ['node', 'forget', '--superseded']
    const { forgotten } = (await runJson(first.dir, forget)) as { forgotten: readonly string[] }
    t.strictSame([...forgotten].sort(), dead.map(({ id }) => id).sort())
    t.strictSame(await machines(), current, 'and nobody else')
    t.match(await run([...forget, '--config', first.dir]), { code: 0, stdout: 'no node is superseded\n' })
    t.strictSame(await fleet.sums(), { usage: 12, total: 12, quota_window: 0 }, 'their usage stays')
  })

  t.test('two processes on copies of one directory are never summed twice', async t => {
    await third.stop()
    const copied = join(third.dir, 'data')
    for (const file of ['journal.db', 'journal.db-wal'])
      await cp(join(first.dir, 'data', file), join(copied, file), { force: true })
    await third.start()
    await call(2, 11)
    await until('one of them is fenced, or has a new id', async () => {
      const fenced = await metric(first, 'tollgate_spool_fenced')
      return fenced === 1 || third.printed.includes('under a new id')
    })
    await call(0, 2)
    const isFenced = (await metric(first, 'tollgate_spool_fenced')) === 1
    if (isFenced) {
      await first.stop()
      await first.start()
    }
    await until('all is reported', async () => (await fleet.sums()).usage === 25, 10_000)
    const { usage, total } = await fleet.sums()
    t.strictSame([usage, total], [25, 25])
  })

  t.test('machines that serve other configurations for a minute are an error', async t => {
    t.equal((await run(['nodes', '--config', first.dir])).code, 0)
    await first.stop()
    await third.stop()
    await fleet.query(
      `UPDATE node SET seen_at = now(), info = jsonb_set(info, '{reload,at}', to_jsonb(extract(epoch FROM now()) - 70))`,
    )
    t.equal((await run(['nodes', '--config', first.dir])).code, 0)
    await fleet.query("UPDATE node SET shared_version = 'other' WHERE name = 'machine-3'")
    const { code, stderr } = await run(['nodes', '--config', first.dir])
    t.equal(code, 1)
    t.match(stderr, 'the gateways serve different configurations')
  })

  t.test(
    'usage of all is read without a gateway, which is said, and this machine’s without PostgreSQL',
    async t => {
      const whole = await run(['usage', '--by', 'account', '--json', '--config', first.dir])
      t.equal(JSON.parse(whole.stdout)[0].requests, 25)
      t.match(whole.stderr, /no gateway runs here/)

      // bug: with an error anywhere in the YAML it was what this machine had served alone, without a word.
      const routes = join(first.dir, 'routes.yaml')
      const written = await readFile(routes, 'utf8')
      await writeFile(routes, `${written}\nmistake: 1\n`)
      t.equal((await run(['check', '--config', first.dir])).code, 1)
      const broken = await run(['usage', '--by', 'account', '--json', '--config', first.dir])
      t.equal(JSON.parse(broken.stdout)[0].requests, 25)
      await writeFile(routes, written)

      await fleet.postgres.kill()
      const own = await run(['usage', '--by', 'account', '--json', '--config', first.dir])
      t.ok(JSON.parse(own.stdout)[0].requests < 25)
      t.match(own.stderr, /PostgreSQL cannot be reached.*this machine has served alone/)
      await first.start()
      t.equal((await get(`${first.adminUrl}/readyz`)).status, 200, 'calls are served without it')
      await call(0, 1)
    },
  )
})
