import { wordsOf } from '../families.ts'
import type { Finding } from '../finding.ts'
import type { Path } from '../yaml/path.ts'
import { show } from '../words/show.ts'
import type { Partly, RawConfig, RawErrorRow } from '../raw-config.ts'
import { lacksFamily, mayLack } from './gaps.ts'
import { isKnown, methodsByNetwork, type KnownMethods } from './known-methods.ts'
import type { Row } from './rows.ts'

type SomeErrorRow = Partly<RawErrorRow> | undefined

/** The methods that a list of rows may name, network by network; null where some of them cannot be read. */
interface Vocabulary {
  readonly of: string
  readonly known: readonly KnownMethods[] | null
}

/** What the rows of `errors` get wrong: those of all routes, and those of each route. */
export function checkErrors(written: Partly<RawConfig>, rows: readonly Row[]): Finding[] {
  const { errors = [], routes = [] } = written.routes ?? {}
  if (errors.length === 0 && routes.every(route => route?.errors === undefined)) return []
  const methodsOf =
    lacksFamily(written) || mayLack(written, 'subscribe') ? () => null : methodsByNetwork(written, rows)
  const everywhere = {
    of: 'any network',
    known: whole(Object.keys(written.networks?.networks ?? {}).map(methodsOf)),
  }
  return [
    ...checkList(errors, ['errors'], everywhere),
    ...routes.flatMap((route, index) => {
      const network = route?.network
      const there = {
        of: network ?? '',
        known: whole([network === undefined ? null : methodsOf(network)]),
      }
      return checkList(route?.errors ?? [], ['routes', index, 'errors'], there)
    }),
  ]
}

function whole(known: readonly (KnownMethods | null)[]): readonly KnownMethods[] | null {
  const readable = known.filter(one => one !== null)
  return readable.length === known.length ? readable : null
}

function checkList(rows: readonly SomeErrorRow[], path: Path, vocabulary: Vocabulary): Finding[] {
  return rows.flatMap((row, index) => {
    if (row === undefined) return []
    const at = [...path, index]
    return [...checkMatch(row, at), ...checkReach(row, at), ...checkMethods(row, at, vocabulary)]
  })
}

/** A row that fits every error would turn honest answers into something else. */
function checkMatch(row: Partly<RawErrorRow>, path: Path): Finding[] {
  const { code, text } = row
  if (text !== undefined && /^[*\s]*$/.test(text) && text !== '')
    return [finding([...path, 'text'], `${show(text)} matches every message`, 'write part of the message')]
  // A key that was taken out because it is wrong may have been the one that is looked for.
  if (code !== undefined || text !== undefined || Object.values(row).includes(undefined)) return []
  return [finding(path, 'the row has neither "code" nor "text"', 'name the errors it is about')]
}

/** A row that never fits is one that its author believes in. */
function checkReach({ code, methods, family, class: means }: Partly<RawErrorRow>, path: Path): Finding[] {
  const findings: Finding[] = []
  if (methods?.length === 0)
    findings.push(finding([...path, 'methods'], 'the list is empty', 'leave "methods" out for every method'))
  const codes = code === undefined ? [] : [code].flat()
  // A row for every family is likely to be about EVM nodes, which are most.
  const outcomes: readonly (number | undefined)[] = wordsOf(family ?? 'evm').outcomes
  if (codes.length > 0 && codes.every(one => outcomes.includes(one)) && means !== 'answer')
    findings.push({
      ...finding([...path, 'code'], 'EVM nodes report a failed execution with it, which is always an answer'),
      severity: 'warning',
      kind: 'error-row-never-fits',
    })
  return findings
}

function checkMethods(row: Partly<RawErrorRow>, path: Path, { of, known }: Vocabulary): Finding[] {
  if (known === null) return []
  return (row.methods ?? []).flatMap((name, index) => {
    if (name === undefined || known.some(methods => isKnown(name, methods))) return []
    const hint = known.map(methods => methods.suggest(name)).find(found => found !== undefined)
    return [finding([...path, 'methods', index], `${show(name)} is not a method of ${of}`, hint)]
  })
}

function finding(path: Path, message: string, hint?: string): Finding {
  return { file: 'routes.yaml', path, at: 'value', message, hint }
}
