/** Every place that tells usage agrees over several workers too. */
process.env['WORKERS'] = '3'
await import('./usage-agreement.test.ts')
