/** examples/devnet/methods.yaml as it follows from config/methods.yaml: the same rows, none of them bound to a network. */
export function devnetMethods(shipped: string): string {
  const head = [
    '# yaml-language-server: $schema=../../schema/methods.schema.json',
    '#',
    '# A copy of config/methods.yaml that names no network; a test holds the two together. To renew it:',
    '#   WRITE_DEVNET=1 npx tap test/config/devnet.test.ts',
  ]
  const lists = /(?<=^x-networks:\n)(?: {2}.*\n)+/m
  return shipped.replace(/^.*/, head.join('\n')).replace(lists, block => block.replace(/\[.*\]/g, '[]'))
}
