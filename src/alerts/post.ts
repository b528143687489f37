/** Posts a message to a webhook. One that an account's owner has named leads to public addresses only: it must be no way into the operator's network. */
import { lookup } from 'node:dns'
import { request as requestPlain } from 'node:http'
import type { RequestOptions } from 'node:http'
import { request as requestTls } from 'node:https'
import type { LookupFunction } from 'node:net'
import { isPrivateHost, isPublicAddress } from '../net/public-address.ts'

/** Milliseconds that a webhook gets to answer. */
const PATIENCE = 10_000

/** What is posted. */
export interface Message {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Whether it may lead anywhere. */
  readonly isTrusted: boolean
  /** Ends it early. */
  readonly signal: AbortSignal
}

/** The status of the reply, whose body nobody reads. Rejects with one sentence that does not show the URL. */
export function post({ url, headers, body, isTrusted, signal }: Message): Promise<number> {
  const target = new URL(url)
  const { protocol } = target
  // An address is not looked up.
  if (!isTrusted && (protocol !== 'https:' || isPrivateHost(target)))
    return Promise.reject(new Error(PRIVATE))
  const options: RequestOptions = {
    method: 'POST',
    headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
    signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)]),
    agent: false,
    ...(isTrusted ? {} : { lookup: publicOnly }),
  }
  return new Promise((resolve, reject) => {
    const sent = (protocol === 'https:' ? requestTls : requestPlain)(url, options, response => {
      response.resume()
      response.destroy()
      resolve(response.statusCode ?? 0)
    })
    sent.on('error', error => {
      const { code, name, message } = error as NodeJS.ErrnoException
      reject(
        new Error(
          name === 'AbortError' || name === 'TimeoutError' ? 'no answer within 10 s' : (code ?? message),
        ),
      )
    })
    sent.end(body)
  })
}

const PRIVATE = 'the webhook of an account must be https and lead to a public address (alerts.allowPrivate)'

const publicOnly: LookupFunction = (hostname, options, answer) => {
  lookup(hostname, { ...options, all: true }, (error, found) => {
    if (error !== null) answer(error, '', 0)
    else if (!found.every(({ address }) => isPublicAddress(address))) answer(new Error(PRIVATE), '', 0)
    else if (options.all === true) answer(null, found)
    else answer(null, found[0]!.address, found[0]!.family)
  })
}
