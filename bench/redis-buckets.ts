/** What a bucket costs the CPU of Redis, and of the process that asks: messages of 100 buckets, of 20 000 accounts in turn. */
import { readFileSync } from 'node:fs'
import { openRedis, redisBuckets, redisConfig } from '../test/support/redis-limits.ts'
import { startRedis } from '../test/support/servers.ts'

const MESSAGES = Number(process.env['MESSAGES'] ?? 2_000)
const IN_ONE = 100
const ACCOUNTS = 20_000
/** Of /proc, a second. */
const HZ = 100

const ends: (() => unknown)[] = []
const t = { teardown: (end: () => unknown) => void ends.push(end) }
const { url, pid } = await startRedis(t)
const buckets = redisBuckets(t, await openRedis(t, redisConfig(url)))
let account = 0
const ask = () =>
  buckets.ask(
    Array.from({ length: IN_ONE }, () => ({
      key: `{acc_${(account += 1) % ACCOUNTS}}:rate`,
      limit: { perSecond: 1_000, burst: 2_000 },
      spent: 10,
      over: 100,
      want: 0,
    })),
  )
for (let made = 0; made < ACCOUNTS; made += IN_ONE) await ask()
const redis = cpuOf(pid)
const own = process.cpuUsage()
for (let sent = 0; sent < MESSAGES; sent += 1) await ask()
const { user, system } = process.cpuUsage(own)
const asked = MESSAGES * IN_ONE
console.log(
  `${asked} buckets: Redis ${(((cpuOf(pid) - redis) * 1e6) / asked).toFixed(1)} µs, the process ${((user + system) / asked).toFixed(1)} µs each`,
)
for (const end of ends.reverse()) await end()

/** Seconds that a process has taken. */
function cpuOf(of: number): number {
  const text = readFileSync(`/proc/${of}/stat`, 'utf8')
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  return (fields[11]! + fields[12]!) / HZ
}
