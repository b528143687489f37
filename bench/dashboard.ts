/**
 * What the pages of the dashboard cost at a hundred endpoints with 60 days of usage by the hour, about ten million requests a day, and what a
 * bystander notices. The requests are those of a real browser; they are timed without it, one page after the other: the longest of a page's
 * requests, which it makes at the same time, bytes, and milliseconds of CPU of the gateway. `DAYS` and `COUNT` make it larger or smaller.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '../src/stores/sqlite/driver.ts'
import { Visitor } from '../test/dashboard/support/visitor.ts'
import { noBrowser, openTab, signIn, startBrowser } from '../test/dashboard/support/browser.ts'
import { crowdedGateway } from '../test/dashboard/support/crowded-gateway.ts'
import { createAccess } from '../test/support/accounts.ts'
import { Bystander } from '../test/support/bystander.ts'
import { get } from '../test/support/http.ts'
import { until } from '../test/support/until.ts'
import { LONG_SPANS, PAGES } from '../test/dashboard/support/pages.ts'

const COUNT = Number(process.env['COUNT'] ?? 100)
const DAYS = Number(process.env['DAYS'] ?? 60)
const TIMES = 5

if (noBrowser !== false) throw new Error(noBrowser)
const endings: (() => unknown)[] = []
const scope = { teardown: (handler: () => unknown) => endings.unshift(handler) }
const { gateway, crowd } = await crowdedGateway(scope, { count: COUNT, days: DAYS })
const other = await createAccess(gateway, 'paid', 'alpha')
await gateway.start()
// Of a ledger that was filled at once they are made in the first seconds; of one that is used, each when it is over.
await until('the days of its hours are made', () => Promise.resolve(hasDays()), 120_000)

const bodies = new Map<string, string[]>()
const browser = await startBrowser(scope)
const { page } = await openTab(browser)
let current = ''
page.on('request', request => {
  if (request.url().endsWith('/api/rpc')) bodies.get(current)?.push(request.postData() ?? '')
})
await signIn(page, gateway.url, crowd.token)
for (const [path, ready] of [...PAGES(crowd.endpoints[0]!.id), ...LONG_SPANS]) {
  await page.goto('about:blank')
  current = path
  bodies.set(path, [])
  await page.goto(`${gateway.url}/#/${path}`)
  await page.locator(ready).first().waitFor()
  await page.waitForLoadState('networkidle')
}
await browser.close()

function hasDays(): boolean {
  const ledger = new DatabaseSync(join(gateway.dir, 'data/journal.db'), { readOnly: true })
  const { until } = ledger.prepare('SELECT until FROM day_progress').get() as { readonly until: number }
  ledger.close()
  return until > 0
}

/** Milliseconds of CPU that the gateway has used; of Linux, in steps of 10. */
function cpu(): number {
  const fields = readFileSync(`/proc/${gateway.pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

const visitor = new Visitor(gateway, { host: `127.0.0.1:${gateway.port}` })
await visitor.signIn(crowd.token)
const bystander = new Bystander(other)
await bystander.calls(100)
const idle = bystander.slowest
bystander.took.length = 0
await get(`${gateway.adminUrl}/metrics`)
for (const [path, asked] of bodies) {
  const took: number[] = []
  let bytes = 0
  const before = cpu()
  for (let time = 0; time < TIMES; time += 1) {
    bytes = 0
    const begin = performance.now()
    await Promise.all(
      asked.map(async body => {
        const { status, text } = await visitor.send('POST', '/api/rpc', { body })
        if (status !== 200) throw new Error(`${path}: ${text}`)
        bytes += text.length
      }),
    )
    took.push(performance.now() - begin)
    // The rate of management calls is 10 a second.
    await bystander.calls(Math.ceil(asked.length * 5))
  }
  const median = took.toSorted((a, b) => a - b)[Math.floor(TIMES / 2)]!
  console.log(
    `${path}: ${asked.length} requests, ${median.toFixed(0)} ms (longest ${Math.max(...took).toFixed(0)}), ${bytes} bytes, ${((cpu() - before) / TIMES).toFixed(0)} ms of CPU`,
  )
}
const { text } = await get(`${gateway.adminUrl}/metrics`)
const lag = Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1]) * 1000
console.log(
  `bystander: longest of ${bystander.took.length} calls ${bystander.slowest.toFixed(1)} ms, idle ${idle.toFixed(1)} ms; failed: ${bystander.failures.length}; longest block of the loop ${lag.toFixed(1)} ms`,
)
await bystander.stop()
for (const ending of endings) await ending()
