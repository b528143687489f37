/** One real call with an endpoint's key, on the path that every host of the gateway has. */

/** A method that every network of the family has. */
export const FIRST = {
  evm: 'eth_blockNumber',
  solana: 'getSlot',
  jsonrpc: 'service_supportedNetworks',
} as const

/** What came of a call. */
export interface Tried {
  readonly body: string
  readonly status: number
  readonly ms: number
  readonly reply: string
  /** Characters of the reply that are too many to show. */
  readonly cut: number
}

const SHOWN = 20_000

/** The request body; throws when the params are no JSON. */
export function bodyOf(method: string, params: string): string {
  const text = params.trim() === '' ? '[]' : params
  try {
    JSON.parse(text)
  } catch {
    throw new Error('The params are no valid JSON. Try [] or ["0x1b4", true].')
  }
  // The params go out as they were written: a number of 20 digits stays what it is.
  return `{"jsonrpc":"2.0","id":1,"method":${JSON.stringify(method.trim())},"params":${text}}`
}

/** Sends it and waits for the reply. */
export async function tryCall(slug: string, apiKey: string, body: string): Promise<Tried> {
  const begin = performance.now()
  const reply = await fetch(`/${slug}/v1/rpc/${apiKey}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    credentials: 'omit',
  })
  const text = await reply.text()
  const ms = Math.round(performance.now() - begin)
  return {
    body,
    status: reply.status,
    ms,
    reply: text.slice(0, SHOWN),
    cut: Math.max(0, text.length - SHOWN),
  }
}
