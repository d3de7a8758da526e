/** The clock of this device, read in one place: it may be wrong, and what is told by it is set right by `reach.ts`. */

/** Epoch ms. */
export function deviceNow(): number {
  return Date.now();
}
