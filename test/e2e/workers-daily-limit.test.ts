/** The limit of an endpoint's day is as exact over several workers. */
process.env['WORKERS'] = '3'
await import('./daily-limit.test.ts')
