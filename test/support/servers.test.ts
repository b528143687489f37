import t from 'tap'
import pg from 'pg'
import { Redis } from 'ioredis'
import { noServers, startPostgres, startRedis } from './servers.ts'

t.test(
  'a PostgreSQL server of a test answers, and has what it had after a kill',
  { skip: noServers },
  async t => {
    const server = await startPostgres(t)
    const ask = async (sql: string): Promise<unknown[]> => {
      const client = new pg.Client({ connectionString: server.url })
      await client.connect()
      const { rows } = await client.query<Record<string, unknown>>(sql)
      await client.end()
      return rows
    }
    await ask('CREATE TABLE one (n int)')
    await ask('INSERT INTO one VALUES (7)')
    await server.kill()
    await server.start()
    t.strictSame(await ask('SELECT n FROM one'), [{ n: 7 }])
  },
)

t.test('a Redis server of a test answers', { skip: noServers }, async t => {
  const server = await startRedis(t)
  const redis = new Redis(server.url)
  await redis.set('a', '1')
  t.equal(await redis.get('a'), '1')
  await redis.quit()
})
