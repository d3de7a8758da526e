/** The tab of the run's effects. */
export function EffectsTab() {
  return null;
}
