import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { isDenied } from '../../src/config/denied.ts'

const catalogue = parse(readFileSync(new URL('catalogue.yaml', import.meta.url), 'utf8'))

t.test('no method of the catalogue is denied', t => {
  t.same(Object.keys(catalogue.methods).filter(isDenied), [])
  t.end()
})

t.test('what signs, reaches into the node or belongs to test nodes is', t => {
  const denied = `eth_sign eth_signTransaction eth_signTypedData_v4 eth_submitWork eth_submitHashrate eth_sendTransaction
    personal_sign personal_unlockAccount admin_peers admin_addPeer engine_newPayloadV3 miner_start debug_setHead
    debug_verbosity debug_writeMemProfile debug_traceBlockFromFile debug_traceChain debug_dbGet debug_stacks
    parity_setMode anvil_setBalance hardhat_reset evm_mine dev_addBalance les_x clique_propose eth_getWork`
  for (const method of denied.trim().split(/\s+/)) t.ok(isDenied(method), method)
  t.end()
})

t.test('near names are not', t => {
  for (const method of [
    'eth_simulateV1',
    'eth_sendRawTransaction',
    'debug_traceBlock',
    'debug_traceCall',
    'parity_x',
    'Eth_sign',
    'GET /admin_',
  ])
    t.notOk(isDenied(method), method)
  t.end()
})
