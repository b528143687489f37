import t from 'tap'
import { playAll } from '../harness/scenario.ts'

await playAll(t, [
  {
    name: 'scrapes among thousands of sockets',
    before: stage => stage.attack('crowd', 'openSockets', { sockets: 10_000 }),
    attack: stage => stage.attack('crowd', 'scrapes', { scrapes: 20 }),
    afterwards: stage => stage.attack('crowd', 'dropSockets'),
    also: (t, _, { held }) => {
      t.equal(held, 10_000)
    },
  },
  {
    name: 'thousands of sockets that are opened, and close in one moment',
    attack: async stage => {
      const opened = await stage.attack('crowd', 'openSockets', { sockets: 4_000 })
      await stage.attack('crowd', 'dropSockets')
      return opened
    },
    unmet: {
      slower:
        'seen: 70 to 90 ms more at the 99th percentile, as the ends of a thousand sockets come in one turn',
    },
    also: (t, _, { held }) => {
      t.equal(held, 4_000)
    },
  },
  {
    name: 'strangers at the admin listener',
    attack: async stage => stage.attack('crowd', 'strangers'),
    also: (t, _, statuses) => {
      for (const name of ['another Host', 'another Origin', 'a form'])
        t.match(String(statuses[name]), /^4\d\d$/, name)
      for (const name of ['its own', 'its own by name']) t.equal(statuses[name], '200', name)
    },
  },
  {
    name: 'idle connections to the admin listener',
    attack: async stage => stage.attack('crowd', 'adminConnections', { count: 2_000 }),
    also: (t, _, { held }) => {
      t.ok(held < 2_000, `${held} of 2000 are held`)
    },
  },
])
