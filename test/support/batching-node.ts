import type { ServerResponse } from 'node:http'
import { result, type Handler } from './node-replies.ts'
import { rawItems, rawMember } from './raw-json.ts'
import type { NodeRequest, ScriptedNode } from './scripted-node.ts'

/** The calls of a body that holds an array, each as if it had come by itself. */
export function callsIn(request: NodeRequest): NodeRequest[] {
  return rawItems(request.text).map(text => ({
    ...request,
    text,
    method: JSON.parse(rawMember(text, 'method') ?? 'null') as string,
    id: rawMember(text, 'id') ?? 'null',
    params: rawMember(text, 'params') ?? '',
  }))
}

/** What the node's script answers to one call, as text. */
async function answerTo(node: ScriptedNode, call: NodeRequest): Promise<string> {
  let body = ''
  const response = {
    writeHead: () => undefined,
    end: (text: string) => (body = text),
  } as unknown as ServerResponse
  await node.answer(call, response)
  return body
}

/** The bodies of several calls that arrived. */
export function bodiesAt(node: ScriptedNode): NodeRequest[] {
  return node.requests.filter(({ text }) => text.startsWith('['))
}

/**
 * Has a node take bodies of several calls, each call of which is answered by its method's script. `shape` makes a reply of the answers, which are
 * in the order of the calls.
 */
export function takeBodies(
  node: ScriptedNode,
  shape: (answers: readonly string[]) => string = answers => `[${answers.join(',')}]`,
): void {
  node.otherwise(async (request, response) => {
    if (!request.text.startsWith('[')) return result('"ok"')(request, response)
    const answers = await Promise.all(callsIn(request).map(call => answerTo(node, call)))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(shape(answers))
  })
}

/** Has a node answer bodies of several calls by a handler of their own. */
export function answerBodies(node: ScriptedNode, handler: Handler): void {
  node.otherwise((request, response) =>
    (request.text.startsWith('[') ? handler : result('"ok"'))(request, response),
  )
}
