import t from 'tap'
import { mixedLoad } from './mixed-load.ts'

/** Ten seconds of what test/soak/mixed-load.test.ts does for a minute. */
t.test('good calls among a hostile crowd', async t =>
  mixedLoad(t, { warmUp: 3, seconds: 10, slow: 200, good: 30, maxLag: null }),
)
