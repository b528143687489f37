/** A page by its address, and what it shows when it is ready. */
export type PageShown = readonly [path: string, ready: string]

/** Every page of an account of a hundred endpoints, as it is opened. */
export const PAGES = (endpointId: string): readonly PageShown[] => [
  ['overview', 'text=Why calls were refused'],
  ['endpoints', 'text=1–50 of 100'],
  [`endpoints/${endpointId}`, 'text=against the 24 hours before'],
  ['usage', 'text=1–20 of 100'],
  ['methods', 'text=1–50 of'],
  ['networks', 'text=Beta Chain'],
  ['settings', 'text=Endpoint created'],
]

/** The page of usage over as much time as it shows. */
export const LONG_SPANS: readonly PageShown[] = [
  ['usage?range=7d&by=hour&compare=before', 'text=1–20 of 100'],
  ['usage?range=30d&by=hour', 'text=1–20 of 100'],
  ['usage?range=30d&compare=before', 'text=1–20 of 100'],
  ['usage?range=last-month&compare=before', 'text=1–20 of 100'],
  ['usage?range=90d', 'text=1–20 of 100'],
  ['usage?range=90d&compare=before', 'text=1–20 of 100'],
  ['usage?range=90d&split=method&show=latency', 'text=eth_getBlockReceipts'],
  ['usage?range=90d&split=reason', 'text=Too many request units a second'],
]
