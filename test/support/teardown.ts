/** The part of a tap test that the helpers need: what they start is ended with the test. */
export interface Teardown {
  teardown(handler: () => unknown): unknown
}
