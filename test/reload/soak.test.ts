import t from 'tap'
import { soak } from './soak.ts'

/** A tenth of the soak in test/soak. */
t.test('edits under load: no call fails, no socket is dropped, no block is missed', t =>
  soak(t, { seed: 20_26, edits: 10, sockets: 20, callsPerSecond: 200, quiet: 1_000 }),
)
