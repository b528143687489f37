/** What a row of methods.yaml says of the results of its calls. */
export interface RuleResult {
  /** Where the result shows the number of its block, as a path. */
  readonly shows?: string
  /** Where it repeats the hash that the call names, as a path; `none` compares nothing of a result with its call. */
  readonly is?: string
  /** Whether null from a route that is behind may be its lag. */
  readonly nullIsLag?: boolean
}
