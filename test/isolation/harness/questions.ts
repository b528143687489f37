import type { Life } from './bystander.ts'

/** One call of the bystander. */
export interface Question {
  readonly kind: 'evm' | 'solana'
  readonly method: string
  readonly path: string
  readonly body: string
  /** The route that answered, where the reply is the right answer to this very call. */
  routeOf(reply: any): string | undefined
}

/** An answer of a scripted node names the node and says the question back. */
function routeIn(text: unknown, asked: string): string | undefined {
  if (typeof text !== 'string') return undefined
  const [route, said] = text.split('|')
  return said === asked ? route : undefined
}

function evm({ path }: Life, n: number, method: string, params: readonly unknown[]): Question {
  return {
    kind: 'evm',
    method,
    path,
    body: JSON.stringify({ jsonrpc: '2.0', id: n, method, params }),
    routeOf: reply => (reply.id === n ? routeIn(reply.result, String(params[0])) : undefined),
  }
}

const addressOf = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

function solana({ solanaPath: path }: Life, n: number): Question {
  const address = `So1${String(n).replace(/\d/g, digit => BASE58[Number(digit)]!)}`.padEnd(43, 'A')
  return {
    kind: 'solana',
    method: 'getBalance',
    path,
    body: JSON.stringify({ jsonrpc: '2.0', id: n, method: 'getBalance', params: [address] }),
    routeOf: reply => (reply.id === n ? routeIn(reply.result?.value, address) : undefined),
  }
}

/** What the bystander asks in turn: something without a block, state at the head, state a few blocks back, and Solana. */
export const questions: readonly ((life: Life, n: number) => Question)[] = [
  (life, n) => evm(life, n, 'web3_sha3', [`0x${n.toString(16).padStart(8, '0')}`]),
  (life, n) => evm(life, n, 'eth_getBalance', [addressOf(n), 'latest']),
  (life, n) => evm(life, n, 'eth_getBalance', [addressOf(n), life.recentBlock]),
  (life, n) => solana(life, n),
]
