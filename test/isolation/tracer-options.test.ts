import t from 'tap'
import { milliseconds } from '../../src/call/tracer.ts'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { echo } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'

/** Seen: a call could keep a node tracing for hours behind its own deadline, or have it execute any number of blocks again. */

const node = (await startNode(t, { chainId: 1001, head: 0x100000 })).otherwise(echo)
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, capabilities: ['archive', 'trace', 'debug'] }],
  methods: `notification: { cost: 1 }
families:
  evm:
    debug_traceTransaction:
      { jsonParams: [1], tracers: [callTracer, muxTracer, prestateTracer], timeout: heavy, params: [1, 2] }
    debug_traceBlock: { jsonParams: [1], tracers: [callTracer], timeout: fast, params: [1, 2] }
`,
})
const access = await createAccess(gateway, 'paid', 'alpha')
const hash = `"0x${'ab'.repeat(32)}"`

const trace = async (options: string, method = 'debug_traceTransaction'): Promise<any> => {
  const body = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":[${hash},${options}]}`
  return JSON.parse((await access.post(body)).text)
}

t.test('timeout is at most that of the row, reexec at most 128', async t => {
  const sent = [
    '{"timeout":"10s"}',
    '{"timeout":"60s","reexec":128}',
    '{"timeout":"1m"}',
    '{"timeout":"0.5m30s"}',
    '{"timeout":"59999ms"}',
    '{"timeout":null,"reexec":null}',
    '{"reexec":0,"tracer":"callTracer","tracerConfig":{"onlyTopCall":true}}',
    '{"tracer":"muxTracer","tracerConfig":{"callTracer":{"timeout":"5s"}}}',
    '"{\\"timeout\\":\\"10s\\"}"',
  ]
  for (const options of sent) t.ok((await trace(options)).result, options)
  const before = node.calls.length
  const refused = [
    '{"timeout":"61s"}',
    '{"timeout":"1m1s"}',
    '{"timeout":"1h"}',
    '{"timeout":"1m30s"}',
    '{"timeout":"60000.1ms"}',
    '{"timeout":"87600h"}',
    '{"timeout":"99999999999999999999h"}',
    '{"timeout":"0"}',
    '{"timeout":"0s"}',
    '{"timeout":"-1s"}',
    '{"timeout":"10"}',
    '{"timeout":"10 s"}',
    '{"timeout":"1d"}',
    '{"timeout":""}',
    '{"timeout":10}',
    '{"timeout":["10s"]}',
    '{"Timeout":"10s"}',
    '{"TIMEOUT":"1h"}',
    '{"timeout":"1s","timeout":"1h"}',
    '{"t\\u0069meout":"1h"}',
    '{"time\\u006fut":"1s","Timeout":"1h"}',
    '{"reexec":129}',
    '{"reexec":18446744073709551615}',
    '{"reexec":1e9}',
    '{"reexec":-1}',
    '{"reexec":1.5}',
    '{"reexec":"0x1"}',
    '{"reexec":"5"}',
    '{"Reexec":1}',
    '{"reexec":1,"REEXEC":1000000}',
    '{"tracerConfig":{"timeout":"1h"}}',
    '{"tracerConfig":{"reexec":1000}}',
    '{"tracerConfig":{"Reexec":1}}',
    '{"TracerConfig":{"reexec":1}}',
    '{"tracer":"muxTracer","tracerConfig":{"callTracer":{"timeout":"1h"}}}',
    '{"tracer":"muxTracer","tracerConfig":{"muxTracer":{"callTracer":{"reexec":1000}}}}',
    '"{\\"timeout\\":\\"1h\\"}"',
    '"{\\"reexec\\":100000}"',
  ]
  for (const options of refused) {
    const { error } = await trace(options)
    t.equal(error?.data?.reason, 'invalid_params', options)
    t.type(error?.data?.why, 'string')
  }
  t.equal(node.calls.length, before, 'nothing reached the node')
})

t.test('the refusal says what is allowed, by the row', async t => {
  t.match((await trace('{"timeout":"1h"}')).error.data, { why: /timeout .* at most 60s/, timeout: '60s' })
  t.match((await trace('{"timeout":"6s"}', 'debug_traceBlock')).error.data, { timeout: '5s' })
  t.ok((await trace('{"timeout":"5s"}', 'debug_traceBlock')).result)
  t.match((await trace('{"reexec":129}')).error.data, { why: /from 0 to 128/, reexec: 128 })
})

t.test('durations are read as Go reads them', t => {
  const cases: [string, number | null][] = [
    ['1h2m3.5s', 3_723_500],
    ['.5s', 500],
    ['1.s', 1000],
    ['+5ms', 5],
    ['-5ms', -5],
    ['100us', 0.1],
    ['100\u00b5s', 0.1],
    ['100\u03bcs', 0.1],
    ['1ns', 1e-6],
    ['0', 0],
    ['-0', 0],
    ['.s', null],
    ['s', null],
    ['1', null],
    ['1S', null],
    ['1e3s', null],
    ['1s ', null],
    ['--1s', null],
    ['', null],
  ]
  for (const [text, ms] of cases) {
    const read = milliseconds(text)
    t.ok(ms === null ? read === null : read !== null && Math.abs(read - ms) < 1e-9, `${text}: ${read}`)
  }
  t.end()
})
