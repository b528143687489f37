/** Keys as they are shown before somebody asks for them. */
import type { Endpoint } from '../api/types.ts'

/** A key without its secret. */
export const mask = ({ keyHint }: Endpoint): string => `tg_${'•'.repeat(12)}${keyHint}`

/** A URL template with the masked key in it. */
export const maskUrl = (template: string, endpoint: Endpoint): string =>
  template.replace('<API_KEY>', mask(endpoint))
