import { readFileSync } from 'node:fs'
import t from 'tap'
import { refusalTable } from '../src/refusal/table.ts'
import { snapshotOf } from './support/snapshot.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

t.test("the README's table of refusals is the code's", t => {
  const rows = [
    ...readme.matchAll(
      /^\| ([a-z_]+)(?: \([^)]*\))? +\| (\d+) +\| (-?\d+) +\| (-?\d+) +\| (\d+|–) +\| (yes|no) +\|$/gm,
    ),
  ]
  const told = rows.map(([, reason, status, evm, solana, http, billed]) => [
    reason,
    {
      status: Number(status),
      evm: Number(evm),
      solana: Number(solana),
      http: http === '–' ? null : Number(http),
      billed: billed === 'yes',
    },
  ])
  const table = Object.entries(refusalTable).map(([reason, { status, evm, solana, http, billed }]) => [
    reason,
    { status, evm, solana, http, billed },
  ])
  t.strictSame(Object.fromEntries(told), Object.fromEntries(table))
  t.equal(told.length, table.length)
  t.end()
})

t.test("the README's table of node errors has every class, and its example is valid", async t => {
  const section = /\n## Node errors\n.*?\n## /s.exec(readme)?.[0] ?? ''
  const told = [...section.matchAll(/^\| `([a-z_]+)`/gm)].map(([, name]) => name)
  const schema = readFileSync(new URL('../schema/routes.schema.json', import.meta.url), 'utf8')
  const { definitions } = JSON.parse(schema) as {
    definitions: { errorRow: { properties: { class: { enum: string[] } } } }
  }
  t.strictSame(told, definitions.errorRow.properties.class.enum)
  const example = /```yaml\n(.*?)```/s.exec(section)?.[1] ?? ''
  const routes = example
    .replace('${ETHEREUM_A_URL}', 'http://127.0.0.1:1')
    .replace('network: ethereum', 'network: eth')
  const methods = 'families: { evm: { eth_call: {}, debug_traceCall: {} } }\n'
  const snapshot = await snapshotOf(t, { routes, methods })
  t.equal(snapshot.networks['eth']!.routes[0]!.errors.length, 3)
})

t.test('every command of the README exists, and every script it runs', t => {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    scripts: Record<string, string>
  }
  const scripts = [...readme.matchAll(/npm run (\w+)/g)].map(([, name]) => name)
  t.ok(scripts.length > 0)
  for (const name of scripts) t.ok(manifest.scripts[name!], String(name))
  const program = readFileSync(new URL('../src/commands/program.ts', import.meta.url), 'utf8')
  const section = /\n## Command line\n.*?\n## /s.exec(readme)?.[0] ?? ''
  const firstCells = section.split('\n').flatMap(line => line.split(/(?<!\\)\|/)[1] ?? [])
  const commands = firstCells.flatMap(cell => [...cell.matchAll(/`([a-z-]+)/g)].map(([, name]) => name!))
  const ours = [...program.matchAll(/^ {2}'?([a-z-]+)'?: \{$/gm)].map(([, name]) => name!)
  t.ok(ours.length >= 8, ours.join())
  t.strictSame(commands.sort(), ours.sort(), 'the table has all of them')
  t.end()
})
