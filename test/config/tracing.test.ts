import t from 'tap'
import { load, problemsOf } from './directory.ts'

t.test('bug: a header that ends the body of an export elsewhere was sent with it', async t => {
  for (const name of ['Content-Length', 'content-type', 'Transfer-Encoding', 'Expect', 'User-Agent']) {
    const gateway = `tracing: { endpoint: 'http://127.0.0.1:4318', headers: { A: b, ${name}: cnryToken } }`
    const { config, problems } = await load({ gateway })
    t.equal(config, null)
    t.match(problems, [
      {
        path: `tracing.headers.${name}`,
        message: 'the exporter writes this header itself',
        hint: 'remove it',
      },
    ])
  }
  const { problems } = await load({
    gateway:
      "tracing: { endpoint: 'http://127.0.0.1:4318', headers: { Host: otlp.example, X-Scope-OrgID: a } }",
  })
  t.strictSame(problems, [])
})

t.test('bug: nothing warned that every client decides what is traced', async t => {
  const gateway = (parent: string) => `tracing: { endpoint: 'http://127.0.0.1:4318', parent: ${parent} }\n`
  t.strictSame(await problemsOf({ gateway: gateway('any') }), [
    'gateway.yaml:1:55 tracing.parent: warning: every caller can have all its calls traced, and crowd out the spans of others; write parent: trusted, or `acknowledge: [any-traceparent]` where strangers cannot reach the gateway [any-traceparent]',
  ])
  t.strictSame(await problemsOf({ gateway: gateway('none') }), [])
})
