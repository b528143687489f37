/** examples/solana/methods.yaml as it follows from config/methods.yaml: the rows of Solana, and the shapes that they use. */
export function solanaMethods(shipped: string): string {
  const head = [
    '# yaml-language-server: $schema=../../schema/methods.schema.json',
    '#',
    '# The Solana rows of config/methods.yaml, where the keys of a row are told; a test holds the two together. To renew it:',
    '#   WRITE_SOLANA=1 npx tap test/config/solana-example.test.ts',
    '',
    '# Rows merge these in with <<.',
    'x-shapes:',
  ]
  const rows = /^ {2}solana:\n(?:(?: {4}.*)?\n)+/m.exec(shipped)![0].trimEnd()
  const notification = /^# Each delivered.*\nnotification: .*\n/m.exec(shipped)![0]
  return [...head, ...shapesFor(rows, shipped), '', notification, 'families:', rows, ''].join('\n')
}

/** The lines of the shapes that the rows merge in, and of those that these do, with the comments before them. */
function shapesFor(rows: string, shipped: string): string[] {
  const block = /^x-shapes:\n((?: {2}.*\n)+)/m.exec(shipped)![1]!
  const shapes = [...block.matchAll(/(?: {2}#.*\n)*(?: {2}\w+: &(\w+) .*\n)/g)]
  const kept: string[] = []
  let used = rows
  for (const [text, name] of shapes.toReversed())
    if (used.includes(`*${name!},`) || used.includes(`*${name!} `) || used.includes(`*${name!}\n`)) {
      kept.unshift(text.trimEnd())
      used += text
    }
  return kept
}
