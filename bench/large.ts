/**
 * A single reply of 1 GiB through the real process: the memory it adds at its peak (Linux: the kernel's own high-water
 * mark, nothing is sampled), and how fast it goes. Run with `node --import=tsx bench/large.ts [MiB]`.
 */
import { once } from 'node:events'
import { createServer, request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { forgetPeak, peakResident, resident } from '../test/support/memory.ts'
import { cpuOf } from './parts/cpu.ts'
import { Processes, configFor } from './parts/processes.ts'

const MiB = 2 ** 20
const BLOCK = Buffer.alloc(64 * 1024, 'ab')
/** Replies measured; the first one lets the heap reach its working size. */
const ROUNDS = 3
/** Calls made before anything is measured. */
const WARM_UP = 2_000

/** The node: a result as long as it is told, as fast as it is taken. Runs in a process of its own. */
function serveLong(blocks: number): void {
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const body = Buffer.concat(chunks).toString('latin1')
      const id = /"id":(\d+)/.exec(body)?.[1] ?? 'null'
      if (!body.includes('"long"')) {
        response.end(`{"jsonrpc":"2.0","id":${id},"result":"0x1"}`)
        return
      }
      response.write(`{"jsonrpc":"2.0","id":${id},"result":"`)
      let left = blocks
      const push = (): void => {
        while (left > 0) {
          left -= 1
          if (!response.write(BLOCK)) {
            response.once('drain', push)
            return
          }
        }
        response.end('"}')
      }
      push()
    })
  })
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo
    console.log(JSON.stringify({ msg: 'ready', listen: `127.0.0.1:${port}` }))
  })
}

/** Makes a call and counts the bytes of its reply, keeping none of them but the last. */
async function read(url: string, params: string): Promise<{ bytes: number; end: string }> {
  const sent = request(url, { method: 'POST', headers: { 'content-type': 'application/json' }, agent: false })
  sent.end(`{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[${params},"latest"]}`)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  let bytes = 0
  let end = ''
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    end = (end + chunk.toString('latin1', Math.max(0, chunk.length - 2))).slice(-2)
  }
  return { bytes, end }
}

async function measure(size: number): Promise<void> {
  const processes = new Processes()
  try {
    const upstream = await processes.part('../large', { LONG_REPLY_MIB: String(size / MiB) })
    const { listen, pid } = await processes.gateway(configFor(upstream.listen))
    const url = `http://${listen}/eth/v1/rpc/${await processes.key('bench')}`
    for (let i = 0; i < WARM_UP; i += 1) await read(url, '{}')
    const whole = '{"jsonrpc":"2.0","id":1,"result":""}'.length + size
    console.log(`| reply of ${size / MiB} MiB | added at the peak | throughput | CPU |\n|---|---|---|---|`)
    for (let round = 1; round <= ROUNDS; round += 1) {
      await forgetPeak(pid)
      const [before, cpu, begin] = [await resident(pid), cpuOf(pid), performance.now()]
      const { bytes, end } = await read(url, '{"data":"long"}')
      const seconds = (performance.now() - begin) / 1000
      if (bytes !== whole || end !== '"}') throw new Error(`${bytes} bytes came, not ${whole}`)
      const added = (await peakResident(pid)) - before
      const counters = [
        `${(added / MiB).toFixed(1)} MiB`,
        `${(size / MiB / seconds).toFixed(0)} MiB/s`,
        `${((cpuOf(pid) - cpu) / 1e6).toFixed(2)} s`,
      ]
      console.log(`| ${round} | ${counters.join(' | ')} |`)
    }
  } finally {
    await processes.stop()
  }
}

const role = process.env['LONG_REPLY_MIB']
if (role !== undefined) serveLong((Number(role) * MiB) / BLOCK.length)
else await measure(Number(process.argv[2] ?? 1024) * MiB)
