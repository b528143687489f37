/** Where the value that starts at `at` ends, in text that is known to be valid JSON. */
function endOfValue(text: string, at: number): number {
  const first = text[at]
  if (first === '"') return endOfString(text, at)
  if (first !== '{' && first !== '[') {
    let end = at
    while (end < text.length && !',]} \t\r\n'.includes(text[end]!)) end++
    return end
  }
  let depth = 0
  for (let i = at; i < text.length; i++) {
    const char = text[i]!
    if (char === '"') i = endOfString(text, i) - 1
    else if (char === '{' || char === '[') depth++
    else if ((char === '}' || char === ']') && --depth === 0) return i + 1
  }
  throw new Error('the JSON does not close')
}

function endOfString(text: string, at: number): number {
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '"') return i + 1
  }
  throw new Error('the string does not close')
}

function skipSpace(text: string, at: number): number {
  while (' \t\r\n'.includes(text[at] ?? 'x')) at++
  return at
}

/** The members of a JSON object as raw slices of its text, in order; throws on what JSON.parse refuses. */
export function rawMembers(text: string): [name: string, raw: string][] {
  JSON.parse(text)
  const members: [string, string][] = []
  let at = skipSpace(text, 0)
  if (text[at] !== '{') throw new Error(`no JSON object: ${text.slice(0, 200)}`)
  at = skipSpace(text, at + 1)
  while (text[at] !== '}') {
    const nameEnd = endOfString(text, at)
    const name = JSON.parse(text.slice(at, nameEnd)) as string
    at = skipSpace(text, skipSpace(text, nameEnd) + 1)
    const end = endOfValue(text, at)
    members.push([name, text.slice(at, end)])
    at = skipSpace(text, end)
    if (text[at] === ',') at = skipSpace(text, at + 1)
  }
  return members
}

/** One member of a JSON object as a raw slice of its text; undefined when it is not there. */
export function rawMember(text: string, name: string): string | undefined {
  return rawMembers(text).find(([found]) => found === name)?.[1]
}

/** The items of a JSON array as raw slices of its text; throws when the text is no JSON array. */
export function rawItems(text: string): string[] {
  JSON.parse(text)
  const items: string[] = []
  let at = skipSpace(text, 0)
  if (text[at] !== '[') throw new Error(`no JSON array: ${text.slice(0, 200)}`)
  at = skipSpace(text, at + 1)
  while (text[at] !== ']') {
    const end = endOfValue(text, at)
    items.push(text.slice(at, end))
    at = skipSpace(text, end)
    if (text[at] === ',') at = skipSpace(text, at + 1)
  }
  return items
}
