import t from 'tap'
import { load, route, VALID } from './directory.ts'

const SECRET = 'k3yThatNobodyMaySee'

/** Files in which a slip puts the secret into every place that a message might quote. */
const SLIPS: Record<string, Parameters<typeof load>[0]> = {
  'no URL': { routes: route(`ws: ${SECRET}`) },
  'the wrong scheme': { routes: route(`ws: https://x.example/${SECRET}`) },
  'a list': { routes: route(`ws: [wss://x.example/${SECRET}]`) },
  'a map': { routes: route(`ws: { url: wss://x.example/${SECRET} }`) },
  'a number': { routes: route('ws: 8313370000001') },
  'an impossible URL': { routes: route(`ws: wss://${SECRET}:99999999/`) },
  'a URL in another key': { routes: route(`priority: https://x.example/${SECRET}`) },
  'a URL as an id': { routes: VALID.routes.replace('id: ethereum-a', `id: https://x.example/${SECRET}`) },
  'a URL as a network': {
    routes: VALID.routes.replace('network: ethereum', `network: wss://x.example/${SECRET}`),
  },
  'a URL as a capability': { routes: VALID.routes.replace('trace]', `"https://x.example/${SECRET}"]`) },
  'a lost colon': {
    routes: `routes:\n  - id: a\n      https://x.example/${SECRET}\n    network: ethereum\n`,
  },
  'a lost quote': { routes: route(`ws: "wss://x.example/${SECRET}`) },
  'a lost bracket': { routes: route(`headers: { Authorization: Bearer ${SECRET}`) },
  'a tab': { routes: route(`headers:\n\t\tAuthorization: Bearer ${SECRET}`) },
  'a header of two lines': { routes: route(`headers: { Authorization: "Bearer\\n${SECRET}" }`) },
  'a header that is a list': { routes: route(`headers: { Authorization: [${SECRET}] }`) },
  'headers that are one text': { routes: route(`headers: Authorization ${SECRET}`) },
  'an alias by accident': { routes: route(`ws: *${SECRET}`) },
  'a tag by accident': { routes: route(`ws: !${SECRET}`) },
  'headers in two levels': { routes: route(`headers: { Authorization: { Bearer: ${SECRET} } }`) },
  'written twice': { routes: route('ws: wss://x.example/a', `ws: wss://x.example/${SECRET}`) },
  'by the environment': { routes: route('ws: ${SECRET}') },
  'by the environment, plain': { routes: route('priority: ${SECRET_URL}') },
}

for (const [name, texts] of Object.entries(SLIPS))
  t.test(name, async t => {
    const { config, problems } = await load(texts, { SECRET, SECRET_URL: `https://x/${SECRET}` })
    t.equal(config, null)
    t.ok(problems.length > 0)
    t.notMatch(JSON.stringify(problems), SECRET)
    t.notMatch(JSON.stringify(problems), '8313370000001')
  })
