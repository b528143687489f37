import t from 'tap'
import { SocketHealth } from '../../src/subscriptions/shared/socket-health.ts'

/** The health of sockets, and what the operator hears of it. */
function health() {
  const heard: string[] = []
  const events = {
    socketsFail: (route: string, why: string) => heard.push(`${route} fails: ${why}`),
    socketsLast: (route: string, ms: number) => heard.push(`${route} lasts after ${ms}`),
  }
  return { health: new SocketHealth(events), heard }
}

t.test('a socket lost once is a small trouble for a minute, two in a row or a cut one a great one', t => {
  const { health: sockets } = health()
  t.equal(sockets.trouble('a', 0), 0)
  sockets.lost('a', 0)
  t.strictSame([sockets.trouble('a', 59_999), sockets.trouble('a', 60_000)], [1, 0])
  sockets.lost('a', 70_000)
  t.equal(sockets.trouble('a', 70_000), 3, 'the row goes on until one lasts')
  sockets.lasted('a', 75_000)
  t.equal(sockets.trouble('a', 75_000), 1)
  sockets.cut('b', 0)
  t.strictSame([sockets.trouble('b', 59_999), sockets.trouble('b', 60_000)], [3, 0])
  sockets.lost('b', 60_000)
  t.equal(sockets.trouble('b', 60_000), 1, 'a cut is forgotten with its minute')
  t.equal(sockets.trouble('c', 0), 0)
  t.end()
})

t.test('pauses begin with the second failure in a row, and double up to five seconds', t => {
  const { health: sockets } = health()
  const pauses = Array.from({ length: 9 }, () => {
    sockets.lost('a', 1_000)
    return sockets.pause('a', 1_000)
  })
  t.strictSame(pauses, [0, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000])
  t.strictSame([sockets.pause('a', 5_999), sockets.pause('a', 6_000), sockets.pause('a', 9_000)], [1, 0, 0])
  t.equal(sockets.pause('b', 0), 0)
  sockets.lasted('a', 20_000)
  sockets.lost('a', 30_000)
  t.equal(sockets.pause('a', 30_000), 0)
  t.end()
})

t.test('the operator hears of the third lost socket, or of the first that does not open, once each', t => {
  const { health: sockets, heard } = health()
  for (let at = 0; at < 5; at += 1) sockets.lost('a', at)
  sockets.unreached('a', 5)
  t.strictSame(heard.splice(0), ['a fails: its connections do not last'])
  sockets.opened('a')
  sockets.lasted('a', 1_002)
  sockets.lasted('a', 2_000)
  t.strictSame(heard.splice(0), ['a lasts after 1000'])
  sockets.unreached('b', 0)
  sockets.unreached('b', 1)
  sockets.lasted('c', 1)
  t.strictSame(heard, ['b fails: it takes no connections'])
  t.end()
})

t.test('the cause is known where the failure has one', t => {
  const told: string[] = []
  const sockets = new SocketHealth({ socketsFail: (_, why) => told.push(why), socketsLast: () => undefined })
  sockets.unreached('a', 0, 'ECONNREFUSED')
  t.equal(sockets.whyUnreached('a', 0), 'ECONNREFUSED')
  t.strictSame(told, ['it takes no connections: ECONNREFUSED'])
  t.end()
})

t.test('a route is unreached until a socket opens, for a minute at most', t => {
  const { health: sockets } = health()
  sockets.unreached('a', 0)
  t.strictSame([sockets.whyUnreached('a', 59_999), sockets.whyUnreached('a', 60_000)], ['', null])
  sockets.opened('a')
  sockets.opened('b')
  t.strictSame([sockets.whyUnreached('a', 1), sockets.whyUnreached('b', 1)], [null, null])
  t.end()
})

t.test('a route that leads elsewhere or is gone begins anew', t => {
  const { health: sockets, heard } = health()
  for (const route of ['a', 'b', 'c']) for (let i = 0; i < 4; i += 1) sockets.lost(route, 0)
  heard.length = 0
  sockets.forget('a')
  sockets.retain(route => route !== 'b')
  t.strictSame(
    ['a', 'b', 'c'].map(route => sockets.trouble(route, 1)),
    [0, 0, 3],
  )
  t.strictSame(
    ['a', 'b', 'c'].map(route => sockets.pause(route, 0)),
    [0, 0, 400],
  )
  sockets.lasted('a', 1)
  t.strictSame(heard, [])
  t.end()
})
