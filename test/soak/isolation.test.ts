import t from 'tap'
import { allAtOnce } from '../isolation/timed/all-at-once.ts'

/** How long, in seconds. */
const seconds = Number(process.env['SOAK_SECONDS'] ?? 600)

t.setTimeout((seconds + 300) * 1000)

await allAtOnce(t, { seconds, good: 200 })
