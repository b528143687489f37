/** What the gateway answers itself, from the configuration. */
import { familyOf } from '../families/families.ts'
import { rawJson } from '../jsonrpc/raw.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import type { Network, Rule } from '../snapshot/types.ts'

/** The raw result of a rule's local answer while all is well. */
export function localResult(answer: NonNullable<Rule['answer']>, network: Network): Raw {
  switch (answer) {
    case 'health':
      return familyOf(network).well
    case 'chainId':
      return typeof network.chainId === 'number'
        ? `"0x${network.chainId.toString(16)}"`
        : rawJson(network.chainId)
    case 'networkId':
      return rawJson(String(network.chainId))
    case 'emptyList':
      return '[]'
    case 'false':
      return 'false'
    case 'true':
      return 'true'
    case 'zero':
      return '"0x0"'
  }
}
