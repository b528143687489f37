import { Schema, isScalar } from 'yaml'

const TAGS = new Schema({ schema: 'core' }).tags

/** A plain scalar's text as YAML's core schema types it: a number, true, null or the text itself. */
export function retype(text: string): unknown {
  for (const tag of TAGS) {
    if (tag.default !== true || tag.collection !== undefined || tag.test?.test(text) !== true) continue
    const typed = tag.resolve(text, () => undefined, {})
    return isScalar(typed) ? typed.value : typed
  }
  return text
}
