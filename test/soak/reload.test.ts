import t from 'tap'
import { soak } from '../reload/soak.ts'

t.setTimeout(240_000)
t.test('a hundred edits under load: no call fails, no socket is dropped, no block is missed', t =>
  soak(t, { seed: 1, edits: 100, sockets: 200, callsPerSecond: 200, quiet: 5_000 }),
)
