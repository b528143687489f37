import t from 'tap'
import { load } from './directory.ts'

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
