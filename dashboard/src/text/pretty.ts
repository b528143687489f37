/** JSON as it is read best, character by character: parsing it would round numbers of more than 16 digits. */
export function pretty(json: string): string {
  let [text, depth] = ['', 0]
  const line = (): string => `\n${'  '.repeat(depth)}`
  const tokens = json.match(/"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s"[\]{}:,]+/g) ?? []
  for (const [i, token] of tokens.entries()) {
    const next = tokens[i + 1]
    if (token === '{' || token === '[') {
      depth += 1
      text += next === '}' || next === ']' ? token : token + line()
    } else if (token === '}' || token === ']') {
      depth = Math.max(0, depth - 1)
      const before = tokens[i - 1]
      text += before === '{' || before === '[' ? token : line() + token
    } else text += token === ',' ? `,${line()}` : token === ':' ? ': ' : token
  }
  return text
}
