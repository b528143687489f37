import type { HttpReply } from './http.ts'

/** Splits what came over one connection into whole replies; throws when there is anything else between or behind them. */
export function repliesIn(text: string): HttpReply[] {
  const replies: HttpReply[] = []
  let rest = text
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n')
    const [start = '', ...lines] = rest.slice(0, Math.max(0, end)).split('\r\n')
    const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(start) ?? []
    if (status === undefined) throw new Error(`this is no reply: ${rest}`)
    const headers = Object.fromEntries(
      lines.map(line => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
      }),
    )
    const length = Number(headers['content-length'] ?? 0)
    const body = rest.slice(end + 4, end + 4 + length)
    if (body.length !== length) throw new Error(`the reply was cut off: ${rest}`)
    replies.push({ status: Number(status), headers, text: body })
    rest = rest.slice(end + 4 + length)
  }
  return replies
}
