import type { Problem } from './problem.ts'

/** Why the gateway does not start: the YAML has problems. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[]

  /** `advice` is what may help besides mending them. */
  constructor(problems: readonly Problem[], advice = '') {
    const count = problems.filter(problem => problem.severity === 'error').length
    const found = count === 1 ? 'the configuration has a problem' : `the configuration has ${count} problems`
    super(`${found}${advice}`)
    this.problems = problems
  }
}
