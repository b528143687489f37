import type { ScriptedNode } from './scripted-node.ts'
import { reply, type Handler } from './node-replies.ts'

/** The first block's hash on Bitcoin's main chain. */
export const GENESIS = '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f'

/** The methods.yaml of a few of Bitcoin Core's methods. */
export const bitcoinMethods = `families:
  jsonrpc:
    getblockcount: { params: [0, 0], retry: safe }
    getblockhash: { params: [1, 1], retry: safe }
    getblock: { params: [1, 2], retry: safe, cost: 2 }
    getrawtransaction: { params: [1, 3], retry: safe }
    estimatesmartfee: { retry: safe }
    getindexinfo: { retry: safe }
    sendrawtransaction: { params: [1, 2] }
`

/** A result as JSON-RPC 1.0 says it. */
export function result1(raw: string): Handler {
  return reply(200, id => `{"result":${raw},"error":null,"id":${id}}\n`)
}

/** An error as Bitcoin Core says it to JSON-RPC 1.0: under an HTTP status of its own, 500 for most. */
export function error1(code: number, message: string, status = 500): Handler {
  return reply(status, id => `{"result":null,"error":{"code":${code},"message":"${message}"},"id":${id}}\n`)
}

/** Answers those only who know the password, as `rpcuser` and `rpcpassword` have it. */
export function withPassword(user: string, password: string, then: Handler): Handler {
  const expected = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  return (request, response) =>
    request.headers.authorization === expected
      ? then(request, response)
      : reply(401, '', { 'www-authenticate': 'Basic realm="jsonrpc"' })(request, response)
}

/** Makes a scripted node speak of its chain as Bitcoin Core does. */
export function likeBitcoind(node: ScriptedNode, height: number, genesis = GENESIS): ScriptedNode {
  return node
    .on('getblockcount', result1(String(height)))
    .on('getblockhash', result1(`"${genesis}"`))
    .otherwise(error1(-32601, 'Method not found', 404))
}
