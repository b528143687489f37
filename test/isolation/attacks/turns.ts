/** Single requests that once held the event loop for a third of a second and more. */
import { once } from 'node:events'
import type { Target } from '../harness/stage.ts'
import { drop, open, post } from './raw.ts'

const ROUNDS = 6
const LONGEST = 5 * 2 ** 20 - 1_000

/** A call whose first parameter is written as it stands. */
const withParam = (method: string, param: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"${method}","params":[${param}]}`
/** `item` again and again, to about so many characters. */
const list = (item: string, length = LONGEST) =>
  `[${`${item},`.repeat(Math.floor(length / (item.length + 1)))}${item}]`

/** Each kind: the network of the key, the body, and headers of its own. */
const kinds: Readonly<
  Record<string, readonly [path: keyof Target['paths'], body: string, headers?: string]>
> = {
  'blanks in Content-Type': ['public', '{}', `Content-Type: application/json${' '.repeat(15_900)}x\r\n`],
  'raw transaction': ['paid', withParam('eth_sendRawTransaction', `"0x02${'ab'.repeat(LONGEST / 2 - 100)}"`)],
  'blob transaction': [
    'paid',
    withParam('eth_sendRawTransaction', `"0x03fa${'ff'.repeat(LONGEST / 2 - 100)}"`),
  ],
  'list of ones': ['paid', withParam('eth_call', list('1'))],
  'list of empty lists': ['paid', withParam('eth_call', list('[]'))],
  'object of tiny members': ['paid', withParam('eth_call', `{${list('"a":1').slice(1, -1)}}`)],
  'escapes in a string': ['paid', withParam('web3_sha3', `"${'\\u0041'.repeat(LONGEST / 6 - 100)}"`)],
  blanks: ['paid', withParam('eth_getBalance', list(' 1'))],
  'batch of ones': ['paid', list('1')],
  'batch of empty objects': ['paid', list('{}')],
  'transaction in base58': ['solanaPaid', withParam('sendTransaction', `"${'z'.repeat(4_096)}"`)],
  'transaction in base64': [
    'solanaPaid',
    `{"jsonrpc":"2.0","id":1,"method":"sendTransaction","params":["${'A'.repeat(LONGEST - 1_000)}",{"encoding":"base64"}]}`,
  ],
}

export const names = Object.keys(kinds)

/** Sends a request of this kind a few times, one after the other; gives the statuses of the replies. */
export async function turn({ port, paths }: Target, { kind }: { kind: string }): Promise<number[]> {
  const [path, body, headers] = kinds[kind]!
  const statuses: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const socket = await open(port)
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
    const written = post(paths[path], body, 'Connection: close\r\n')
    socket.write(
      headers === undefined ? written : written.replace('Content-Type: application/json\r\n', headers),
    )
    await once(socket, 'close')
    statuses.push(Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]))
    await drop([socket])
  }
  return statuses
}
