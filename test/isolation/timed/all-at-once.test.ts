import t from 'tap'
import { allAtOnce } from './all-at-once.ts'

t.setTimeout(120_000)

/** Eight seconds of what test/soak/isolation.test.ts does for ten minutes. */
await allAtOnce(t, { seconds: 8, good: 100 })
