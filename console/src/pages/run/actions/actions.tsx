/** What whoever looks may do with the run. */
export function RunActions() {
  return null;
}
