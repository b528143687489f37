/** What is known of the files of usage before they are opened. */

/** Bytes of a journal.db that is read as a whole before anything is written to it: a fraction of a second. A larger one is checked later (late-check.ts). */
export const CHECKED_AT_ONCE = 64 * 1024 * 1024

/** The file whose lock one `serve` holds. */
export const LOCK_NAME = 'serve.lock'
