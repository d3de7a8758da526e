/** Longest time that parts of the page wait for one above them. Most parts arrive within a tenth of it. */
export const PATIENCE_MS = 2_500;
