import type { Problem } from './problem.ts'

/** Why the gateway does not start: the YAML has problems. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    const count = problems.filter(problem => problem.severity === 'error').length
    super(count === 1 ? 'the configuration has a problem' : `the configuration has ${count} problems`)
    this.problems = problems
  }
}
