/** Most endpoints that one account may have, inactive ones included, deleted ones not (spec, "Limits"). */
export const ENDPOINT_LIMIT = 100
