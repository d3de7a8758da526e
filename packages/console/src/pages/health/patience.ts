/** Time after which parts of the page do not wait any longer for one above them. Most come within a tenth of it. */
export const PATIENCE_MS = 2_500;
