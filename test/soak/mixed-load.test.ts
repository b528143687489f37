import t from 'tap'
import { mixedLoad } from '../edge/mixed-load.ts'

t.setTimeout(240_000)

t.test('a minute of good calls among a hostile crowd', async t =>
  mixedLoad(t, { warmUp: 20, seconds: 60, slow: 2_000, good: 100, maxLag: 0.1 }),
)
