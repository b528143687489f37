/** Bytes of an options, config or block object, or of JSON in a string, that is looked into: who sends more wants to keep us busy. */
export const MAX_READ = 64 * 1024
