/** Time after which parts of the page do not wait any longer for one above them. A cold start of the API takes less. */
export const PATIENCE_MS = 5_000;
