/** The five files of a configuration directory. */
export const FILES = ['networks.yaml', 'routes.yaml', 'methods.yaml', 'plans.yaml', 'gateway.yaml'] as const

/** The name of one of them, which is how problems call it. */
export type FileName = (typeof FILES)[number]

/** Whether a directory may do without the file: every key of gateway.yaml has a default. */
export function isOptional(file: FileName): boolean {
  return file === 'gateway.yaml'
}
