import t from 'tap'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { forgetPeak, memoryIsVisible, peakResident, resident } from '../support/memory.ts'
import { result, stream } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'

const MiB = 2 ** 20
const block = Buffer.from(randomBytes(48 * 1024).toString('base64'))
const times = (100 * MiB) / block.length
const expected = createHash('sha256')
for (let i = 0; i < times; i++) expected.update(block)
const expectedHash = expected.digest('hex')

let sent = 0
const node = await startNode(t, { chainId: 1001 })
node.on(
  'web3_sha3',
  stream(block, times, bytes => (sent += bytes)),
)
node.on('eth_getBlockReceipts', result(`"${block.toString().repeat(5)}"`))
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  methods: fewMethods,
})
const access = await createAccess(gateway, 'paid', 'alpha')

/** What stands right before the long string. */
const opening = '"result":"'

/** Reads the long reply as it comes, keeping nothing but its hash and what stands around the long string. */
async function readLong(
  afterHead: () => Promise<void> = () => Promise.resolve(),
): Promise<{ hash: string; around: any }> {
  const { port } = gateway
  const sending = request({
    host: '127.0.0.1',
    port,
    method: 'POST',
    path: access.path,
    headers: { 'content-type': 'application/json' },
    agent: false,
  })
  sending.end(message('web3_sha3', ['0x00'], 7))
  const [response] = await once(sending, 'response')
  const hash = createHash('sha256')
  let head = ''
  let tail = ''
  let left = block.length * times
  for await (const chunk of response as AsyncIterable<Buffer>) {
    let rest = chunk
    if (!head.endsWith(opening)) {
      const text = head + rest.toString('latin1')
      const at = text.indexOf(opening)
      const end = at < 0 ? text.length : at + opening.length
      rest = rest.subarray(end - head.length)
      head = text.slice(0, end)
      if (at >= 0) await afterHead()
    }
    const body = rest.subarray(0, left)
    hash.update(body)
    left -= body.length
    tail += rest.toString('latin1', body.length)
  }
  return { hash: hash.digest('hex'), around: JSON.parse(head + tail) }
}

const intact = { hash: expectedHash, around: { jsonrpc: '2.0', id: 7, result: '' } }

/**
 * The kernel's own high-water mark is compared, so no moment is missed. A long reply may let the heap reach its working size, but never be held:
 * that would be 100 MiB more. What lies between two peaks is the collector's, which comes late where the machine is busy.
 */
t.test(
  'a reply of 100 MiB passes byte for byte in flat memory',
  { skip: !memoryIsVisible && 'no /proc' },
  async t => {
    for (let i = 0; i < 100; i++)
      t.equal((await access.post(message('eth_getBlockReceipts', ['latest']))).status, 200)
    const peak = async () => {
      await forgetPeak(gateway.pid)
      t.strictSame(await readLong(), intact)
      return peakResident(gateway.pid)
    }
    const before = await resident(gateway.pid)
    for (const nth of ['first', 'second', 'third', 'fourth', 'fifth']) {
      const grown = Math.round(((await peak()) - before) / MiB)
      t.ok(grown < 80, `with the ${nth} one the peak is ${grown} MiB higher than before it`)
    }
  },
)

t.test('a reader that pauses makes the node wait', async t => {
  sent = 0
  let whilePaused = 0
  const read = await readLong(async () => {
    // Nothing announces that bytes have ceased to flow: it shows in a count that stands still.
    let last = -1
    for (let still = 0; still < 5; still = sent === last ? still + 1 : 0) {
      last = sent
      await pause(100)
    }
    whilePaused = sent
  })
  t.strictSame(read, intact)
  t.ok(whilePaused < 40 * MiB, `sent while nobody read: ${Math.round(whilePaused / MiB)} MiB`)
  t.equal(sent, block.length * times)
})

t.test('each of them was charged once', async t => {
  const { requests, calls } = await access.usage()
  const long = node.count('web3_sha3')
  t.same({ requests, calls }, { requests: long + 3 * (calls - long), calls: node.calls.length })
})
