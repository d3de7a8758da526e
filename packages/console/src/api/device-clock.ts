/** The clock of this device, read in one place: it may be wrong; `reach.ts` corrects it. */

/** Epoch ms. */
export function deviceNow(): number {
  return Date.now();
}
