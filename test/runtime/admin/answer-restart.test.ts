import t from 'tap'
import { answerRestart } from '../../../src/runtime/admin/admin-routes.ts'

t.test('bug: a body that says something else started an ordinary restart', t => {
  const restarts: boolean[] = []
  const answer = (body: unknown) =>
    answerRestart(body, primary => {
      restarts.push(primary)
      return { status: 202, json: {} }
    })
  const refusals = [
    [{ primry: true }, 'unknown member "primry"; expected "primary"'],
    [{ primary: true, force: 1 }, 'unknown member "force"; expected "primary"'],
    [{ primary: 1 }, '"primary" must be true or false'],
    ...[[1], 'primary', true, 7].map(body => [body, 'the body must be an object'] as const),
  ] as const
  for (const [body, error] of refusals)
    t.strictSame(answer(body), { status: 400, json: { error } }, JSON.stringify(body))
  t.strictSame(restarts, [])
  for (const body of [null, {}, { primary: false }, { primary: true }]) t.match(answer(body), { status: 202 })
  t.strictSame(restarts, [false, false, false, true])
  t.end()
})
