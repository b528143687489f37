/** An owner's webhook is no way into the operator's network. */
import t from 'tap'
import { post } from '../../src/alerts/post.ts'

const message = { headers: {}, body: '{}', isTrusted: false, signal: new AbortController().signal }

t.test('the webhook of an account leads to public addresses only, by TLS', async t => {
  for (const url of [
    'http://example.com/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://10.0.0.8/',
    'https://169.254.169.254/latest/meta-data',
    'https://[::ffff:10.0.0.1]/',
    'https://[fd00::1]/',
    'https://0.0.0.0/',
    'https://100.64.0.1/',
    'https://localhost/',
    'https://[::127.0.0.1]/',
    'https://[fec0::1]/',
    'https://168.63.129.16/',
  ])
    await t.rejects(post({ ...message, url }), /must be https and lead to a public address/, url)
})
